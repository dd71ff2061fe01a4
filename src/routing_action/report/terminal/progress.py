"""Counts what becomes of a batch's units, and estimates how long the rest will take.

Shows nothing and reads no clock of its own; the clock that it is given counts seconds and never
goes back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.results.model import UnitResult

LATEST = 3
_LEAST_MEASURED = 3
_OVERDUE_SHARE = 0.25


class RunningUnit(NamedTuple):
    """A unit that runs, `provider:case`, and for how many seconds it has done so."""

    key: str
    seconds: float


class Failure(NamedTuple):
    """A unit that ended without a pass, and the kind of its failure."""

    key: str
    status: Status
    kind: str


class Progress:
    """The state of a batch; `lanes` is how many of its units run side by side at most."""

    def __init__(self, clock: Callable[[], float], lanes: int) -> None:
        self.counts = dict.fromkeys(Status, 0)
        self.cost_usd: float | None = None
        self.latest: deque[Failure] = deque(maxlen=LATEST)
        self.hurried = False
        self._clock = clock
        self._lanes = max(lanes, 1)
        self._begun = clock()
        self._ending: float | None = None
        self._queued: dict[str, str] = {}
        self._running: dict[str, tuple[str, float]] = {}
        self._durations: dict[str, list[float]] = {}

    def queue(self, unit_run_id: str, key: str) -> None:
        """A unit waits for its turn."""
        self._queued[unit_run_id] = key

    def start(self, unit_run_id: str, key: str) -> None:
        """A unit runs."""
        self._queued.pop(unit_run_id, None)
        self._running[unit_run_id] = (key, self._clock())

    def end(self, unit_run_id: str, key: str, row: UnitResult) -> None:
        """A unit came to its end, or will not run at all."""
        self._queued.pop(unit_run_id, None)
        started = self._running.pop(unit_run_id, None)
        self.counts[row.status] += 1
        if row.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + row.cost_usd
        if row.outcome is Outcome.CANCELLED:
            return
        if started is not None:
            self._durations.setdefault(_agent(key), []).append(self._clock() - started[1])
        if row.status is not Status.PASS:
            self.latest.append(Failure(key, row.status, row.failure_kind or ""))

    def stop(self, *, hurried: bool = False) -> None:
        """The batch was interrupted: what runs is being ended; `hurried`, without any grace."""
        self.hurried |= hurried
        if self._ending is None:
            self._ending = self._clock()

    @property
    def done(self) -> int:
        """Units that have ended."""
        return sum(self.counts.values())

    @property
    def total(self) -> int:
        """Every unit that is known so far."""
        return self.done + len(self._running) + len(self._queued)

    @property
    def queued(self) -> int:
        """Units that wait for their turn."""
        return len(self._queued)

    @property
    def elapsed(self) -> float:
        """Seconds since the batch began."""
        return self._clock() - self._begun

    @property
    def ending(self) -> float | None:
        """Seconds since the batch was interrupted; None where it was not."""
        return None if self._ending is None else self._clock() - self._ending

    @property
    def running(self) -> list[RunningUnit]:
        """The units that run, the one that has run longest first."""
        now = self._clock()
        units = [RunningUnit(key, now - since) for key, since in self._running.values()]
        return sorted(units, key=lambda unit: -unit.seconds)

    @property
    def remaining(self) -> float | None:
        """An estimate of the seconds that the rest takes; None until there is one.

        Known once as many units have ended as run side by side (three at least), or half of a
        small batch. A unit is expected to take what its agent's units took on average, those that
        run longer than that included: the first to end are the quick ones.
        """
        measured = sum(map(len, self._durations.values()))
        if measured < min(max(self._lanes, _LEAST_MEASURED), max(self.total // 2, 1)):
            return None
        expected = {agent: self._expected(agent) for agent in self._durations}
        mean = sum(expected.values()) / len(expected)
        left = [_left(expected.get(_agent(unit.key), mean), unit.seconds) for unit in self.running]
        work = sum(left) + sum(expected.get(_agent(key), mean) for key in self._queued.values())
        return max(work / self._lanes, max(left, default=0.0))

    def _expected(self, agent: str) -> float:
        """The seconds that a unit of an agent takes, of which one has ended."""
        ended = self._durations[agent]
        mean = sum(ended) / len(ended)
        running = [unit.seconds for unit in self.running if _agent(unit.key) == agent]
        known = [*ended, *(seconds for seconds in running if seconds > mean)]
        return sum(known) / len(known)


def _left(expected: float, elapsed: float) -> float:
    """What a running unit still takes; one that is overdue can take any time, but not none."""
    return max(expected - elapsed, expected * _OVERDUE_SHARE)


def _agent(key: str) -> str:
    return key.partition(":")[0]
