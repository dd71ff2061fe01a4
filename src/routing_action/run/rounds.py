"""Runs the units of a batch in one or two rounds, and keeps the rows that ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from routing_action.corpus.units import Unit
from routing_action.results.journal import Journal
from routing_action.results.model import UnitResult
from routing_action.run.confirm import in_order
from routing_action.run.lifecycle import LifecycleLog
from routing_action.run.retries import PatientRunner
from routing_action.run.scheduler import Lanes, run_units


class Rounds:
    """Each unit's row is journaled as it ends; what ended earlier is taken and not run again."""

    def __init__(
        self,
        runner: PatientRunner,
        journal: Journal,
        new_id: Callable[[], str],
        lifecycle: LifecycleLog,
        max_parallel: int,
        cancel: asyncio.Event,
        lanes: Mapping[str, int] | None = None,
    ) -> None:
        """Nothing runs before `run`; `lanes` bound how many units of an agent run at once."""
        self._runner = runner
        self._journal = journal
        self._earlier = dict(journal.earlier.rows) if journal.earlier else {}
        self._new_id = new_id
        self._lifecycle = lifecycle
        self._max_parallel = max_parallel
        self._cancel = cancel
        self._lanes: Lanes[Unit] = Lanes(lambda unit: unit.agent, lanes or {})
        self._rounds: list[list[UnitResult | None]] = []
        self._units: list[Unit] = []

    @property
    def ended(self) -> list[UnitResult]:
        """The rows so far, those of the journal too, in case-then-provider order."""
        rows = [row for rows in self._rounds for row in rows if row is not None]
        rows += self._earlier.values()
        return in_order(rows, self._units)

    @property
    def complete(self) -> bool:
        """True where every unit ended and nothing was cancelled."""
        return all(None not in rows for rows in self._rounds) and not self._cancel.is_set()

    async def run(self, units: Sequence[Unit]) -> None:
        """Run a round's units that have no row yet; an error of the harness ends it.

        What had ended is kept.
        """
        first = len(self._units)
        self._units += units
        total = len(self._units)
        rows: list[UnitResult | None] = [self._carry(unit) for unit in units]
        self._rounds.append(rows)
        missing = [unit for unit, row in zip(units, rows, strict=True) if row is None]
        ids = {unit.index: self._new_id() for unit in missing}
        for unit in missing:
            self._lifecycle.queued(ids[unit.index], unit.key)

        async def work(unit: Unit) -> UnitResult:
            unit_run_id = ids[unit.index]
            self._journal.start(unit_run_id)
            row = await self._runner.run(unit, unit_run_id, f"[{unit.index + 1}/{total}]")
            rows[unit.index - first] = row
            self._journal.end(row)
            return row

        ended: list[UnitResult | None] = [None] * len(missing)
        await run_units(missing, work, self._max_parallel, self._cancel, ended, self._lanes)

    def _carry(self, unit: Unit) -> UnitResult | None:
        row = self._earlier.pop((unit.agent, unit.case.case_id, unit.trial), None)
        if row is not None:
            self._runner.carry(row)
        return row
