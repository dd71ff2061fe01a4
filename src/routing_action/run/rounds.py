"""Runs the units of a batch side by side, in rounds, and keeps the rows that ended.

A unit is tried again only where its service asked for fewer calls; docs/how-to/
throttling-and-lanes.md, 'Throttling', is the source of that rule.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress

from routing_action.corpus.baseline import Pair, Status
from routing_action.corpus.units import Unit
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import LONGEST_PAUSE, EndedBy, Reading
from routing_action.results.journal import Journal
from routing_action.results.model import UnitResult, UsageTotals
from routing_action.results.past.history import HistoryLine
from routing_action.run.readiness.preflight import Obstacle
from routing_action.run.reuse.reusable import build_reused_row
from routing_action.run.unit import UnitRunner

FIRST_PAUSE_SECONDS = 5.0


class Rounds:
    """Each unit's row is journaled as it ends; what ended earlier is taken and not run again."""

    def __init__(
        self,
        runner: UnitRunner,
        journal: Journal,
        lanes: Mapping[str, int],
        obstacles: Mapping[str, Obstacle],
        reusable: Mapping[Pair, HistoryLine],
    ) -> None:
        """Nothing runs before `run`; `lanes` bound how many units of an agent run at once.

        No unit of an agent with one of the `obstacles` is started, nor one of a `reusable` pair.
        """
        self._runner = runner
        self._journal = journal
        self._earlier = dict(journal.earlier.rows) if journal.earlier else {}
        self._lanes = lanes
        self._obstacles = obstacles
        self._reusable = reusable
        self._cancel = runner.parts.stop.cancel
        self._units: list[Unit] = []
        self._rows: dict[int, UnitResult] = {}

    @property
    def ended(self) -> list[UnitResult]:
        """The rows so far, those of the journal too, in case-then-provider order."""
        return in_order([*self._rows.values(), *self._earlier.values()], self._sorted)

    @property
    def measured(self) -> list[UnitResult]:
        """The rows of the units that were asked for, in the same order."""
        return in_order([*self._rows.values()], self._sorted)

    @property
    def _sorted(self) -> list[Unit]:
        return sorted(self._units, key=lambda unit: unit.index)

    @property
    def complete(self) -> bool:
        """True where every unit ended and nothing was cancelled."""
        return len(self._rows) == len(self._units) and not self._cancel.is_set()

    async def run(self, units: Sequence[Unit]) -> None:
        """Run a round's units that have no row yet; an error of the harness ends it.

        What had ended is kept.
        """
        self._units += units
        ids: dict[int, str] = {}
        for unit in units:
            row = self._earlier.pop((unit.agent, unit.case.case_id, unit.trial), None)
            if row is not None:
                self._rows[unit.index] = row
                self._runner.brakes.carry(row)
                self._runner.lifecycle.carry(row)
                continue
            unit_run_id = self._runner.parts.ports.new_id()
            if unit.agent in self._obstacles:
                self._give_up(unit, unit_run_id)
                continue
            line = self._reusable.get((unit.case.case_id, unit.agent))
            if line is not None:
                self._keep(unit, build_reused_row(unit, unit_run_id, line))
                continue
            ids[unit.index] = unit_run_id
            self._runner.lifecycle.queued(ids[unit.index], unit.key)

        async def work(unit: Unit) -> None:
            unit_run_id = ids[unit.index]
            self._journal.start(unit_run_id)
            row = await self._run_to_end(unit, unit_run_id)
            self._rows[unit.index] = row
            self._journal.end(row)

        missing = [unit for unit in units if unit.index in ids]
        most = self._runner.settings.limits.max_parallel
        turn = self._runner.brakes.turn
        await run_units(missing, work, most, self._lanes, self._cancel, turn)

    def _give_up(self, unit: Unit, unit_run_id: str) -> None:
        """The row of a unit whose agent cannot work; the log has said that once for all of them."""
        why = self._obstacles[unit.agent]
        row = self._runner.not_run(unit, unit_run_id, str(why), missing=why.is_missing_cli)
        self._keep(unit, row)
        self._runner.brakes.judge(row)

    def _keep(self, unit: Unit, row: UnitResult) -> None:
        """Take the row of a unit that is not started."""
        self._rows[unit.index] = row
        self._journal.start(row.unit_run_id)
        self._journal.end(row)
        self._runner.lifecycle.carry(row)

    async def _run_to_end(self, unit: Unit, unit_run_id: str) -> UnitResult:
        """A unit's last row, after its retries."""
        runner, lifecycle = self._runner, self._runner.lifecycle
        if not runner.brakes.refusal(unit.agent):
            lifecycle.running(unit_run_id, unit.key)
        earlier: list[UnitResult] = []
        row, reading = await runner.run(unit, unit_run_id)
        while (pause := self._pause_of(unit, row, reading, len(earlier))) is not None:
            if await self._interrupted_in(pause):
                row = row.model_copy(update={"ended_by": EndedBy.CANCELLED})
                break
            if runner.brakes.refusal(unit.agent):
                break
            earlier.append(row)
            row, reading = await runner.run(unit, unit_run_id)
        row = merge_attempts(row, earlier)
        lifecycle.ended(unit.key, row)
        runner.brakes.judge(row, reading)
        return row

    def _pause_of(
        self, unit: Unit, row: UnitResult, reading: Reading, retries: int
    ) -> float | None:
        """Seconds until the unit is run again; None where it is not."""
        settings = self._runner.settings
        most = 0 if settings.replay else settings.limits.throttle_retries
        if retries >= most or not is_retried(row.status, row.outcome, reading, row.ended_by):
            return None
        pause = pause_seconds(retries, reading.retry_after)
        if pause is None or self._runner.brakes.refusal(unit.agent):
            return None
        count = f"{retries + 1} of {most}"
        note = f"{unit.key}: {row.outcome.value}, again in {pause:g} s ({count})"
        self._runner.lifecycle.note(note)
        return pause

    async def _interrupted_in(self, seconds: float) -> bool:
        """Wait so long; True at once where the batch is interrupted meanwhile."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._cancel.wait(), seconds)
        return self._cancel.is_set()


async def run_units(
    units: Sequence[Unit],
    work: Callable[[Unit], Awaitable[None]],
    max_parallel: int,
    lanes: Mapping[str, int],
    cancel: asyncio.Event,
    turn: Callable[[str], AbstractAsyncContextManager[None]] = lambda _: nullcontext(),
) -> None:
    """Run `work` on every unit, at most `max_parallel` at once and within each agent's lane.

    A unit takes a slot once its lane has room and its agent's `turn` has come, so that a full lane
    holds up no other. No unit starts once the batch is cancelled. A worker's error cancels the
    batch: the other workers are stopped and waited for, then it is raised.
    """
    slots = asyncio.Semaphore(max_parallel)
    # A lane without any room would wait for ever.
    rooms = {
        agent: asyncio.Semaphore(max(1, lanes.get(agent, max_parallel)))
        for agent in {unit.agent for unit in units}
    }

    async def run_one(unit: Unit) -> None:
        async with rooms[unit.agent], turn(unit.agent), slots:
            if cancel.is_set():
                return
            try:
                await work(unit)
            except BaseException:
                cancel.set()
                raise

    try:
        async with asyncio.TaskGroup() as group:
            for unit in units:
                group.create_task(run_one(unit))
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


def in_order(rows: Sequence[UnitResult], units: Sequence[Unit]) -> list[UnitResult]:
    """Rows in case-then-provider order, the trials of a pair side by side."""
    place: dict[tuple[str, str], int] = {}
    for unit in units:
        place.setdefault((unit.case.case_id, unit.agent), len(place))
    return sorted(rows, key=lambda row: (place[row.case_id, row.agent], row.trial))


# ---- throttling


def is_retried(status: Status, outcome: Outcome, reading: Reading, ended_by: EndedBy) -> bool:
    """True where nothing was measured and the service asked for fewer calls.

    Never where the run gave a verdict, nor where a deadline of ours or an interrupt ended it: the
    agent has then used all of its time.
    """
    return (
        status is Status.INFRA_ERROR
        and outcome in (Outcome.RATE_LIMIT, Outcome.SERVER_ERROR)
        and reading.throttled
        and ended_by in (EndedBy.EXIT, EndedBy.TERMINAL_GRACE)
    )


def pause_seconds(retries: int, retry_after: float | None) -> float | None:
    """How long to wait before the next retry, after so many; None where it is not worth it.

    What the service asked for is kept to; more than two minutes of it are not waited for. Without
    it: 5 seconds, then twice as long each time, at most two minutes.
    """
    if retry_after is not None:
        return retry_after if retry_after <= LONGEST_PAUSE else None
    return float(min(FIRST_PAUSE_SECONDS * 2 ** min(retries, 10), LONGEST_PAUSE))


def merge_attempts(last: UnitResult, earlier: Sequence[UnitResult]) -> UnitResult:
    """The last attempt's row, with what all of them used and cost, and how many there were.

    Verdict, times, transcripts and everything else are those of the last attempt.
    """
    if not earlier:
        return last
    attempts = (*earlier, last)
    usages = [row.usage for row in attempts if row.usage is not None]
    usage = {
        name: _add([getattr(one, name) for one in usages]) for name in UsageTotals.model_fields
    }
    count = len(earlier)
    outcomes = ", ".join(row.outcome.value for row in earlier)
    note = f"tried again {count} time{'s' if count > 1 else ''} after: {outcomes}"
    return last.model_copy(
        update={
            "throttle_retries": count,
            "usage": UsageTotals.model_validate(usage) if usages else None,
            "cost_usd": _add([row.cost_usd for row in attempts]),
            "notes": (*last.notes, note),
        }
    )


def _add(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
