"""`record` makes recordings of a batch that a replay judges as the batch was judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from routing_action.results.batch_folder import render_results
from tests.support.command_line import Finished, Project, loads
from tests.support.result_rows import make_results, make_row

SECRET = "sk-ant-" + "k3y" * 12
CASES = (
    loads("passes", prompt=f"please load:foo mention:{SECRET}"),
    loads("other-skill", expected_skill="bar"),
    loads("disallowed", expected_skill="", disallowed_skills=["foo"]),
    loads("no-service", prompt="status:500"),
    loads("fails", prompt="load:foo fail"),
    loads("too-slow", prompt="please sleep:60"),
)
SAME = (
    "agent case_id trial status outcome failure_kind failure_category matched_evidence token_hits "
    "missing_evidence disallowed_hits loaded_skills timed_out exit_code cost_usd model"
).split()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository below a path with a space, whose fake agent was told a secret."""
    root = tmp_path / "my project"
    root.mkdir()
    project = Project(root, variables={"ANTHROPIC_API_KEY": SECRET})
    project.write_cases(*CASES)
    return project


def record(project: Project, *arguments: str) -> Finished:
    return project.call("record", "--to", "my recordings", *arguments)


def verdicts(done: Finished) -> list[dict[str, Any]]:
    return [{name: row[name] for name in SAME} for row in done.results["results"]]


def recorded_files(project: Project) -> list[str]:
    return sorted(path.name for path in (project.root / "my recordings" / "claude").iterdir())


@pytest.mark.slow
def test_a_replay_of_what_was_recorded_reaches_the_same_verdicts(project: Project) -> None:
    """Passes, failures, infra errors, time-outs and trials alike; what was masked stays masked."""
    measured = project.run("--timeout-seconds", "2", "--trials", "2")
    done = record(project)
    assert done.code == 0, done.stderr
    assert done.stdout.splitlines() == [
        "my recordings: 12 recordings of 6 cases on claude; read them before you commit them",
        "next: routing-action run '--replay=my recordings' --agents claude",
    ]
    stdout = (project.root / "my recordings" / "claude" / "passes.stdout").read_text("utf-8")
    assert SECRET not in stdout
    replayed = project.call("run", "--replay=my recordings", "--agents", "claude")
    assert verdicts(replayed) == verdicts(measured)
    assert {row["status"] for row in verdicts(replayed)} == {"pass", "fail", "infra_error"}


def test_what_is_recorded_without_a_folder_is_replayed_without_one(project: Project) -> None:
    """Both mean the same folder."""
    project.run("--case-id", "passes")
    assert project.call("record").stdout.startswith("tests/recordings/replay: 1 recording of 1")
    replayed = project.call("run", "--replay", "--agents", "claude", "--case-id", "passes")
    assert replayed.column("status") == ["pass"]


def test_a_recording_is_replaced_by_force_alone(project: Project) -> None:
    """With all of its case's trials; other cases' recordings stay."""
    project.run("--case-id", "passes,fails", "--trials", "2")
    assert record(project, "--cases", "passes").code == 0
    (project.root / "my recordings" / "claude" / "other.stdout").write_text("mine")
    project.run("--case-id", "passes,fails")
    again = record(project)
    assert (again.code, again.stdout) == (2, "")
    assert "my recordings/claude/passes" in again.stderr
    assert "exists already, and is not replaced" in again.stderr
    assert "--force" in again.stderr
    assert "fails.stdout" not in recorded_files(project)
    assert record(project, "--force").code == 0
    kinds = ("json", "stderr", "stdout")
    assert recorded_files(project) == [
        *(f"fails.{kind}" for kind in kinds),
        "other.stdout",
        *(f"passes.{kind}" for kind in kinds),
    ]


def test_the_batch_the_cases_and_the_agents_can_be_chosen(project: Project) -> None:
    """By default the newest batch; a misspelt name is a mistake, and the next command is narrow."""
    first = project.run("--case-id", "passes,fails").artifacts
    project.run("--case-id", "disallowed")
    done = record(project, "--batch", str(first), "--cases", "FAILS", "--agents", "claude")
    assert done.code == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith(" --agents claude --case-id fails")
    assert recorded_files(project) == ["fails.json", "fails.stderr", "fails.stdout"]
    for arguments in (("--cases", "disalowed"), ("--agents", "codex")):
        wrong = record(project, *arguments)
        assert (wrong.code, "no result of" in wrong.stderr) == (2, True)


def test_what_has_no_end_of_its_own_is_left_out(project: Project) -> None:
    """It is named with the reason; where nothing is left, the exit code says so."""
    project.variables["AGENT_CLAUDE_TEMPLATE"] = "/is/not/there {prompt}"
    project.call("run", "--agents", "claude", "--case-id", "passes")
    done = record(project)
    assert done.code == 3
    assert "nothing was recorded" in done.stderr
    assert "left out: passes on claude: it has no end of its own" in done.stderr
    assert not (project.root / "my recordings").exists()


def test_a_transcript_that_was_changed_is_not_recorded(project: Project) -> None:
    """Nor is anything else of that batch: it is not what was judged."""
    batch = project.run("--case-id", "passes,fails").artifacts
    next((batch / "transcripts").glob("*.stdout")).write_text("changed")
    done = record(project)
    assert (done.code, "was changed after it was written" in done.stderr) == (2, True)
    assert not (project.root / "my recordings").exists()


@pytest.mark.parametrize("name", ["../../escape", "a/b", ".hidden", "one@2"])
def test_a_name_in_results_cannot_lead_elsewhere(project: Project, name: str) -> None:
    """A case id from an artifact names a file in the folder, or none."""
    batch = project.root / "batch"
    batch.mkdir()
    row = make_row(1, case_id=name, exit_code=0)
    (batch / "results.json").write_text(render_results(make_results(row)), encoding="utf-8")
    done = record(project, "--batch", "batch")
    assert (done.code, "cannot name a recording" in done.stderr) == (2, True), done.stderr
    assert json.loads((project.root / "cases.json").read_text("utf-8"))[0]["case_id"] == "passes"
    assert sorted(path.name for path in project.root.iterdir()) == ["batch", "cases.json"]
