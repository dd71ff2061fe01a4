"""The lines on standard error that scripts and people follow a batch by."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.results.model import Summary, UnitResult
from routing_action.run.lifecycle import LifecycleLog
from tests.support.result_rows import make_row


def follow(*, quiet: bool) -> list[str]:
    """Everything that a short batch writes."""
    lines: list[str] = []
    log = LifecycleLog(lines.append, lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "B", quiet)
    log.artifact_dir("/tmp/x")
    log.running("U", "claude:one", "[1/2]")
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
    log.running(row.unit_run_id, "claude:one", "[1/1]")
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
        ({}, "completed status=pass duration=1.5s"),
        (
            {"status": Status.FAIL, "failure_kind": "mixed"},
            "failed status=fail kind=mixed duration=1.5s",
        ),
        ({"timed_out": True}, "timeout status=pass duration=1.5s"),
        (
            {"status": Status.INFRA_ERROR, "outcome": Outcome.CANCELLED},
            "cancelled status=infra_error duration=1.5s",
        ),
    ],
)
def test_the_last_line_of_a_unit_says_how_it_ended(fields: dict[str, Any], end: str) -> None:
    """A timeout is called so even where the proof was there in time."""
    lines: list[str] = []
    log = LifecycleLog(lines.append, lambda: datetime(2026, 1, 2, tzinfo=UTC), "B")
    log.ended("claude:one", make_row(**fields))
    assert lines[0].endswith(f"claude:one -> {end}")


def test_every_line_has_the_time_and_both_ids() -> None:
    """A unit can be followed by its id, a batch by its own."""
    assert follow(quiet=False) == [
        "ARTIFACT_DIR=/tmp/x",
        "[routing-action] 03:04:05 [batch:B] [unit:U] claude:one -> running [1/2]",
        "[routing-action] 03:04:05 [batch:B] sample=2 seed=7",
        "[routing-action] 03:04:05 [batch:B] summary(pass=1, fail=1, infra=0)",
    ]


def test_no_progress_silences_all_but_the_artifact_folder() -> None:
    """Scripts that look for ARTIFACT_DIR always find it."""
    assert follow(quiet=True) == ["ARTIFACT_DIR=/tmp/x"]
