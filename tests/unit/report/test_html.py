"""The HTML report as text: what it holds, and that nothing in it can act."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from routing_action.corpus.baseline import Status
from routing_action.errors import UsageError
from routing_action.gate.model import Delta, DeltaProof, DeltaSkill
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report import html
from routing_action.report.html import STATIC_ROWS, write_html
from routing_action.results.transcript_lines import TranscriptLine, UnitRecord
from tests.support.report_values import (
    HOSTILE,
    make_delta,
    make_entry,
    make_record,
    make_regression,
)
from tests.support.result_rows import make_hit

PLACE = RunLinks(server_url="https://github.test", repository="octo/demo", sha="c" * 40,
              run_id="7", run_number=12)  # fmt: skip
RED = make_delta(make_regression(), make_entry(), commit="b" * 40)


def render(
    delta: Delta = RED,
    *records: UnitRecord,
    place: RunLinks = PLACE,
    overrides: Path | None = None,
) -> str:
    out = StringIO()
    write_html(out, delta, records, place, overrides=overrides)
    return out.getvalue()


class _Page(HTMLParser):
    """The elements of a page, with the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.raw.append((dict(attrs).get("id") or tag, ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            name, text = self.raw[-1]
            self.raw[-1] = (name, text + data)
        else:
            self.words.append(data)

    def data(self, name: str) -> Any:  # noqa: ANN401 - JSON
        return json.loads(dict(self.raw)[f"data-{name}"])

    @property
    def policy(self) -> str:
        (found,) = (a["content"] for _, a in self.elements if "http-equiv" in a)
        return found or ""


def test_the_page_tells_verdict_reasons_baseline_and_run_without_any_script() -> None:
    """With scripts off a reader still learns what failed, against what, and where."""
    text = " ".join(" ".join(_Page(render()).words).split())
    for expected in (
        "Skill routing of octo/demo, run 12", "Routing gate failed", "1 regression",
        "provider-baseline.json at aaaaaaaaaaaa of 2026-01-01T00:00:00Z, merge base of origin/main",
        "edited in this change", "bbbbbbbbbbbb", "2 runs, 1.5 s of agent time, 0.5000 USD reported",
        "What changed", "REGRESSION", "expected pass, got fail (weak_evidence_only)",
    ):  # fmt: skip
        assert expected in text


def test_the_page_names_no_other_file_and_no_address_but_links() -> None:
    """It opens from disk, alone, and asks nothing of any network."""
    page = _Page(render())
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
    page = _Page(render())
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"
    for kind in ("script", "style"):
        (text,) = (text for name, text in page.raw if name == kind)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"


def test_the_script_sets_text_and_never_markup() -> None:
    """No way in which a script could turn text into elements is used."""
    (script,) = (text for name, text in _Page(render()).raw if name == "script")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                "new Function", "DOMParser", "createContextualFragment", "fetch(",
                "XMLHttpRequest", "import("):  # fmt: skip
        assert way not in script


def test_pairs_carry_their_detail_only_where_they_are_not_simply_as_expected() -> None:
    """30,000 passing pairs stay small; each other one explains itself."""
    proof = DeltaProof(token="foo", tier=3, source_detail="mention", proof_line="see foo")
    flaky = make_entry("flaky", flaky=True, trials=3, passed=2)
    better = make_entry("better", kind=DeltaKind.IMPROVEMENT, was=Status.FAIL)
    delta = make_delta(make_regression(proofs=(proof,)), make_entry(), flaky, better)
    red, plain, unsteady, improved = _Page(render(delta)).data("pairs")
    assert plain == ["one", "claude", "OK", 0, "pass", "pass", 3, 0, 0, 1, 1, None]
    assert red[:6] == ["red", "codex", "REGRESSION", 1, "pass", "fail"]
    assert red[12]["proofs"] == [["foo", 3, "mention", "see foo"]]
    assert red[12]["rerun"] == "routing-action run --agents codex --case-id red"
    assert "--accept-regression" in red[12]["accept"]
    assert unsteady[7] == 1
    assert "accept" not in unsteady[12]
    assert improved[12]["accept"].endswith("--cases better")


def test_units_carry_evidence_transcript_and_how_they_ran() -> None:
    """A unit's page has all that a maintainer needs, without results.json."""
    hits = {"foo": make_hit(3, 10, "mention at stdout line 4", "see foo"), "bar": None}
    record = make_record(
        2, [TranscriptLine(4, "see foo", True)], status="fail", token_hits=hits, error="no",
        exit_code=1, command=("claude", "-p"), cost_usd=0.25, output_excerpt="x" * 9000,
        missing_evidence=("foo", "bar"), category="red",
    )  # fmt: skip
    (line,) = _Page(render(RED, record)).data("units")
    assert line[1:14] == [
        "one", "claude", 1, "fail", "completed", None, 0, "red", 1500,
        "2026-01-02T03:00:00.000Z", "2026-01-02T03:00:01.500Z", 0.25, 1,
    ]  # fmt: skip
    assert line[14]["hits"] == [["foo", 3, 10, "mention at stdout line 4", "see foo"], ["bar"]]
    assert line[14]["lines"] == [[4, "see foo", True]]
    assert line[14]["command"] == ["claude", "-p"]
    assert len(line[14]["excerpt"]) == 4000


def test_details_of_passing_units_end_with_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures stay explained however many units pass before them."""
    monkeypatch.setattr(html, "PASSING_DETAIL_BYTES", 50)
    records = [make_record(n, trial=n, output_excerpt="x" * 60) for n in (1, 2)]
    failed = make_record(3, trial=3, status="fail", error="no")
    lines = _Page(render(RED, *records, failed)).data("units")
    assert [len(line) for line in lines] == [15, 14, 15]


def test_many_rows_come_in_pieces_and_in_order() -> None:
    """Rows past the first piece are neither lost nor repeated."""
    records = [make_record(n, trial=n) for n in range(1, 1203)]
    lines = _Page(render(RED, *records)).data("units")
    assert [line[3] for line in lines] == list(range(1, 1203))


@pytest.mark.parametrize(
    ("fields", "short"),
    [
        ({"missing_evidence": ("foo", "foo/SKILL.md")}, "wanted foo, got no skill"),
        ({"missing_evidence": ("foo/SKILL.md",)}, "wanted foo/SKILL.md, got no skill"),
        ({"missing_evidence": ("foo",), "loaded_skills": ("bar",)}, "wanted foo, got bar"),
        ({"disallowed_hits": ("bar",)}, "used bar, which is disallowed"),
        ({"missing_evidence": ("foo",), "timed_out": True}, None),
    ],
)
def test_a_row_says_in_a_line_what_came_instead(fields: dict[str, Any], short: str | None) -> None:
    """The list is read first; the drawer has the rest."""
    values: dict[str, Any] = {"missing_evidence": (), "loaded_skills": (), **fields}
    (line,) = _Page(render(make_delta(make_regression(**values)))).data("pairs")
    assert line[12].get("short") == short
    assert line[12]["fix"]


def test_the_table_for_readers_without_scripts_is_bounded() -> None:
    """A file with thousands of changes still opens."""
    rows = [make_regression(f"case-{n}") for n in range(STATIC_ROWS + 50)]
    page = _Page(render(make_delta(*rows)))
    assert sum(tag == "tr" for tag, _ in page.elements) == STATIC_ROWS + 1
    assert f"The first {STATIC_ROWS} of {STATIC_ROWS + 50} rows that changed" in page.words


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_element_and_ends_none(text: str) -> None:
    """Whatever ids, prompts, proofs and errors hold, the page has the elements of a plain one."""

    def built(value: str) -> _Page:
        proof = DeltaProof(token=value, tier=3, source_detail=value, proof_line=value)
        row = make_regression(value, value, why=value, error=value, proofs=(proof,))
        delta = make_delta(
            row, notes=(value,), reasons=(value,), cases_file=value, prompts={value: value},
            skills=(DeltaSkill(name=value, agents=(value,), description=value, path=value),),
            baseline=RED.baseline.model_copy(update={"path": value, "how": value, "date": value}),
        )  # fmt: skip
        unit = make_record(case_id=value, agent=value, status="fail", error=value,
                           command=(value,), output_excerpt=value)  # fmt: skip
        return _Page(render(delta, unit))

    page = built(text)
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in built("plain").elements]
    assert page.data("pairs")[0][0] == text
    assert page.data("units")[0][14]["error"] == text
    assert page.data("meta")["skills"] == [[text, [text], text]]


def test_data_holds_nothing_that_html_or_javascript_could_take_for_its_own() -> None:
    """All of `<`, `>`, `&` and the line separators are escaped in data."""
    raw = str(html.to_script(["".join(HOSTILE)]))
    assert not re.search("[<>&\u2028\u2029]", raw)
    assert json.loads(raw) == ["".join(HOSTILE)]


def test_lone_surrogates_and_huge_numbers_are_data_too() -> None:
    """What UTF-8 or 64 bits cannot hold stops no report."""
    assert json.loads(str(html.to_script(["\ud800<", 10**30]))) == ["\ud800<", 10**30]
    record = make_record(status="fail", error="\udfff", duration_ms=10**30)
    text = render(RED, record)
    text.encode()
    assert _Page(text).data("units")[0][14]["error"] == "\udfff"


def test_users_extend_the_page_by_block(tmp_path: Path) -> None:
    """A template of the same name replaces a block, and the policy follows its script."""
    (tmp_path / "report.html.j2").write_text(
        '{% extends "routing-action/report.html.j2" %}'
        "{% block after_results %}<p>{{ delta.cases_file }} of ours</p>{% endblock %}"
        "{% block script %}{{ super() }};void 0;{% endblock %}"
    )
    page = _Page(render(overrides=tmp_path))
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
    page = _Page(render(place=RunLinks()))
    assert [a["href"] for tag, a in page.elements if tag == "a"] == ["#main"]
    assert page.data("meta")["cases_url"] == ""
