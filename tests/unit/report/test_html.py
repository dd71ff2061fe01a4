"""The HTML report as text: what it holds, and that nothing in it can act."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from routing_action.corpus.baseline import Status
from routing_action.corpus.influences import Influence
from routing_action.errors import UsageError
from routing_action.gate.model import DeltaProof, DeltaSkill, Edit, FieldEdit
from routing_action.github.publication import RunLinks
from routing_action.report.differences import show_change
from routing_action.report.html.site import render_badge
from routing_action.report.html.write import STATIC_ROWS
from routing_action.results.past.trends import build_trends
from tests.support.html_page import RED, Page, render
from tests.support.report_values import (
    HOSTILE,
    make_delta,
    make_record,
    make_regression,
)
from tests.unit.results.test_trends import runs


def test_the_page_tells_verdict_reasons_baseline_and_run_without_any_script() -> None:
    """With scripts off a reader still learns what failed, against what, and where."""
    text = " ".join(" ".join(Page(render()).words).split())
    for expected in (
        "Skill routing of octo/demo, run 12", "Routing gate failed", "1 regression",
        "provider-baseline.json at aaaaaaaaaaaa of 2026-01-01T00:00:00Z, merge base of origin/main",
        "edited in this change", "bbbbbbbbbbbb", "2 runs, 1.5 s of agent time, 0.5000 USD reported",
        "What changed", "REGRESSION", "red on codex", "Prompt of red.",
        "wanted foo, got no skill; failed 1 of 1",
    ):  # fmt: skip
        assert expected in text


def test_the_page_names_no_other_file_and_no_address_but_links() -> None:
    """It opens from disk, alone, and asks nothing of any network."""
    page = Page(render())
    for tag, attributes in page.elements:
        assert tag not in {"img", "iframe", "object", "embed", "base", "form"}
        assert "src" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        if tag == "link":
            assert (attributes["href"] or "").startswith("data:")
        assert "style" not in attributes
    assert "@import" not in dict(page.raw)["style"]
    assert "url(" not in dict(page.raw)["style"]


def test_the_policy_lets_through_our_script_and_style_alone() -> None:
    """The hashes are of the very text of the page; nothing else runs."""
    page = Page(render())
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"
    for kind in ("script", "style"):
        (text,) = (text for name, text in page.raw if name == kind)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"


def test_the_script_sets_text_and_never_markup() -> None:
    """No way in which a script could turn text into elements is used."""
    (script,) = (text for name, text in Page(render()).raw if name == "script")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                "new Function", "DOMParser", "createContextualFragment", "fetch(",
                "XMLHttpRequest", "import("):  # fmt: skip
        assert way not in script


def test_the_table_for_readers_without_scripts_is_bounded() -> None:
    """A file with thousands of changes still opens."""
    rows = [make_regression(f"case-{n}") for n in range(STATIC_ROWS + 50)]
    page = Page(render(make_delta(*rows)))
    assert sum(tag == "tr" for tag, _ in page.elements) == STATIC_ROWS + 1
    assert f"The first {STATIC_ROWS} of {STATIC_ROWS + 50} rows that changed" in page.words


def test_what_failed_for_one_reason_stands_once_in_the_table_without_scripts() -> None:
    """Its cases are one click away; what broke stands alone above them."""
    lost = [
        make_regression(f"lost-{n}", got=Status.INFRA_ERROR, failure_kind="quota",
                        error=f"429 on request {n}", passed=0, measured=0)
        for n in range(60)
    ]  # fmt: skip
    page = Page(render(make_delta(*lost, make_regression())))
    assert sum(tag == "tr" for tag, _ in page.elements) == 3
    assert "and 59 more for the same cause" in page.words
    assert "lost-59 on codex" in page.words


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_element_and_ends_none(text: str) -> None:
    """Whatever ids, prompts, proofs and errors hold, the page has the elements of a plain one."""

    def built(value: str) -> Page:
        proof = DeltaProof(token=value, tier=3, source_detail=value, proof_line=value)
        row = make_regression(value, value, why=value, error=value, proofs=(proof,))
        skill = DeltaSkill(name=value, agents=(value,), description=value, path=value, before=value)
        edit = Edit(path="cases.json", influence=Influence.CASES, what="edited", name=value,
                    fields=(FieldEdit(field="prompt", before=value, after="x"),))  # fmt: skip
        delta = make_delta(
            row, notes=(value,), reasons=(value,), cases_file=value, skills=(skill,),
            edits=(edit,), prompts={value: value},
            baseline=RED.baseline.model_copy(update={"path": value, "how": value, "date": value}),
        )  # fmt: skip
        unit = make_record(case_id=value, agent=value, status="fail", error=value,
                           command=(value,), output_excerpt=value)  # fmt: skip
        kept = replace(unit, transcripts=(f"{value}/transcripts/{unit.row.unit_run_id}.stdout",))
        return Page(render(delta, kept, folder=Path("/reports")))

    shown = [*show_change(text, "x", 4000)]
    page = built(text)
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in built("plain").elements]
    assert page.data("pairs")[0][0] == text
    assert page.data("units")[0][-1]["error"] == text
    assert page.data("meta")["skills"] == [[text, [text], text, text, text]]
    assert page.data("meta")["case_edits"] == {text: ["edited", [["prompt", *shown]]]}
    assert page.data("prompts") == [[text, text]]
    assert page.data("index")["folders"][0]["path"] == f"{text}/transcripts"


def test_users_extend_the_page_by_block(tmp_path: Path) -> None:
    """A template of the same name replaces a block, and the policy follows its script."""
    (tmp_path / "report.html.j2").write_text(
        '{% extends "routing-action/report.html.j2" %}'
        "{% block after_results %}<p>{{ delta.cases_file }} of ours</p>{% endblock %}"
        "{% block script %}{{ super() }};void 0;{% endblock %}"
    )
    page = Page(render(overrides=tmp_path))
    assert "cases.json of ours" in page.words
    (script,) = (text for name, text in page.raw if name == "script")
    assert "void 0" in script
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in page.policy


@pytest.mark.parametrize(
    ("template", "cause"),
    [
        ("a\n{% block x %}", "report.html.j2:2: Unexpected end of template"),
        ("{{ nothing_of_that_name }}", "'nothing_of_that_name' is undefined"),
        ("{{ delta.model_dump() }}", "model_dump cannot be called here"),
        ("{{ ''.__class__ }}", "is unsafe"),
    ],
)
def test_a_template_that_cannot_be_used_is_named(template: str, cause: str, tmp_path: Path) -> None:
    """A user's mistake is reported with its file, and a template calls nothing of ours."""
    (tmp_path / "report.html.j2").write_text(template)
    with pytest.raises(UsageError) as caught:
        render(overrides=tmp_path)
    assert cause in str(caught.value)


def test_a_run_outside_a_workflow_has_no_links() -> None:
    """Where nothing is known of repository and run, commits are plain text."""
    page = Page(render(place=RunLinks()))
    assert [a["href"] for tag, a in page.elements if tag == "a"] == ["#main"]
    assert page.data("meta")["cases_url"] == ""


@pytest.mark.parametrize(
    ("past", "colour"), [("+" * 20, "brightgreen"), ("+-" * 9 + "++", "yellow")]
)
def test_the_badge_is_no_green_where_a_pair_passes_too_seldom(past: str, colour: str) -> None:
    """Though its last run passed."""
    assert json.loads(render_badge(build_trends(runs(past))))["color"] == colour
