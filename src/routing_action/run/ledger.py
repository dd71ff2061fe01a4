"""What a batch writes into its journal, and what an earlier life of it left there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from routing_action.corpus.units import Unit
from routing_action.errors import ExitCode
from routing_action.files.redaction import Redactor
from routing_action.results.journal import Journal
from routing_action.results.journal_records import (
    DoneRecord,
    EndRecord,
    PlannedUnit,
    PlanRecord,
    Recovered,
    ResumeRecord,
    RoundRecord,
    StartRecord,
)
from routing_action.results.model import Options, Results, UnitResult
from routing_action.run.plan import Plan
from routing_action.run.ports import Ports, format_time


@dataclass(frozen=True, slots=True)
class Logbook:
    """A locked journal, and the batch that it already tells of (None: a new one).

    `arguments` are those of `run` that repeat the batch.
    """

    journal: Journal
    arguments: tuple[str, ...] = ()
    earlier: Recovered | None = None


class Ledger:
    """Keeps a batch's journal; every text that it adds itself is redacted."""

    def __init__(self, logbook: Logbook, redactor: Redactor, ports: Ports) -> None:
        """Nothing is written before `open`."""
        self._journal = logbook.journal
        self._arguments = logbook.arguments
        self._earlier = logbook.earlier
        self._redactor = redactor
        self._ports = ports
        self._rounds = 0

    def open(
        self, batch_run_id: str, plan: Plan, options: Options, templates: Mapping[str, str]
    ) -> dict[int, str]:
        """Write the plan, or that it goes on; gives the attempt's id of each unit to run."""
        if self._earlier is not None:
            return self._go_on(plan.units, self._earlier)
        ids = {unit.index: self._ports.new_id() for unit in plan.units}
        record = PlanRecord(
            batch_run_id=batch_run_id,
            at_utc=self._now(),
            arguments=tuple(self._redactor.text(word) for word in self._arguments),
            templates={name: self._redactor.text(text) for name, text in templates.items()},
            options=options,
            units=_planned(plan.units, ids),
        )
        self._journal.append(record, durable=True)
        return ids

    def begin_round(self, units: Sequence[Unit]) -> dict[int, str]:
        """Write which units are run again; gives the attempt's id of each one to run."""
        if self._earlier is not None and len(self._earlier.rounds) > 1:
            return self._go_on(units, self._earlier)
        ids = {unit.index: self._ports.new_id() for unit in units}
        if units:
            self._journal.append(RoundRecord(units=_planned(units, ids)))
        return ids

    def further_units(self, plan: Plan) -> list[Unit] | None:
        """The second round as the journal has it, None where there was none."""
        if self._earlier is None or len(self._earlier.rounds) < 2:
            return None
        cases = {case.case_id: case for case in plan.cases}
        return [
            Unit(len(plan.units) + place, unit.agent, cases[unit.case_id], unit.trial)
            for place, unit in enumerate(self._earlier.rounds[1])
        ]

    def row_of(self, unit: Unit) -> UnitResult | None:
        """The row of a unit that ended in an earlier life of the batch."""
        return self._earlier.rows.get(_key(unit)) if self._earlier else None

    def start(self, unit_run_id: str) -> None:
        """An attempt is about to be made."""
        self._journal.append(StartRecord(unit_run_id=unit_run_id, at_utc=self._now()))

    def end(self, row: UnitResult) -> None:
        """An attempt ended."""
        self._journal.append(EndRecord(row=row))

    def finish(self, results: Results, code: ExitCode) -> None:
        """The batch ended in order and its results are on disk."""
        self._journal.append(
            DoneRecord(
                at_utc=results.generated_at_utc, complete=results.complete, exit_code=int(code)
            ),
            durable=True,
        )

    def _go_on(self, units: Sequence[Unit], earlier: Recovered) -> dict[int, str]:
        """An attempt that was started keeps its id and transcripts; the next one gets its own."""
        missing = [unit for unit in units if _key(unit) not in earlier.rows]
        ids = {unit.index: self._next_id(unit, earlier) for unit in missing}
        self._journal.append(ResumeRecord(at_utc=self._now(), units=_planned(missing, ids)))
        return ids

    def _next_id(self, unit: Unit, earlier: Recovered) -> str:
        latest = earlier.attempts[_key(unit)]
        return self._ports.new_id() if latest in earlier.started else latest

    def _now(self) -> str:
        return format_time(self._ports.now())


def _key(unit: Unit) -> tuple[str, str, int]:
    return unit.agent, unit.case.case_id, unit.trial


def _planned(units: Sequence[Unit], ids: Mapping[int, str]) -> tuple[PlannedUnit, ...]:
    return tuple(
        PlannedUnit(
            unit_run_id=ids[unit.index],
            agent=unit.agent,
            case_id=unit.case.case_id,
            trial=unit.trial,
        )
        for unit in units
    )
