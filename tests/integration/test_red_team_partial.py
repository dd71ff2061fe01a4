"""A run that left cases or agents out says so, and is green only where these cannot have moved."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from routing_action.action.post import NO_NEWS, marker_for
from routing_action.gate.deltas import read_delta
from routing_action.github.publication import RunLinks
from tests.support.pull_request import CASES, FILES, STEAL, PullRequest, Verdict, skill

WRITING = ".claude/skills/writing-notes/SKILL.md"
OTHER = [{**CASES[0], "category": "one"}, {**CASES[1], "category": "two"}]
BOTH: dict[str, Any] = {
    case["case_id"]: {one: {"expected_status": "pass"} for one in ("claude", "codex")}
    for case in CASES
}


@pytest.fixture
def change(tmp_path: Path) -> PullRequest:
    """A pull request that proposes nothing yet."""
    return PullRequest(tmp_path, {**FILES, "cases.json": json.dumps(OTHER)})


def told(found: Verdict) -> str:
    """The verdict's line in the comment."""
    return " ".join(found.text("comment.md").splitlines()[:2])


def needs(change: PullRequest, **inputs: str) -> str:
    """The jobs before the gate, with a plan by what changed since the base branch."""
    given = {"agents": "claude", "changed_from": "origin/main", **inputs}
    planned = change.job("plan").use("plan", **given)
    outputs = {"matrix": planned["matrix"], "status": planned["status"]}
    measure = {"result": "success", "outputs": {}}
    return json.dumps({"plan": {"result": "success", "outputs": outputs}, "measure": measure})


@pytest.mark.parametrize(
    "narrowed",
    [
        pytest.param({"case_ids": "notes"}, id="case ids"),
        pytest.param({"categories": "two"}, id="categories"),
        pytest.param({"extra_arguments": "--case-id notes"}, id="further arguments"),
        pytest.param({"extra_arguments": "--category two"}, id="a category among them"),
        pytest.param({"extra_arguments": "--sample 1 --seed 1"}, id="a sample"),
    ],
)
@pytest.mark.parametrize("edit", [STEAL, {"README.md": "x"}], ids=["a steal", "no steal"])
def test_g8_a_narrowed_run_is_neutral_and_names_what_it_left_out(
    change: PullRequest, narrowed: dict[str, Any], edit: dict[str, str | None]
) -> None:
    """The inputs of the workflow leave the stolen case out."""
    change.propose(edit)
    change.measure(**narrowed)
    found = change.judge()
    measured = {row["case_id"] for row in found.delta["rows"]}
    (left,) = {"deploy", "notes"} - measured
    if "deploy" in measured and edit == STEAL:
        assert found.is_red
        return
    assert (found.conclusion, found.is_red) == ("neutral", False)
    assert found.outputs["status"] == "partial"
    assert "as expected where it was measured, partial: 1 of 2 cases measured**" in told(found)
    assert f"left out: {left}" in told(found)
    assert f"- `{left}` on `claude`" in found.text("comment.md")
    assert "credential" not in found.text("comment.md")
    assert found.delta["left_out"] == [{"case_id": left, "agent": "claude"}]


def test_g8_left_out_cases_stand_in_every_report(change: PullRequest) -> None:
    """HTML, JUnit as skipped, delta.json and summary."""
    change.propose(STEAL)
    change.measure(case_ids="notes")
    found = change.judge()
    assert "<li><bdi>deploy</bdi> on <bdi>claude</bdi></li>" in found.text("report.html")
    assert "- `deploy` on `claude`" in found.text("summary.md")
    suite = ET.fromstring(found.text("junit.xml")).find("testsuite[@name='claude']")  # noqa: S314
    assert suite is not None
    assert suite.get("skipped") == "1"
    assert suite.find("testcase[@name='deploy']/skipped") is not None


def test_g8_what_was_left_out_is_news(change: PullRequest) -> None:
    """A gate that comments on changes only comments on this one, though it is green."""
    change.propose({"cases.json": json.dumps([OTHER[0], {**OTHER[1], "category": "three"}])})
    asked = needs(change)
    change.measure(case_ids="notes")
    delta = read_delta(Path(change.judge(needs=asked).outputs["delta"]))
    assert delta.conclusion.value == "success"
    assert marker_for(delta, RunLinks()).news != NO_NEWS


def test_g8_a_red_partial_run_stays_red(change: PullRequest) -> None:
    """And its title says that it is partial."""
    change.propose(STEAL)
    change.measure(case_ids="deploy")
    found = change.judge()
    assert (found.conclusion, found.is_red) == ("failure", True)
    assert "**Routing gate failed, partial: 1 of 2 cases measured**" in told(found)


def test_g8_a_whole_run_says_nothing_of_parts(change: PullRequest) -> None:
    """All cases on all agents."""
    change.propose({"README.md": "x"})
    found = change.check()
    assert found.conclusion == "success"
    assert "**Routing is as expected**" in told(found)
    assert "partial" not in found.text("comment.md").lower()
    assert found.delta["left_out"] == []


def test_g8_a_case_without_any_entry_is_left_out_too(change: PullRequest) -> None:
    """It is new, and the run does not select it."""
    new = {"case_id": "new", "prompt": "x", "expected_skill": "deploying"}
    change.propose({"cases.json": json.dumps([*OTHER, new])})
    change.measure(case_ids="deploy,notes")
    found = change.judge()
    assert found.conclusion == "neutral"
    assert "left out: new" in told(found)


def test_g8_a_plan_by_what_changed_is_green_where_nothing_else_can_move(
    change: PullRequest,
) -> None:
    """The gate finds the same by its own look at the history."""
    change.propose({"cases.json": json.dumps([OTHER[0], {**OTHER[1], "category": "three"}])})
    asked = needs(change)
    change.measure(case_ids="notes")
    found = change.judge(needs=asked)
    assert (found.conclusion, found.outputs["status"]) == ("success", "passed")
    assert "**Routing is as expected, partial: 1 of 2 cases measured**" in told(found)
    assert "- `deploy` on `claude`" in found.text("comment.md")


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(STEAL, id="a description"),
        pytest.param({"CLAUDE.md": "x"}, id="instructions"),
        pytest.param({".claude/skills/new/SKILL.md": skill("new", "x")}, id="a new skill"),
        pytest.param(
            {"cases.json": json.dumps([{**OTHER[0], "prompt": "y"}, OTHER[1]])}, id="case"
        ),
    ],
)
def test_g8_a_plan_that_says_it_went_by_what_changed_is_not_believed(
    change: PullRequest, edit: dict[str, str | None]
) -> None:
    """An edited workflow can write any matrix; the gate names what can move the left-out case."""
    change.propose(edit)
    leg = {"key": "claude", "agent": "claude", "case_ids": "notes", "changed_from": "origin/main"}
    outputs = {"matrix": json.dumps({"include": [leg]}), "status": "passed"}
    change.measure(case_ids="notes")
    jobs = {"plan": {"result": "success", "outputs": outputs}}
    found = change.judge(needs=json.dumps(jobs))
    assert found.conclusion == "neutral"
    (path,) = edit
    assert f"left out: deploy, although {path}" in told(found).replace("`", "")


def test_g8_a_skills_body_needs_the_earlier_results_at_the_gate_too(change: PullRequest) -> None:
    """Without them nobody knows which cases load it."""
    change.propose({WRITING: f"{FILES[WRITING]}More.\n"})
    earlier = change.job("earlier").use("run", agents="claude", matrix_key="earlier")["folder"]
    asked = needs(change, durations=earlier)
    assert (
        json.loads(json.loads(asked)["plan"]["outputs"]["matrix"])["include"][0]["case_ids"]
        == "notes"
    )
    change.measure(case_ids="notes")
    assert change.judge(needs=asked, durations=earlier).conclusion == "success"


def test_g8_a_skills_body_without_earlier_results_is_neutral(change: PullRequest) -> None:
    """The gate holds that it can move every case."""
    change.propose({WRITING: f"{FILES[WRITING]}More.\n"})
    earlier = change.job("earlier").use("run", agents="claude", matrix_key="earlier")["folder"]
    asked = needs(change, durations=earlier)
    change.measure(case_ids="notes")
    assert change.judge(needs=asked).conclusion == "neutral"


def test_g8_a_run_by_hand_of_one_case_is_neutral(change: PullRequest) -> None:
    """It was chosen for once, and the rest is not known."""
    change.propose({"README.md": "x"})
    change.event_name = "workflow_dispatch"
    change.event = {"repository": {"default_branch": "main"}}
    change.measure(case_ids="notes")
    found = change.judge()
    assert (found.conclusion, found.is_red) == ("neutral", False)


def test_g8_a_run_by_hand_of_one_agent_is_neutral(tmp_path: Path) -> None:
    """The other agent is left out, by name."""
    change = PullRequest(tmp_path, {**FILES, "provider-baseline.json": json.dumps(BOTH)})
    change.propose({"README.md": "x"})
    change.event_name = "workflow_dispatch"
    change.event = {"repository": {"default_branch": "main"}}
    change.measure()
    found = change.judge()
    assert found.conclusion == "neutral"
    assert "partial: 1 of 2 agents measured**: left out: codex" in told(found)


@pytest.mark.parametrize(
    ("inputs", "jobs"),
    [
        pytest.param({"agents": ""}, {"measure": {"result": "success"}}, id="its leg is gone"),
        pytest.param({"agents": "claude"}, {"measure": {"result": "success"}}, id="fewer agents"),
        pytest.param({"agents": ""}, {"measure": {"result": "skipped"}}, id="a leg with if: false"),
        pytest.param(
            {"agents": "claude,codex"}, {"measure": {"result": "success"}}, id="no results of it"
        ),
        pytest.param(
            {"agents": ""},
            {
                "plan": {
                    "result": "success",
                    "outputs": {
                        "matrix": '{"include": [{"key": "claude", "agent": "claude", '
                        '"changed_from": "origin/main"}]}'
                    },
                }
            },
            id="a plan without it",
        ),
    ],
)
def test_g8_an_agent_of_the_base_that_nobody_measured_is_red(
    tmp_path: Path, inputs: dict[str, str], jobs: dict[str, Any]
) -> None:
    """However the workflow dropped it."""
    change = PullRequest(tmp_path, {**FILES, "provider-baseline.json": json.dumps(BOTH)})
    change.propose({"README.md": "x"})
    change.measure()
    found = change.judge(1, **inputs, needs=json.dumps(jobs))
    assert found.is_red
    assert "codex" in found.text("comment.md")


def test_g8_a_misspelt_key_is_a_lost_leg(change: PullRequest) -> None:
    """The plan asked for another one."""
    change.propose({"README.md": "x"})
    planned = change.job("plan").use("plan", agents="claude")
    change.measure("clade")
    jobs = {"plan": {"result": "success", "outputs": {"matrix": planned["matrix"]}}}
    found = change.judge(agents="", needs=json.dumps(jobs))
    assert found.is_red
    assert "no results of claude" in told(found)


def test_g8_a_leg_without_a_secret_is_not_merely_left_out(tmp_path: Path) -> None:
    """It says why it could not measure, and counts as its gate was told to."""
    change = PullRequest(tmp_path, {**FILES, "provider-baseline.json": json.dumps(BOTH)})
    change.propose({"README.md": "x"})
    change.measure()
    marker = change.gate.legs / "routing-results-codex-a1" / "not-measured.json"
    marker.parent.mkdir()
    marker.write_text(json.dumps({"agent": "codex", "reason": "no secret"}), encoding="utf-8")
    found = change.judge(agents="")
    assert found.is_red
    assert found.row("notes", "codex")["kind"] == "UNMEASURED"


@pytest.mark.parametrize(("agents", "is_red"), [("claude", False), ("", True)])
def test_g8_an_agent_that_the_change_takes_out_of_the_baseline_is_listed(
    tmp_path: Path, agents: str, is_red: bool
) -> None:
    """Where the gate names its agents it may go, in view; else nobody says that it may."""
    change = PullRequest(tmp_path, {**FILES, "provider-baseline.json": json.dumps(BOTH)})
    change.propose({"provider-baseline.json": FILES["provider-baseline.json"]})
    change.measure()
    found = change.judge(agents=agents)
    assert found.is_red is is_red
    assert "codex" in found.text("comment.md")
