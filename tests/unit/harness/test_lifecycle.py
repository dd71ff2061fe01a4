"""The lines on standard error that scripts and people follow a batch by."""

from __future__ import annotations

from datetime import UTC, datetime

from routing_action.domain.results import Summary
from routing_action.harness.lifecycle import LifecycleLog, UnitState


def follow(*, quiet: bool) -> list[str]:
    """Everything that a short batch writes."""
    lines: list[str] = []
    log = LifecycleLog(lines.append, lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "B", quiet)
    log.artifact_dir("/tmp/x")
    log.unit("U", "claude:one", UnitState.RUNNING, "[1/2]")
    log.note("sample=2 seed=7")
    log.summary(Summary(total=2, passed=1, fail=1, infra_error=0))
    return lines


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
