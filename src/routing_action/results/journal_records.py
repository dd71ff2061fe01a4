"""The records of a batch's journal, and what a row of them adds up to.

docs/reference/journal.md describes them; `journal` keeps them in a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy
from routing_action.results.model import Options, Timestamp, UnitResult, Uuid4

UnitKey: TypeAlias = tuple[str, str, int]
"""Agent, case id and trial: what a unit is, whatever attempt of it ran."""


class _Record(BaseModel):
    # Built when first used: most are for a batch that is resumed.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class PlannedUnit(_Record):
    """A unit and the id of the attempt at it."""

    unit_run_id: Uuid4
    agent: str
    case_id: str
    trial: Annotated[int, Field(ge=1)]

    @property
    def key(self) -> UnitKey:
        """What the unit is."""
        return self.agent, self.case_id, self.trial


class PlanRecord(_Record):
    """The first record: everything that a resumed batch needs to be the same batch.

    `arguments` are those of `run` that repeat it; `templates` the agents' own commands.
    """

    kind: Literal["plan"] = "plan"
    journal: Literal[1] = 1
    batch_run_id: Uuid4
    at_utc: Timestamp
    arguments: tuple[str, ...]
    templates: dict[str, str] = Field(default_factory=dict)
    options: Options
    units: tuple[PlannedUnit, ...]


class RoundRecord(_Record):
    """The units that `--confirm` runs again."""

    kind: Literal["round"] = "round"
    units: tuple[PlannedUnit, ...]


class ResumeRecord(_Record):
    """The batch goes on: the units that are missing, with the ids of their next attempts."""

    kind: Literal["resume"] = "resume"
    at_utc: Timestamp
    units: tuple[PlannedUnit, ...]


class StartRecord(_Record):
    """An attempt is about to be prepared and started."""

    kind: Literal["start"] = "start"
    unit_run_id: Uuid4
    at_utc: Timestamp


class EndRecord(_Record):
    """An attempt ended; its row is that of results.json."""

    kind: Literal["end"] = "end"
    row: UnitResult


class DoneRecord(_Record):
    """The harness ended the batch in order, and its results were on disk by then."""

    kind: Literal["done"] = "done"
    at_utc: Timestamp
    complete: bool
    exit_code: Annotated[int, Field(ge=0, le=255)]


Record: TypeAlias = PlanRecord | RoundRecord | ResumeRecord | StartRecord | EndRecord | DoneRecord
RECORD: TypeAdapter[Record] = TypeAdapter(
    Annotated[Record, Field(discriminator="kind")], config=ConfigDict(defer_build=True)
)
"""Reads a record of any kind from JSON."""


@dataclass(slots=True)
class Recovered:
    """What a journal tells: rows by what they are rows of, cancelled ones left out.

    `attempts` has the latest attempt's id of each unit, `markers` the id of every attempt,
    `started` of those that were started. `done` is None unless it is the last record.
    """

    plan: PlanRecord
    rounds: list[tuple[PlannedUnit, ...]]
    attempts: dict[UnitKey, str] = field(default_factory=dict)
    rows: dict[UnitKey, UnitResult] = field(default_factory=dict)
    markers: dict[str, UnitKey] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)
    done: DoneRecord | None = None


def apply_record(found: Recovered | None, record: Record) -> Recovered:
    """Take the next record; ValueError where it cannot follow those before it."""
    if found is None:
        if not isinstance(record, PlanRecord):
            raise ValueError("the first record must be the plan")
        found = Recovered(record, [record.units])
        _plan_units(found, record.units)
        return found
    found.done = record if isinstance(record, DoneRecord) else None
    _follow(found, record)
    return found


def _follow(found: Recovered, record: Record) -> None:
    if isinstance(record, PlanRecord):
        raise ValueError("a second plan")  # noqa: TRY004 - it is no wrong type but out of place
    if isinstance(record, RoundRecord):
        found.rounds.append(record.units)
        _plan_units(found, record.units)
    elif isinstance(record, ResumeRecord):
        _plan_attempts(found, record.units)
    elif isinstance(record, StartRecord):
        if record.unit_run_id not in found.markers:
            raise ValueError("the start of a unit that was not planned")
        found.started.add(record.unit_run_id)
    elif isinstance(record, EndRecord):
        _end(found, record.row)


def _plan_units(found: Recovered, units: tuple[PlannedUnit, ...]) -> None:
    for unit in units:
        if unit.key in found.attempts:
            raise ValueError(f"the unit {unit.agent}:{unit.case_id} is planned twice")
        _plan_attempt(found, unit)


def _plan_attempts(found: Recovered, units: tuple[PlannedUnit, ...]) -> None:
    for unit in units:
        if unit.key not in found.attempts or unit.key in found.rows:
            raise ValueError(f"the unit {unit.agent}:{unit.case_id} is not one that was missing")
        _plan_attempt(found, unit)


def _plan_attempt(found: Recovered, unit: PlannedUnit) -> None:
    if found.markers.setdefault(unit.unit_run_id, unit.key) != unit.key:
        raise ValueError(f"the id {unit.unit_run_id} is given twice")
    found.attempts[unit.key] = unit.unit_run_id


def _end(found: Recovered, row: UnitResult) -> None:
    key = (row.agent, row.case_id, row.trial)
    if found.markers.get(row.unit_run_id) != key:
        raise ValueError("the end of a unit that was not planned")
    if key in found.rows:
        raise ValueError(f"the unit {row.agent}:{row.case_id} ended twice")
    if row.outcome is not Outcome.CANCELLED and row.ended_by is not EndedBy.CANCELLED:
        found.rows[key] = row
