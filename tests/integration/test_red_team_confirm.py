"""No leg, and no change, chooses how sure the gate must be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.pull_request import BASELINE, FILES, STEAL, PullRequest

LAX = {"confirm": "auto", "detect": 0.01, "false_alarm": 1e-9, "max_confirm": 1}
FLAKY = {"rate": 0.5, "until": "2999-12-31", "reason": "x"}


def rewrite(change: PullRequest, **options: object) -> None:
    """An artifact that says of itself that it was run by another test."""
    (file,) = change.gate.legs.rglob("results.json")
    found = json.loads(file.read_text("utf-8"))
    found["options"].update(options)
    file.write_text(json.dumps(found, indent=2), encoding="utf-8")


@pytest.fixture
def stolen(change: PullRequest) -> PullRequest:
    """One prompt goes to the wrong skill."""
    change.propose(STEAL)
    return change


def test_the_leg_and_the_gate_come_to_the_same(stolen: PullRequest) -> None:
    """A prompt that was stolen is red once that is proven, with its numbers."""
    stolen.measure(confirm="auto")
    found = stolen.judge(confirm="auto")
    row = found.row("deploy")
    assert (row["kind"], row["gates"], row["chance"]["finding"]) == ("REGRESSION", True, "worse")
    assert (row["trials"], found.row("notes")["trials"]) == (3, 1)
    said = "failed 3 of 3; before: not known, taken as 95%; an unchanged pair does this once in"
    for name in ("comment.md", "summary.md", "junit.xml", "report.html"):
        assert said in found.text(name), name


@pytest.mark.parametrize("inputs", [{}, {"confirm": "2"}, {"confirm": "auto"}])
def test_an_artifact_does_not_make_the_gate_laxer(
    stolen: PullRequest, inputs: dict[str, str]
) -> None:
    """It names settings by which nothing is ever proven, and one trial is all that it ran."""
    folder = stolen.gate.legs / "routing-results-claude-a1" / "batch"
    stolen.forge(folder, 1, deploy="fail", notes="pass")
    rewrite(stolen, **LAX)
    found = stolen.judge(1, **inputs)
    assert (found.row("deploy")["kind"], found.conclusion) == ("REGRESSION", "failure")
    assert any("claude: run --confirm auto --detect 0.01" in note for note in found.delta["notes"])


def test_a_change_that_calls_its_pair_flaky_is_judged_without_that(change: PullRequest) -> None:
    """The merge base's entry decides, and the edit is in view."""
    entry = {"expected_status": "pass", "flaky": FLAKY}
    baseline = {**BASELINE, "deploy": {"claude": entry}}
    change.propose({**STEAL, "provider-baseline.json": json.dumps(baseline, indent=2)})
    change.measure(confirm="auto")
    found = change.judge(confirm="auto")
    assert (found.row("deploy")["kind"], found.conclusion) == ("REGRESSION", "failure")
    (edit,) = (one for one in found.delta["edits"] if one["influence"] == "baseline")
    assert [one["field"] for one in edit["fields"]] == ["flaky"]
    assert "2999-12-31" in found.text("comment.md")


def test_a_known_flaky_pair_is_listed_until_its_date(tmp_path: Path) -> None:
    """After it the pair is red, and a change that renews the date can be merged."""
    entry = {"expected_status": "pass", "flaky": {**FLAKY, "until": "2026-01-31"}}
    over = json.dumps({**BASELINE, "deploy": {"claude": entry}}, indent=2)
    base = {**FILES, "provider-baseline.json": over}
    change = PullRequest(tmp_path, base)
    change.propose({"README.md": "x"})
    found = change.check()
    assert (found.row("deploy")["kind"], found.conclusion) == ("EXPIRED", "failure")
    assert found.delta["reasons"] == ["1 flaky entry is past its date"]
    renewed = json.dumps({**BASELINE, "deploy": {"claude": {**entry, "flaky": FLAKY}}}, indent=2)
    again = PullRequest(tmp_path / "again", base)
    again.propose({"provider-baseline.json": renewed})
    found = again.check()
    assert (found.row("deploy")["kind"], found.conclusion) == ("OK", "success")
    assert any(
        note.startswith("declared flaky until 2026-01-31 (over): deploy on claude (")
        for note in found.delta["notes"]
    )


@pytest.mark.parametrize(("name", "value"), [("false_alarm", "2"), ("detect", "a quarter")])
def test_a_setting_of_the_workflow_that_makes_no_sense_is_an_error(
    stolen: PullRequest, name: str, value: str
) -> None:
    """It names the input."""
    stolen.measure()
    found = stolen.judge(1, **{"confirm": "auto", name: value})
    assert found.conclusion == "error"
    assert f"input {name.replace('_', '-')}: '{value}' is not between 0 and 1" in found.text(
        "error.txt"
    )
