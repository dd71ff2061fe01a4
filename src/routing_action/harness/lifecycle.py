"""The lifecycle protocol on standard error: one line for every transition of every unit.

`ARTIFACT_DIR=<absolute path>` is a raw line that nothing suppresses; the lifecycle lines are
silenced by --no-progress.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from routing_action.domain.results import Summary


class UnitState(StrEnum):
    """The states of a unit; the last four are final."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


@dataclass(slots=True)
class LifecycleLog:
    """Writes lifecycle lines with the batch's id; `write` takes one line without its newline."""

    write: Callable[[str], None]
    now: Callable[[], datetime]
    batch_run_id: str
    quiet: bool = False

    def artifact_dir(self, path: str) -> None:
        """Say where the artifacts stand, as soon as the folder exists."""
        self.write(f"ARTIFACT_DIR={path}")

    def unit(self, unit_run_id: str, key: str, state: UnitState, detail: str = "") -> None:
        """A unit entered a state."""
        self._line(f"[unit:{unit_run_id}] {key} -> {state.value}{f' {detail}' if detail else ''}")

    def note(self, text: str) -> None:
        """Something that a reader of the log should know about the batch."""
        self._line(text)

    def summary(self, summary: Summary) -> None:
        """The totals at the end."""
        self._line(
            f"summary(pass={summary.passed}, fail={summary.fail}, infra={summary.infra_error})"
        )

    def _line(self, text: str) -> None:
        if not self.quiet:
            stamp = self.now().strftime("%H:%M:%S")
            self.write(f"[routing-action] {stamp} [batch:{self.batch_run_id}] {text}")
