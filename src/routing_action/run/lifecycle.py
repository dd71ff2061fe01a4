"""What a batch gets of the outside (clock, ids, standard error), and the lines that it writes.

There is one line for every transition of every unit.
`ARTIFACT_DIR=<absolute path>` is a raw line that nothing suppresses; the lifecycle lines are
silenced by --no-progress. An observer hears every transition, and shows it in place of the lines.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.results.model import Summary, UnitResult


class BatchObserver(Protocol):
    """Hears what becomes of each unit, in the event loop's thread; `key` is its name for people."""

    def queue(self, unit_run_id: str, key: str) -> None:
        """A unit waits for its turn."""
        ...

    def start(self, unit_run_id: str, key: str) -> None:
        """A unit runs."""
        ...

    def end(self, unit_run_id: str, key: str, row: UnitResult) -> None:
        """A unit came to its end, or will not run at all."""
        ...

    def note(self, text: str) -> None:
        """Something that a person should know about the batch."""
        ...


@dataclass(frozen=True, slots=True)
class Stop:
    """How a batch is interrupted: `cancel` ends it in order, `hurry` without any grace."""

    cancel: asyncio.Event
    hurry: asyncio.Event


@dataclass(frozen=True, slots=True)
class Ports:
    """Injected so that tests decide them. `now` is aware, in UTC; `new_id` gives a UUID v4.

    An `observer` hears of each unit in place of the lifecycle lines.
    """

    now: Callable[[], datetime]
    new_id: Callable[[], str]
    write_error: Callable[[str], None]
    observer: BatchObserver | None = None


def format_time(moment: datetime) -> str:
    """An aware moment as our files write it: UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def new_uuid() -> str:
    """A random UUID v4."""
    return str(uuid.uuid4())


@dataclass(slots=True)
class LifecycleLog:
    """Writes lifecycle lines with the batch's id; `write` takes one line without its newline.

    With an observer there are no lines: it hears everything instead.
    """

    write: Callable[[str], None]
    now: Callable[[], datetime]
    batch_run_id: str
    quiet: bool = False
    observer: BatchObserver | None = None

    def artifact_dir(self, path: str) -> None:
        """Say where the artifacts stand, as soon as the folder exists."""
        self.write(f"ARTIFACT_DIR={path}")

    def queued(self, unit_run_id: str, key: str) -> None:
        """A unit waits for its turn."""
        if self.observer:
            self.observer.queue(unit_run_id, key)
        self._unit(unit_run_id, key, "queued")

    def running(self, unit_run_id: str, key: str, place: str) -> None:
        """A unit is being prepared and started; `place` is its `[n/N]` in the plan."""
        if self.observer:
            self.observer.start(unit_run_id, key)
        self._unit(unit_run_id, key, f"running {place}")

    def ended(self, key: str, row: UnitResult) -> None:
        """A unit came to its end, or will not run at all; says how, and why."""
        if self.observer:
            self.observer.end(row.unit_run_id, key, row)
        reason = f" kind={row.failure_kind}" if row.failure_kind else ""
        detail = f"status={row.status.value}{reason} duration={row.duration_ms / 1000:.1f}s"
        self._unit(row.unit_run_id, key, f"{_final_state(row)} {detail}")

    def note(self, text: str) -> None:
        """Something that a reader of the log should know about the batch."""
        if self.observer:
            self.observer.note(text)
        self._line(text)

    def summary(self, summary: Summary) -> None:
        """The totals at the end."""
        self._line(
            f"summary(pass={summary.passed}, fail={summary.fail}, infra={summary.infra_error})"
        )

    def _unit(self, unit_run_id: str, key: str, state: str) -> None:
        self._line(f"[unit:{unit_run_id}] {key} -> {state}")

    def _line(self, text: str) -> None:
        if not self.quiet and self.observer is None:
            stamp = self.now().strftime("%H:%M:%S")
            self.write(f"[routing-action] {stamp} [batch:{self.batch_run_id}] {text}")


def _final_state(row: UnitResult) -> str:
    if row.outcome is Outcome.CANCELLED:
        return "cancelled"
    if row.timed_out:
        return "timeout"
    return "completed" if row.status is Status.PASS else "failed"
