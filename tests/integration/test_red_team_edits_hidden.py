"""Reports cannot be made to hide an edit, and name it by the words of the event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.pull_request import FILES, STEAL, STOLEN, PullRequest, comment_of

WRITING_FILE = ".claude/skills/writing-notes/SKILL.md"


HIDING: dict[str, Any] = {
    "the whole comment": {"comment.md.j2": "All is well.", "summary.md.j2": "All is well."},
    "a block": {
        "comment.md.j2": '{% extends "routing-action/comment.md.j2" %}'
        "{% block in_view %}{% endblock %}",
    },
    "a comment that never ends": {"body.md.j2": "<!-- ", "comment.md.j2": "<details>"},
    "our own template of edits": {"edits.md.j2": "nothing", "edits.html.j2": "nothing"},
    "the whole page": {"report.html.j2": "<html><body class='x'><p>All is well.</p></html>"},
}


@pytest.mark.parametrize("how", HIDING)
@pytest.mark.parametrize("are_at_base", [True, False])
def test_g7_a_template_cannot_hide_an_edit(
    change: PullRequest, how: str, *, are_at_base: bool
) -> None:
    """Neither one that was there before, nor one of the change, which is not used at all."""
    mine = {f"mine/{name}": text for name, text in HIDING[how].items()}
    if are_at_base:
        change = PullRequest(change.folder / "based", {**FILES, **mine})
    change.propose({**STEAL, **({} if are_at_base else mine)})
    comment = comment_of(change, templates="mine")
    head = comment.partition("All is well")[0].partition("<!--")[0]
    assert WRITING_FILE in head
    assert STOLEN[:30] in head
    if not are_at_base:
        assert next(iter(mine)) in comment
        assert "All is well." not in comment.splitlines()


def test_g7_templates_are_those_of_the_base_commit(change: PullRequest) -> None:
    """An edited template counts from the next change on."""
    change = PullRequest(change.folder / "t", {**FILES, "mine/comment.md.j2": "As it was."})
    change.propose({"mine/comment.md.j2": "As it is."})
    comment = comment_of(change, templates="mine")
    assert comment.endswith("As it was.\n")
    assert "As it is" in comment  # in view, as an edit
    posted = change.gate.stage("publish", templates="mine", dry_run="true", comment_mode="off")
    assert "As it is.\n" not in posted.stdout


@pytest.mark.slow
def test_g7_many_edits_are_counted_and_named(change: PullRequest) -> None:
    """What matters most stands first; the check, the page and delta.json hold all."""
    flood = {f".claude/skills/a{number:03}/x.md": f"{number}\n" * 50 for number in range(600)}
    change.propose({**STEAL, **flood})
    change.measure()
    found = change.judge()
    comment = found.text("comment.md")
    assert "601 skill files" in comment
    assert STOLEN[:30] in comment
    assert len(comment.encode()) <= 60_000
    assert len(found.delta["edits"]) == 601
    page = found.text("report.html")
    assert all(path in page for path in flood)


def lowered() -> dict[str, str | None]:
    """The baseline with one expectation less."""
    entries = json.loads(FILES["provider-baseline.json"] or "")
    entries["deploy"]["claude"]["expected_status"] = "fail"
    return {"provider-baseline.json": json.dumps(entries)}


@pytest.mark.parametrize("event_name", ["pull_request", "push", "workflow_dispatch", "schedule"])
def test_g12_a_lowered_baseline_is_named_by_the_words_of_the_event(
    change: PullRequest, event_name: str
) -> None:
    """A push has no pull request to speak of."""
    before = change.origin.git("rev-parse", "HEAD")
    change.propose({**STEAL, **lowered()})
    change.event_name = event_name
    change.event = {"before": before, "repository": {"default_branch": "main"}}
    found = change.check()
    assert found.is_red is (event_name != "push")
    summary = found.text("summary.md")
    assert "pull request" not in summary
    assert "expected_status: pass → fail" in summary
    assert "does not edit it" not in summary


@pytest.mark.parametrize(("branch", "is_red"), [("change", True), ("main", False)])
def test_g12_a_push_to_another_branch_is_held_to_its_merge_base(
    change: PullRequest, branch: str, is_red: bool
) -> None:
    """A second push to a branch of one's own has nothing before it but what one pushed."""
    change.propose({**STEAL, **lowered()})
    change.event_name = "push"
    change.event = {
        "before": change.head,
        "ref": f"refs/heads/{branch}",
        "repository": {"default_branch": "main"},
    }
    found = change.check()
    assert found.is_red is is_red
    assert ("expected_status: pass → fail" in found.text("summary.md")) is is_red


@pytest.mark.parametrize("before", ["0" * 40, "1" * 40, ""])
def test_g12_a_push_without_a_known_commit_before_it_is_judged(
    change: PullRequest, before: str
) -> None:
    """A new branch, or a forced push: what cannot be listed is said, or there is nothing to say."""
    change.propose(lowered())
    change.event_name = "push"
    change.event = {"before": before}
    found = change.check()
    assert not found.is_red
    said = "what this change edits is not known" in found.text("summary.md")
    assert said is bool(before)


@pytest.mark.parametrize(
    ("edit", "is_news"),
    [
        pytest.param({"README.md": "x"}, False, id="nothing of influence"),
        pytest.param({"CLAUDE.md": "Be kind."}, True, id="an instruction file"),
        pytest.param(
            {"cases.json": (FILES["cases.json"] or "").replace("tonight", "now")}, True, id="a case"
        ),
    ],
)
def test_g5_edits_are_news_for_comments_on_change(
    change: PullRequest, edit: dict[str, str | None], *, is_news: bool
) -> None:
    """A comment is posted though all pairs are as expected, and the check's title names them."""
    change.propose(edit)
    found = change.check()
    assert found.conclusion == "success"
    job = found.job
    job.variables = {**job.variables, "GITHUB_REPOSITORY": "octo/demo"}
    job.event = {"pull_request": {"number": 7, "head": {"sha": change.head}}}
    posted = job.stage("publish", comment_mode="on-change", dry_run="true", agents="claude")
    assert posted.code == 0, posted.stdout
    folder = Path(found.outputs["report-dir"]) / "dry-run"
    assert any("issues-7-comments" in file.name for file in folder.iterdir()) is is_news
    (check,) = folder.glob("*check-runs*")
    assert ("(edited: " in check.read_text("utf-8")) is is_news


def test_g7_a_name_that_is_no_text_is_listed(change: PullRequest) -> None:
    """Git takes a path of any bytes."""
    change.propose({"README.md": "x", ".claude/skills/deploying/\udcff.md": "x"})
    change.checkout.write({".claude/skills/\udcfe.md": "y"})
    comment = comment_of(change)
    assert "xff.md" in comment
    assert "xfe.md" in comment


def test_g7_files_that_options_name_are_known(change: PullRequest) -> None:
    """Agents and skills of other places than the usual ones."""
    named = {"my/agents.toml": "# mine", "my/catalogue/writing-notes/SKILL.md": FILES[WRITING_FILE]}
    change.propose(named)
    change.measure(skills="my/catalogue", extra_arguments="--config my/agents.toml")
    comment = change.judge().text("comment.md")
    assert "skills were staged from my/catalogue" in comment
    assert "agent description **added** in `my/agents.toml`" in comment
    assert "skill `catalogue`" in comment or "my/catalogue/writing-notes/SKILL.md" in comment


def test_g7_templates_that_a_step_put_there_are_not_used(change: PullRequest) -> None:
    """Only ours come from the base commit."""
    change.propose(STEAL)
    change.measure()
    place = change.gate.files / "temp/routing-action/report-aggregate-routing-templates"
    place.mkdir(parents=True)
    (place / "comment.md.j2").write_text("All is well.", encoding="utf-8")
    assert "All is well" not in change.judge().text("comment.md")
