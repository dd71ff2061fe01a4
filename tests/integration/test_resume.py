"""`run --resume` from the outside: batches that were killed, and go on as if they had not been."""

from __future__ import annotations

import json
import random
import shlex
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.batches import (
    Field,
    bearing,
    check_starts,
    ended,
    essence,
    markers,
    records,
    wait_for,
)
from tests.support.command_line import Finished, loads

MANNERS = ("load", "talk", "slow", "load", "crash")
QUICK = ("--agents", "claude", "--max-parallel", "8", "--workspace", "shared", "--no-progress")


@pytest.fixture
def field(tmp_path: Path) -> Field:
    """An empty project with the quick agent."""
    return Field(tmp_path / "my project")


def kill_and_resume(field: Field, starts: int, pause: float) -> tuple[Finished, set[str]]:
    """Kill the harness once so many agents were started and a moment passed; then go on."""
    field.starts.unlink(missing_ok=True)
    running = field.start(*QUICK)
    wait_for(lambda: len(field.started()) >= starts or running.process.poll() is not None)
    time.sleep(pause)
    running.kill()
    before = ended(running.folder)
    finished = field.resume(running.folder)
    assert bearing(markers(running.folder)) == [], finished.stderr
    return finished, before


def check_moments(field: Field, units: int, moments: int, seed: int) -> None:
    field.write_cases(*(MANNERS[n % len(MANNERS)] for n in range(units)))
    undisturbed = field.project.call("run", *QUICK)
    assert undisturbed.code == 1
    names = {f"c{n}" for n in range(units)}
    chance = random.Random(seed)  # noqa: S311 - moments of a test
    for _ in range(moments):
        starts, pause = chance.randrange(units), chance.random() * 0.1
        finished, before = kill_and_resume(field, starts, pause)
        told = f"killed after {starts} starts and {pause:.3f} s"
        assert finished.code == 1, (told, finished.stderr)
        assert essence(finished.results) == essence(undisturbed.results), told
        check_starts(field, before, names)
        assert finished.results["batch_run_id"] == finished.artifacts.name


@pytest.mark.slow
def test_a_killed_batch_goes_on_as_if_it_had_not_been(field: Field) -> None:
    """Killed at three moments: the same results, and nothing that had ended ran twice."""
    check_moments(field, 12, 3, seed=1)


@pytest.mark.slow
def test_the_next_ordinary_run_points_to_a_killed_batch(field: Field) -> None:
    """Once it was gone on with, nothing is said any more."""
    field.write_cases("load", "slow")
    running = field.start(*QUICK)
    wait_for(lambda: len(ended(running.folder)) == 1)
    running.kill()
    told = "killed when 1 of 2 units had ended; `routing-action run --resume '"
    (line,) = [
        line for line in field.project.call("run", *QUICK).stderr.splitlines() if told in line
    ]
    assert line.endswith(f"{shlex.quote(str(running.folder))}` continues it")
    assert told not in field.project.call("run", *QUICK).stderr
    assert field.resume(running.folder).code == 0
    assert "killed when" not in field.project.call("run", *QUICK).stderr


@pytest.mark.slow
def test_a_batch_of_fifty_can_be_killed_at_any_moment(field: Field) -> None:
    """Twenty random moments."""
    check_moments(field, 50, 20, seed=2)


@pytest.mark.slow
def test_a_batch_can_be_killed_again_and_again(field: Field) -> None:
    """Each resumed batch is killed in its turn until nothing is left to run."""
    field.write_cases(*["slow"] * 10)
    running = field.start("--agents", "claude", "--max-parallel", "2", "--workspace", "shared")
    folder = running.folder
    kills = 0
    while len(ended(folder)) < 8:
        known = len(ended(folder))
        wait_for(lambda known=known: len(ended(folder)) >= known + 2)  # type: ignore[misc]
        running.kill()
        kills += 1
        running = field.start("--resume", folder.name)
        assert running.folder == folder
    assert running.finish() == 0
    assert kills >= 2
    done = json.loads((folder / "results.json").read_text("utf-8"))
    assert (done["complete"], done["summary"]["pass"], len(done["results"])) == (True, 10, 10)


@pytest.mark.slow
def test_what_a_killed_harness_left_running_is_ended_first(field: Field) -> None:
    """Agents that hang, and children in a session of their own, are gone before the next start."""
    field.write_cases("hang", "stubborn", "slow")
    running = field.start(*QUICK, "--timeout-seconds", "2")
    wait_for(lambda: len(field.started()) == 3)
    running.kill()
    ids = markers(running.folder)
    assert len(bearing(ids)) >= 2
    finished = field.resume(running.folder)
    assert "which a killed batch had left running" in finished.stderr
    assert [row["outcome"] for row in finished.results["results"]][:2] == ["timeout", "timeout"]
    assert bearing(ids) == []


@pytest.mark.slow
def test_the_next_ordinary_run_ends_survivors_of_dead_batches(field: Field) -> None:
    """Nobody has to resume a batch to get rid of its agents; a running one is left alone."""
    field.write_cases("hang")
    dead = field.start(*QUICK)
    wait_for(lambda: bool(field.started()))
    living = field.start(*QUICK)
    wait_for(lambda: len(field.started()) == 2)
    dead.process.kill()
    dead.process.communicate(timeout=30)
    folders = [
        one for one in (field.root / "tests/agent-routing/artifacts").iterdir() if one.is_dir()
    ]
    lost = next(one for one in folders if one != living.folder)
    assert len(bearing(markers(lost))) == 1
    field.write_cases("load")
    assert field.project.run("--workspace", "shared").code == 0
    assert bearing(markers(lost)) == []
    assert len(bearing(markers(living.folder))) == 1
    living.process.terminate()
    assert living.finish() == 130


@pytest.mark.slow
def test_a_batch_that_was_interrupted_goes_on_with_what_was_cancelled(field: Field) -> None:
    """Ctrl-C is no end: the cancelled unit is missing, and its next attempt has its own id."""
    folder = interrupted(field)
    first = json.loads((folder / "results.json").read_text("utf-8"))
    assert [row["outcome"] for row in first["results"]] == ["completed", "cancelled"]
    finished = field.resume(folder)
    assert finished.code == 1
    assert finished.column("outcome") == ["completed"] * 3
    assert finished.column("unit_run_id")[0] == first["results"][0]["unit_run_id"]
    assert finished.column("unit_run_id")[1] != first["results"][1]["unit_run_id"]
    assert field.started() == ["c0", "c1", "c1", "c2"]


def interrupted(field: Field, *arguments: str) -> Path:
    """A batch of three whose second unit was interrupted."""
    field.write_cases("load", "slow", "talk")
    running = field.start(
        "--agents", "claude", "--max-parallel", "1", "--workspace", "shared", *arguments
    )
    wait_for(lambda: "c1" in field.started())
    running.process.terminate()
    assert running.finish() == 130
    return running.folder


def test_a_complete_batch_says_so_and_ends_with_its_own_code(field: Field) -> None:
    """Nothing is run again; gone results are made again from the journal."""
    field.write_cases("load", "talk")
    first = field.project.call("run", *QUICK)
    text = (first.artifacts / "results.json").read_text("utf-8")
    again = field.project.call("run", "--resume", first.artifacts.name, "--format", "json")
    assert (again.code, again.stdout) == (1, text)
    assert "is complete: nothing to run" in again.stderr
    (first.artifacts / "results.json").unlink()
    shutil.rmtree(first.artifacts / "transcripts")
    rebuilt = field.resume(first.artifacts)
    assert rebuilt.code == 1
    assert rebuilt.results["results"] == json.loads(text)["results"]
    assert sorted(field.started()) == ["c0", "c1"]


@pytest.mark.slow
def test_a_running_batch_is_refused(field: Field) -> None:
    """Two harnesses never work on one batch."""
    field.write_cases("hang")
    running = field.start(*QUICK)
    wait_for(lambda: bool(field.started()))
    refused = field.resume(running.folder)
    assert refused.code == 2
    assert "is still running" in refused.stderr
    running.process.terminate()
    assert running.finish() == 130


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--agents", "codex"), "--agents contradicts"),
        (("--trials", "3"), "--trials contradicts"),
        (("--timeout-seconds", "9"), "--timeout-seconds contradicts"),
        (("--confirm", "2"), "--confirm contradicts"),
        (("--max-parallel", "4"), "--max-parallel contradicts"),
    ],
)
def test_flags_that_contradict_the_batch_are_refused(
    field: Field, arguments: tuple[str, ...], named: str
) -> None:
    """The options stand in the journal; the same ones may be given again."""
    folder = interrupted(field)
    refused = field.resume(folder, *arguments)
    assert (refused.code, named in refused.stderr) == (2, True)
    same = field.resume(folder, "--agents", "claude", "--max-parallel", "1", "--trials", "1")
    assert same.code == 1, same.stderr


@pytest.mark.slow
def test_cases_commands_and_commits_that_changed_are_refused(field: Field) -> None:
    """A batch of two corpora, or by two commands, would be neither."""
    folder = interrupted(field)
    corpus = (field.root / "cases.json").read_text("utf-8")
    field.write_cases("load", "load", "talk")
    refused = field.resume(folder)
    assert refused.code == 2
    assert "put the file back (SHA-256" in refused.stderr
    (field.root / "cases.json").write_text(corpus, encoding="utf-8")
    kept = dict(field.project.variables)
    field.project.variables["AGENT_CLAUDE_TEMPLATE"] = "/bin/true {prompt}"
    refused = field.resume(folder)
    assert (refused.code, "AGENT_CLAUDE_TEMPLATE is not" in refused.stderr) == (2, True)
    field.project.variables = kept
    finished = field.resume(folder)
    assert finished.code == 1
    assert [row["status"] for row in finished.results["results"]] == ["pass", "pass", "fail"]
    assert len(set(finished.column("unit_run_id")) & markers(folder)) == 3


@pytest.mark.slow
def test_a_drawn_sample_and_copies_are_those_of_the_batch(field: Field) -> None:
    """The seed is kept, so the same cases are drawn; further copies are written too."""
    field.write_cases(*["slow"] * 6)
    sample = ("--sample", "3", "--output", "out.json", "--workspace", "shared")
    running = field.start("--agents", "claude", *sample, "--max-parallel", "1")
    wait_for(lambda: len(field.started()) == 2)
    running.kill()
    finished = field.resume(running.folder, "--proof-log", "proof.log")
    assert finished.code == 0
    chosen = records(running.folder)[0]["options"]["selected_case_ids"]
    assert finished.column("case_id") == chosen
    assert json.loads((field.root / "out.json").read_text("utf-8")) == finished.results
    assert (field.root / "proof.log").exists()


def test_a_round_of_confirmation_goes_on_too(field: Field) -> None:
    """Killed while would-be regressions run again: only the missing trials are run."""
    field.write_cases("load", "talk", "talk")
    expected = {"claude": {"expected_status": "pass", "allow_timeout": False}}
    baseline = {f"c{n}": expected for n in range(3)}
    (field.root / "provider-baseline.json").write_text(json.dumps(baseline), encoding="utf-8")
    arguments = ("--max-parallel", "1", "--workspace", "shared", "--confirm", "2")
    undisturbed = field.project.run(*arguments)
    assert len(undisturbed.results["results"]) == 7
    running = field.start("--agents", "claude", *arguments)
    wait_for(lambda: len(field.started()) >= 7 + 5)
    running.kill()
    before = sum(1 for record in records(running.folder) if "case_id" in record)
    finished = field.resume(running.folder)
    assert essence(finished.results) == essence(undisturbed.results)
    assert len(field.started()) - 7 <= 7 + 1
    assert before >= 4


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.9, 1.0])
def test_any_beginning_of_a_journal_can_be_resumed(field: Field, place: float) -> None:
    """Cut anywhere behind the plan, also within a line: the whole results come of it."""
    field.write_cases("load", "talk", "load", "crash")
    whole = field.project.call("run", *QUICK)
    journal = whole.artifacts / "journal.jsonl"
    data = journal.read_bytes()
    plan = data.index(b"\n") + 1
    journal.write_bytes(data[: plan + round((len(data) - plan) * place)])
    (whole.artifacts / "results.json").unlink()
    essential = essence(resumed(field, whole.artifacts))
    assert essential["summary"] == {"total": 4, "pass": 2, "fail": 1, "infra_error": 1}


def resumed(field: Field, folder: Path) -> dict[str, Any]:
    finished = field.resume(folder)
    assert finished.code == 1, finished.stderr
    return finished.results


def test_a_name_that_is_no_batch_is_refused(field: Field) -> None:
    """With what can be named."""
    field.project.write_cases(loads("one"))
    refused = field.project.call("run", "--resume", "nothing")
    assert refused.code == 2
    assert "give a batch_run_id below" in refused.stderr


@pytest.mark.slow
def test_edited_arguments_name_the_journal_and_its_line(field: Field) -> None:
    """Exit 2, with the file and the line, whatever was written there."""
    folder = interrupted(field)
    journal = folder / "journal.jsonl"
    text = journal.read_text("utf-8")
    for old, new in [
        ('"--agents=claude"', '"--nonsense"'),
        ('"--agents=claude"', '"--self-test"'),
        ('"--agents=claude"', '"--help"'),
        ('"case_id":"c0"', '"case_id":"elsewhere"'),
        ('"units":3', '"units":4'),
        (folder.name, "11111111-1111-4111-8111-111111111111"),
    ]:
        journal.write_text(text.replace(old, new), encoding="utf-8")
        refused = field.resume(folder)
        assert refused.code == 2, (old, new, refused.stderr)
        assert f"{journal}:" in refused.stderr
    journal.write_text(text, encoding="utf-8")
    assert field.resume(folder).code == 1
