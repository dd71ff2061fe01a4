"""`run --stop-early` from the outside: a live agent and a replayed one, and what is told of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Project, loads
from tests.support.streams import claude_init, jsonl, load, opencode_part, run_of, say

LONG = 300


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project of which a claude agent stays for a long time after it loaded its skill."""
    return Project(tmp_path)


def staying(name: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    """A case whose agent loads `foo` and then goes on for minutes."""
    return {**loads(name), "prompt": f"load:foo dwell:{LONG}", **fields}


def test_a_unit_ends_as_soon_as_its_verdict_stands(project: Project) -> None:
    """It passed, it is complete, it is no time-out, and its cost is not known."""
    project.write_cases(staying("one"))
    done = project.run("--stop-early")
    (row,) = done.results["results"]
    assert done.code == 0
    assert (row["status"], row["outcome"], row["ended_by"]) == (
        "pass",
        "completed",
        "stopped_early",
    )
    assert (row["timed_out"], row["cost_usd"], row["usage"]) == (False, None, None)
    assert row["duration_ms"] < LONG * 500
    assert row["notes"][-1] == "stopped early: usage and cost of the whole run are not known"
    assert done.results["options"]["stop_early"] is True
    assert done.stderr.splitlines()[-1].endswith("stopped early: 1 of 1 units")


def test_without_the_flag_a_unit_runs_to_its_end(project: Project) -> None:
    """The default; what it used is told."""
    project.write_cases(loads("one"))
    done = project.run()
    (row,) = done.results["results"]
    assert (row["ended_by"], row["notes"]) == ("exit", [])
    assert done.results["options"]["stop_early"] is False
    assert "stopped early" not in done.stderr


def test_a_case_that_something_must_not_happen_in_runs_to_its_end(project: Project) -> None:
    """A disallowed skill could still be loaded."""
    project.write_cases({**loads("one"), "disallowed_skills": ["bar"]})
    done = project.run("--stop-early")
    assert done.column("ended_by") == ["exit"]
    assert done.column("status") == ["pass"]
    assert done.stderr.splitlines()[-1].endswith("stopped early: 0 of 1 units")


def test_a_replay_tells_how_much_was_not_read(project: Project) -> None:
    """What an early stop saves is known where the whole run is recorded."""
    first = jsonl(claude_init(), *load("claude", "foo"))
    rest = jsonl(say("claude", "And so on."))
    folder = project.root / "set" / "claude"
    folder.mkdir(parents=True)
    (folder / "one.stdout").write_bytes(first + rest)
    timings = [[0, len(first)], [LONG, len(first) + len(rest)]]
    script = {"exit_code": 0, "duration_s": LONG, "timings": timings}
    (folder / "one.json").write_text(json.dumps(script))
    project.write_cases(loads("one"))
    done = project.run("--replay=set", "--speed", "1", "--stop-early")
    (row,) = done.results["results"]
    assert (row["status"], row["ended_by"]) == ("pass", "stopped_early")
    unread = f"{len(rest)} of {len(first) + len(rest)} bytes of the recording were not read"
    assert row["notes"][-1] == unread
    assert done.stderr.splitlines()[-1].endswith(
        f"stopped early: 1 of 1 units, {len(rest)} bytes of their recordings not read"
    )


def test_usage_so_far_is_not_told_as_that_of_the_run(project: Project) -> None:
    """Opencode tells what each step cost; the sum of some steps is no sum."""
    cost = opencode_part("step_finish", reason="tool-calls", tokens={"input": 3}, cost=0.5)
    first = jsonl(cost, *load("opencode", "foo"))
    folder = project.root / "set" / "opencode"
    folder.mkdir(parents=True)
    (folder / "one.stdout").write_bytes(first + run_of("opencode", cost))
    timings = [[0, len(first)], [LONG, len(first)]]
    (folder / "one.json").write_text(json.dumps({"duration_s": LONG, "timings": timings}))
    project.write_cases({**loads("one"), "require_skill_file": False})
    arguments = ("run", "--replay=set", "--agents", "opencode")
    stopped = project.call(*arguments, "--stop-early", "--speed", "1")
    whole = project.call(*arguments)
    assert [done.column("cost_usd") for done in (stopped, whole)] == [[None], [1.0]]
    assert [done.column("ended_by") for done in (stopped, whole)] == [["stopped_early"], ["exit"]]
