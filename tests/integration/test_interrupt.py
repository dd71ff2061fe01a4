"""A batch that is interrupted or meets a full disk: what is on disk, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import time
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from routing_action.results.read import read_results
from tests.support.batches import Field, Running, bearing, ended, markers, wait_for

SHARED = ("--agents", "claude", "--workspace", "shared", "--no-progress")


@pytest.fixture
def field(tmp_path: Path) -> Field:
    """An empty project with the quick agent."""
    return Field(tmp_path / "project")


def busy(field: Field, *manners: str) -> Running:
    """A batch that runs all of its agents at once, and has seen the first one end."""
    field.write_cases("load", *manners)
    running = field.start(*SHARED, "--max-parallel", str(1 + len(manners)))
    wait_for(lambda: len(field.started()) == 1 + len(manners) and "c0" in ended(running.folder))
    return running


def check_whole(running: Running, units: int) -> None:
    """Results and proof log are valid and of one mind, and nothing is left running."""
    results = read_results(running.folder / "results.json")
    assert not results.complete
    assert [row.outcome.value for row in results.results] == [
        "completed",
        *["cancelled"] * (units - 1),
    ]
    proof = (running.folder / "tool-use-proof.log").read_text("utf-8")
    assert all(row.unit_run_id in proof for row in results.results)
    assert bearing(markers(running.folder)) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_batch_in_order(field: Field, number: signal.Signals) -> None:
    """Whichever it is: 130, running units cancelled, everything on disk, the outcome on stdout."""
    if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("this runs under nohup, where a hang-up is to be ignored")
    running = busy(field, "hang", "hang")
    running.process.send_signal(number)
    stdout, _ = running.process.communicate(timeout=60)
    assert running.process.returncode == 130
    assert "interrupted" in stdout
    check_whole(running, 3)


@pytest.mark.slow
def test_githubs_order_of_signals_loses_nothing(field: Field) -> None:
    """SIGINT, SIGTERM 7.5 s later, SIGKILL after 2.5 more, against agents that ignore SIGTERM."""
    running = busy(field, "stubborn", "stubborn")
    running.process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    wait_for(lambda: running.process.poll() is not None or time.monotonic() - begun > 7.5)
    assert running.process.poll() is not None, "still running when SIGTERM is due"
    assert running.finish() == 130
    check_whole(running, 3)


def test_results_are_on_disk_before_the_agents_are_gone(field: Field) -> None:
    """A SIGKILL right behind the SIGINT finds results.json complete in what had ended."""
    running = busy(field, "stubborn")
    running.process.send_signal(signal.SIGINT)
    wait_for((running.folder / "tool-use-proof.log").exists)
    running.kill()
    results = read_results(running.folder / "results.json")
    assert [row.case_id for row in results.results] == ["c0"]
    assert not results.complete


@pytest.mark.slow
def test_further_signals_end_it_at_once_and_lose_nothing(field: Field) -> None:
    """Ctrl-C twice, then SIGTERM and SIGHUP: no grace any more, and the same whole results."""
    running = busy(field, "stubborn", "stubborn", "stubborn")
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if running.process.poll() is None:
            running.process.send_signal(number)
            time.sleep(0.1)
    stdout, _ = running.process.communicate(timeout=60)
    assert running.process.returncode == 130
    assert "interrupted" in stdout
    check_whole(running, 4)


@pytest.mark.slow
def test_under_nohup_a_hang_up_is_ignored(field: Field) -> None:
    """Whoever starts a batch under nohup wants it to go on."""
    field.write_cases("slow", "slow")
    running = field.start(
        *SHARED, "--max-parallel", "1", preexec_fn=lambda: signal.signal(signal.SIGHUP, 1)
    )
    wait_for(lambda: bool(field.started()))
    running.process.send_signal(signal.SIGHUP)
    assert running.finish() == 0


@pytest.mark.slow
def test_nobody_reading_the_output_is_no_failure(field: Field) -> None:
    """A closed pipe on stdout or stderr changes neither the results nor the exit code."""
    field.write_cases("slow", "talk")
    running = field.start(*SHARED)
    assert running.process.stdout is not None
    running.process.stdout.close()
    assert running.process.wait(60) == 1
    assert read_results(running.folder / "results.json").complete


# --- disks and folders --------------------------------------------------------------------------


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.slow
def test_a_full_disk_is_exit_4_and_damages_nothing(
    field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file can grow beyond 12 kB: what was journaled before stays, and can be gone on with."""
    # Nor could the file of a coverage that is measured in there; it would complain on stderr.
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    field.write_cases(*["load"] * 12)
    running = field.start(*SHARED, "--max-parallel", "2", preexec_fn=lambda: limit_files(12_000))
    assert running.finish() == 4
    assert re.search(r"cannot be written: File too large\n  remedy: free space", running.stderr)
    assert "Traceback" not in running.stderr
    assert not (running.folder / "results.json").exists()
    before = ended(running.folder)
    assert before
    finished = field.resume(running.folder)
    assert finished.code == 0, finished.stderr
    assert finished.column("status") == ["pass"] * 12
    assert all(field.started().count(name) == 1 for name in before)


@pytest.mark.slow
def test_a_transcript_folder_that_vanishes_is_exit_4_with_what_had_ended(field: Field) -> None:
    """The batch ends with a clear error; results.json holds what ended before."""
    field.write_cases("load", "slow", "load", "load")
    running = field.start(*SHARED, "--max-parallel", "1")
    wait_for(lambda: "c1" in field.started())
    shutil.rmtree(running.folder / "transcripts")
    assert running.finish() == 4
    assert "cannot be written: No such file or directory" in running.stderr
    results = read_results(running.folder / "results.json")
    assert not results.complete
    assert [row.status.value for row in results.results] == ["pass", "pass"]
    assert field.resume(running.folder).column("status") == ["pass"] * 4


@pytest.mark.slow
def test_a_batch_folder_that_vanishes_is_no_bug(field: Field) -> None:
    """Somebody cleans up under a running batch: an error of the harness or a whole result."""
    field.write_cases("load", "slow", "load")
    running = field.start(*SHARED, "--max-parallel", "1")
    wait_for(lambda: "c1" in field.started())
    shutil.rmtree(running.folder)
    running.finish()
    assert "Traceback" not in running.stderr
    *_, last = read_results(running.folder / "results.json").results
    assert last.status.value == "infra_error"
    assert last.error is not None
    assert "cannot be written: No such file or directory" in last.error


def test_a_copy_that_cannot_be_written_keeps_the_batch_whole(field: Field) -> None:
    """--output into a place that is none: exit 4, and the batch's own files are there."""
    field.write_cases("load")
    done = field.project.call("run", *SHARED, "--output", "/dev/null/results.json")
    assert done.code == 4
    assert "/dev/null/results.json: cannot be written" in done.stderr
    assert done.results["complete"] is True


def test_a_read_only_artifacts_root_is_exit_4(field: Field) -> None:
    """Said before anything is started."""
    field.write_cases("load")
    done = field.project.call("run", *SHARED, "--artifacts-root", "/proc/artifacts")
    assert done.code == 4
    assert "--artifacts-root DIR" in done.stderr
    assert field.started() == []


def test_a_clock_that_runs_backwards_gives_valid_results(
    field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Durations are measured by another clock, so none is negative; the file is valid."""
    steps = count()

    class Backwards(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return datetime(2026, 1, 2, tzinfo=UTC) - timedelta(hours=next(steps))

    monkeypatch.setattr("routing_action.cli.wiring.datetime", Backwards)
    field.write_cases("load", "talk")
    done = field.project.call("run", *SHARED)
    assert done.code == 1
    results = read_results(done.artifacts / "results.json")
    assert all(row.duration_ms >= 0 for row in results.results)
    assert field.resume(done.artifacts).code == 1


def test_secrets_are_not_in_the_journal(field: Field) -> None:
    """It is redacted like results.json, the agents' commands too."""
    field.write_cases("load")
    field.project.variables["ANTHROPIC_API_KEY"] = "sk-very-secret-value"
    field.project.variables["AGENT_CLAUDE_TEMPLATE"] += " --key sk-very-secret-value"
    done = field.project.call("run", *SHARED)
    journal = (done.artifacts / "journal.jsonl").read_text("utf-8")
    assert "sk-very-secret-value" not in journal
    assert json.loads(journal.splitlines()[-1])["status"] == "pass"
    assert os.access(done.artifacts / "journal.jsonl", os.R_OK)
