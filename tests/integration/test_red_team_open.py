"""Known holes: attempts that still get past the gate. One that is closed fails here, and moves.

docs/explanation/gate.md, 'What it does not see yet', lists them for users.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.pull_request import CASES, FILES, STEAL, STOLEN, PullRequest, skill

pytestmark = pytest.mark.xfail(strict=True, reason="not seen yet; docs/explanation/gate.md")


@pytest.fixture
def change(tmp_path: Path) -> PullRequest:
    """A pull request that proposes nothing yet."""
    return PullRequest(tmp_path)


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"expected_skill": ""}, id="the requirement is dropped"),
        pytest.param({"expected_skill": "writing-notes"}, id="another skill is expected"),
        pytest.param(
            {"expected_skill": "", "optional_skills": ["deploying"]}, id="it becomes optional"
        ),
        pytest.param(
            {"provider_aliases": {"claude": {"writing-notes": "deploying"}}}, id="an alias"
        ),
    ],
)
def test_g5_an_edited_case_is_also_judged_as_it_was(
    change: PullRequest, edit: dict[str, object]
) -> None:
    """The prompt is the same, so the transcript proves what it proved before the edit."""
    cases = [{**CASES[0], **edit}, CASES[1]]
    change.propose({**STEAL, "cases.json": json.dumps(cases, indent=2)})
    found = change.check()
    assert found.is_red
    row = found.row("deploy")
    assert row["kind"] == "CASE EDITED"
    comment = found.text("comment.md")
    assert "CASE EDITED" in comment
    for name in edit:
        assert name in comment


def test_g5_another_prompt_is_news_above_what_is_ok(change: PullRequest) -> None:
    """It cannot be judged as it was; the reviewer sees both prompts."""
    cases = [{**CASES[0], "prompt": "Use the skill deploying to bring it to production"}, CASES[1]]
    change.propose({"cases.json": json.dumps(cases, indent=2)})
    found = change.check()
    assert found.row("deploy")["kind"] == "CASE EDITED"
    comment = found.text("comment.md")
    assert CASES[0]["prompt"] in comment
    assert "Use the skill deploying" in comment


def test_g7_an_agent_started_by_a_template_is_named(change: PullRequest) -> None:
    """A stand-in could answer in the agent's place."""
    change.propose({"README.md": "x"})
    comment = change.check().text("comment.md")
    assert "AGENT_CLAUDE_TEMPLATE" in comment


def test_g7_a_tree_with_edits_is_named(change: PullRequest) -> None:
    """An earlier step of the job may have changed what is measured."""
    change.propose({"README.md": "x"})
    change.checkout.write({".claude/skills/deploying/SKILL.md": skill("deploying", STOLEN)})
    comment = change.check().text("comment.md")
    assert "uncommitted" in comment
    assert ".claude/skills/deploying/SKILL.md" in comment


def test_g7_a_template_of_the_change_cannot_hide_an_edit(change: PullRequest) -> None:
    """The templates are those of the base commit, and that they were edited is said."""
    cases = [{**CASES[0], "expected_skill": ""}, CASES[1]]
    mine = {"mine/comment.md.j2": "All is well."}
    change.propose({**mine, "cases.json": json.dumps(cases, indent=2)})
    change.measure()
    comment = change.judge(templates="mine").text("comment.md")
    assert "CASE EDITED" in comment
    assert "mine/comment.md.j2" in comment


def test_g7_edited_agents_are_named(change: PullRequest) -> None:
    """routing.toml says how an agent's output is read."""
    change.propose({"routing.toml": "# nothing\n"})
    comment = change.check().text("comment.md")
    assert "routing.toml" in comment


def test_g12_a_push_that_lowers_the_baseline_says_so(tmp_path: Path) -> None:
    """There is no pull request to speak of."""
    change = PullRequest(tmp_path)
    lowered = json.loads(FILES["provider-baseline.json"] or "")
    lowered["deploy"]["claude"]["expected_status"] = "fail"
    before = change.origin.git("rev-parse", "HEAD")
    change.propose({**STEAL, "provider-baseline.json": json.dumps(lowered)})
    change.event_name = "push"
    change.event = {"before": before, "ref": "refs/heads/main"}
    comment = change.check().text("summary.md")
    assert "pull request" not in comment
    assert "expected `pass`" in comment or "pass → fail" in comment
