"""The lines on standard error that scripts and people follow a batch by."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.results.model import Summary, UnitResult
from routing_action.run.lifecycle import LifecycleLog, is_ci
from tests.support.result_rows import make_row


def follow(*, quiet: bool) -> list[str]:
    """Everything that a short batch writes."""
    lines: list[str] = []
    log = LifecycleLog(lines.append, lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "B", quiet)
    log.artifact_dir("/tmp/x")
    log.running("U", "claude:one")
    log.note("sample=2 seed=7")
    log.summary(Summary(total=2, passed=1, fail=1, infra_error=0))
    return lines


class Listener:
    """An observer that writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, ...]] = []

    def queue(self, unit_run_id: str, key: str) -> None:
        self.heard.append(("queue", unit_run_id, key))

    def start(self, unit_run_id: str, key: str) -> None:
        self.heard.append(("start", unit_run_id, key))

    def end(self, unit_run_id: str, key: str, row: UnitResult) -> None:
        self.heard.append(("end", unit_run_id, key, row.status.value))

    def note(self, text: str) -> None:
        self.heard.append(("note", text))


def test_an_observer_hears_everything_and_the_lines_are_left_out() -> None:
    """A live view stands in place of the lines; ARTIFACT_DIR is written all the same."""
    lines: list[str] = []
    listener = Listener()
    log = LifecycleLog(lines.append, lambda: datetime(2026, 1, 2, tzinfo=UTC), "B", False, listener)
    row = make_row(status=Status.FAIL)
    log.artifact_dir("/tmp/x")
    log.note("sample=1 seed=7")
    log.queued(row.unit_run_id, "claude:one")
    log.running(row.unit_run_id, "claude:one")
    log.ended("claude:one", row)
    log.summary(Summary(total=1, passed=0, fail=1, infra_error=0))
    assert lines == ["ARTIFACT_DIR=/tmp/x"]
    assert listener.heard == [
        ("note", "sample=1 seed=7"),
        ("queue", row.unit_run_id, "claude:one"),
        ("start", row.unit_run_id, "claude:one"),
        ("end", row.unit_run_id, "claude:one", "fail"),
    ]


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        ({}, "completed [1/2] status=pass duration=1.5s summary(pass=1, fail=0, infra=0)"),
        (
            {"status": Status.FAIL, "failure_kind": "mixed"},
            "failed [1/2] status=fail kind=mixed duration=1.5s summary(pass=0, fail=1, infra=0)",
        ),
        (
            {"timed_out": True},
            "timeout [1/2] status=pass duration=1.5s summary(pass=1, fail=0, infra=0)",
        ),
        (
            {"status": Status.INFRA_ERROR, "outcome": Outcome.CANCELLED},
            "cancelled [1/2] status=infra_error duration=1.5s summary(pass=0, fail=0, infra=1)",
        ),
    ],
)
def test_the_last_line_of_a_unit_says_how_it_ended(fields: dict[str, Any], end: str) -> None:
    """A timeout is called so even where the proof was there in time."""
    lines: list[str] = []
    log = LifecycleLog(lines.append, lambda: datetime(2026, 1, 2, tzinfo=UTC), "B")
    for key in ("claude:one", "claude:two"):
        log.queued("U", key)
    log.ended("claude:one", make_row(**fields))
    assert lines[-1].endswith(f"claude:one -> {end}")


def test_the_running_totals_count_what_an_earlier_life_of_the_batch_measured() -> None:
    """After a resume the count goes on where it stood."""
    lines: list[str] = []
    log = LifecycleLog(lines.append, lambda: datetime(2026, 1, 2, tzinfo=UTC), "B")
    log.carry(make_row(1, status=Status.FAIL))
    log.queued("U", "claude:two")
    log.ended("claude:two", make_row(2))
    assert "completed [2/2]" in lines[-1]
    assert lines[-1].endswith("summary(pass=1, fail=1, infra=0)")


def test_a_log_that_is_read_later_has_one_short_line_for_each_unit() -> None:
    """Nobody waits for the start; the files have the full ids."""
    lines: list[str] = []
    row = make_row()
    log = LifecycleLog(lines.append, lambda: datetime(2026, 1, 2, tzinfo=UTC), row.unit_run_id)
    log.artifact_dir("/tmp/x")
    log.queued(row.unit_run_id, "claude:one")
    log.running(row.unit_run_id, "claude:one")
    log.ended("claude:one", row)
    assert lines == [
        "ARTIFACT_DIR=/tmp/x",
        (
            "[routing-action] 00:00:00 [batch:00000000] [unit:00000000] claude:one -> completed "
            "[1/1] status=pass duration=1.5s summary(pass=1, fail=0, infra=0)"
        ),
    ]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        ({"CI": "true"}, True),
        ({"CI": "1"}, True),
        ({"GITHUB_ACTIONS": "true"}, True),
        ({"CI": "false"}, False),
        ({"CI": "0", "GITHUB_ACTIONS": ""}, False),
    ],
)
def test_ci_systems_are_known_by_their_variables(environ: dict[str, str], expected: bool) -> None:
    """`CI=false` is no CI."""
    assert is_ci(environ) is expected


def test_every_line_has_the_time_and_the_batch() -> None:
    """Two batches in one log can be told apart."""
    assert follow(quiet=False) == [
        "ARTIFACT_DIR=/tmp/x",
        "[routing-action] 03:04:05 [batch:B] sample=2 seed=7",
        "[routing-action] 03:04:05 [batch:B] summary(pass=1, fail=1, infra=0)",
    ]


def test_no_progress_silences_all_but_the_artifact_folder() -> None:
    """Scripts that look for ARTIFACT_DIR always find it."""
    assert follow(quiet=True) == ["ARTIFACT_DIR=/tmp/x"]
