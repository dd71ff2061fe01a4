"""What a batch gets of the outside (clock, ids, standard error), and the lines that it writes.

There is one line for every unit that ended; the files have the ids in full.
`ARTIFACT_DIR=<absolute path>` is a raw line that nothing suppresses; the lifecycle lines are
silenced by --no-progress. An observer hears every transition, and shows it in place of the lines.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.results.model import Summary, UnitResult

_SHORT_ID = 8
_WORDS = {Status.PASS: "pass", Status.FAIL: "fail", Status.INFRA_ERROR: "infra"}


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


def is_ci(environ: Mapping[str, str]) -> bool:
    """True where a CI system runs us: they set `CI`, and GitHub sets its own beside it."""
    values = (environ.get(name, "").casefold() for name in ("CI", "GITHUB_ACTIONS"))
    return any(value not in ("", "0", "false") for value in values)


@dataclass(slots=True)
class LifecycleLog:
    """Writes lifecycle lines with the batch's id; `write` takes one line without its newline.

    With an observer there are no lines: it hears everything instead. Ids have eight characters.
    """

    write: Callable[[str], None]
    now: Callable[[], datetime]
    batch_run_id: str
    quiet: bool = False
    observer: BatchObserver | None = None
    _known: int = 0
    _ended: Counter[Status] = field(default_factory=Counter)

    def artifact_dir(self, path: str) -> None:
        """Say where the artifacts stand, as soon as the folder exists."""
        self.write(f"ARTIFACT_DIR={path}")

    def queued(self, unit_run_id: str, key: str) -> None:
        """A unit waits for its turn."""
        if self.observer:
            self.observer.queue(unit_run_id, key)
        self._known += 1

    def carry(self, row: UnitResult) -> None:
        """A unit had ended in an earlier life of the batch: it counts, and has no line."""
        self._known += 1
        self._ended[row.status] += 1

    def running(self, unit_run_id: str, key: str) -> None:
        """A unit is being prepared and started."""
        if self.observer:
            self.observer.start(unit_run_id, key)

    def ended(self, key: str, row: UnitResult) -> None:
        """A unit came to its end, or will not run at all; says how, and what ended so far."""
        if self.observer:
            self.observer.end(row.unit_run_id, key, row)
        self._ended[row.status] += 1
        place = f"[{self._ended.total()}/{self._known}]"
        reason = f" kind={row.failure_kind}" if row.failure_kind else ""
        detail = f"status={row.status.value}{reason} duration={row.duration_ms / 1000:.1f}s"
        state = f"{_final_state(row)} {place} {detail} {_summary(self._ended)}"
        self._line(f"[unit:{row.unit_run_id[:_SHORT_ID]}] {key} -> {state}")

    def note(self, text: str) -> None:
        """Something that a reader of the log should know about the batch."""
        if self.observer:
            self.observer.note(text)
        self._line(text)

    def summary(self, summary: Summary) -> None:
        """The totals at the end."""
        self._line(
            _summary(
                {
                    Status.PASS: summary.passed,
                    Status.FAIL: summary.fail,
                    Status.INFRA_ERROR: summary.infra_error,
                }
            )
        )

    def _line(self, text: str) -> None:
        if not self.quiet and self.observer is None:
            stamp = self.now().strftime("%H:%M:%S")
            batch = self.batch_run_id[:_SHORT_ID]
            self.write(f"[routing-action] {stamp} [batch:{batch}] {text}")


def _summary(counts: Mapping[Status, int]) -> str:
    numbers = (f"{word}={counts.get(status, 0)}" for status, word in _WORDS.items())
    return f"summary({', '.join(numbers)})"


def _final_state(row: UnitResult) -> str:
    if row.outcome is Outcome.CANCELLED:
        return "cancelled"
    if row.timed_out:
        return "timeout"
    return "completed" if row.status is Status.PASS else "failed"
