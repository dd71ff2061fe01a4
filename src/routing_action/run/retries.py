"""Runs a unit, and once more where its service asks for fewer calls; nothing else is repeated."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from routing_action.corpus.units import Unit
from routing_action.evidence.transcript import EndedBy, Reading
from routing_action.results.model import UnitResult, UsageTotals
from routing_action.run.throttling import is_retried, pause_seconds
from routing_action.run.unit import UnitRunner


class PatientRunner:
    """Runs units to their final row, and tells the lifecycle log of them."""

    def __init__(self, runner: UnitRunner, throttle_retries: int) -> None:
        """At most so many retries for each unit; what ran is told to the runner's brakes."""
        self._runner = runner
        self._most = throttle_retries
        self._lifecycle = runner.lifecycle
        self._brakes = runner.brakes

    async def run(self, unit: Unit, unit_run_id: str, place: str) -> UnitResult:
        """Run a unit to its end; `place` is its `[n/N]` for the log."""
        if not self._brakes.refusal(unit.agent):
            self._lifecycle.running(unit_run_id, unit.key, place)
        earlier: list[UnitResult] = []
        row, reading = await self._runner.run(unit, unit_run_id)
        while (pause := self._pause_of(unit, row, reading, len(earlier))) is not None:
            if await self._interrupted_in(pause):
                row = row.model_copy(update={"ended_by": EndedBy.CANCELLED})
                break
            if self._brakes.refusal(unit.agent):
                break
            earlier.append(row)
            row, reading = await self._runner.run(unit, unit_run_id)
        row = merge_attempts(row, earlier)
        self._lifecycle.ended(unit.key, row)
        self._brakes.judge(row)
        return row

    def carry(self, row: UnitResult) -> None:
        """Take note of a unit that ended in an earlier life of the batch."""
        self._brakes.carry(row)

    def _pause_of(
        self, unit: Unit, row: UnitResult, reading: Reading, retries: int
    ) -> float | None:
        """How long to wait before the unit is run again; None where it is not."""
        if retries >= self._most or not is_retried(row.status, row.outcome, reading, row.ended_by):
            return None
        pause = pause_seconds(retries, reading.retry_after)
        if pause is None or self._brakes.refusal(unit.agent):
            return None
        count = f"{retries + 1} of {self._most}"
        self._lifecycle.note(f"{unit.key}: {row.outcome.value}, again in {pause:g} s ({count})")
        return pause

    async def _interrupted_in(self, seconds: float) -> bool:
        """Wait so long; True at once where the batch is interrupted meanwhile."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._runner.cancel.wait(), seconds)
        return self._runner.cancel.is_set()


def merge_attempts(last: UnitResult, earlier: Sequence[UnitResult]) -> UnitResult:
    """The last attempt's row, with what all of them used and cost, and how many there were.

    Verdict, times, transcripts and everything else are those of the last attempt.
    """
    if not earlier:
        return last
    attempts = (*earlier, last)
    count = len(earlier)
    outcomes = ", ".join(row.outcome.value for row in earlier)
    note = f"tried again {count} time{'s' if count > 1 else ''} after: {outcomes}"
    return last.model_copy(
        update={
            "throttle_retries": count,
            "usage": _add_usage([row.usage for row in attempts]),
            "cost_usd": _add([row.cost_usd for row in attempts]),
            "notes": (*last.notes, note),
        }
    )


def _add_usage(parts: Sequence[UsageTotals | None]) -> UsageTotals | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return UsageTotals.model_validate(
        {name: _add([getattr(one, name) for one in known]) for name in UsageTotals.model_fields}
    )


def _add(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
