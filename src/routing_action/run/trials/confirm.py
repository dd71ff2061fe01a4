"""Which pairs get more trials before they count: a fixed number, or as few as decide.

The gate judges what was measured by itself: nothing here is a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from routing_action.corpus.baseline import (
    Baseline,
    BaselineEntry,
    Pair,
    Status,
    count_passing,
    find_entry,
)
from routing_action.corpus.units import Unit
from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import Finding, Sequential, believe
from routing_action.evidence.outcome import Outcome
from routing_action.results.measured import MeasuredPair, sum_up
from routing_action.results.model import UnitResult

MOST_LOST = 3
"""After so many trials that could not be measured a pair gets no more of them."""
_NOT_REPEATED = (Outcome.NOT_RUN, Outcome.NOT_MEASURABLE)


@dataclass(frozen=True, slots=True)
class Confirming:
    """What `--confirm` asks for: `count` more trials, or with `sequential` until it is decided.

    Pairs near an edited skill get `look` trials at once.
    """

    count: int = 0
    sequential: Sequential | None = None
    look: int = 1

    @property
    def waves(self) -> int:
        """How often more units may follow."""
        return self.sequential.max_confirm if self.sequential else min(self.count, 1)

    @property
    def most(self) -> int:
        """How many more trials a pair gets at most."""
        return self.sequential.max_confirm if self.sequential else self.count

    def describe(self) -> dict[str, Any]:
        """The fields of a batch's options."""
        return {
            "confirm": "auto" if self.sequential else self.count,
            "look": self.look,
            **(asdict(self.sequential) if self.sequential else {}),
        }


@dataclass(frozen=True, slots=True)
class Confirm:
    """By what more trials are asked for: the baseline, and the `records` of the history."""

    asked: Confirming = field(default_factory=Confirming)
    baseline: Baseline = field(default_factory=dict)
    records: Mapping[Pair, Record] = field(default_factory=dict)

    def next_units(
        self,
        rows: Sequence[UnitResult],
        units: Sequence[Unit],
        stopped: Collection[str] = (),
    ) -> list[Unit]:
        """More trials of the pairs that the baseline expects to pass and that did not.

        A timeout that its entry does not allow counts too. Not repeated are pairs that were not run
        at all, or whose output can show no load, and those of `stopped` agents: the cause is known.
        The trials are numbered from the last one on.
        """
        step = 1 if self.asked.sequential else self.asked.count
        last = {(unit.case.case_id, unit.agent): unit for unit in units}
        again = [
            (last[pair], more)
            for pair, own in _group(rows).items()
            if pair[1] not in stopped and self._is_open(pair, own)
            for more in range(1, step + 1)
        ]
        return [
            Unit(len(units) + place, unit.agent, unit.case, unit.trial + more)
            for place, (unit, more) in enumerate(again)
        ]

    def find_red(self, rows: Sequence[UnitResult]) -> str:
        """The first pair that is proven red, in words; "" where none is.

        Its baseline expects it to pass, and no more trials are to come.
        """
        for pair, own in _group(rows).items():
            if self._is_red(pair, own):
                measured = sum_up(pair, own)
                failed = measured.measured - measured.passed
                return f"{pair[1]}:{pair[0]} failed {failed} of {measured.measured}"
        return ""

    def _is_red(self, pair: Pair, rows: Sequence[UnitResult]) -> bool:
        entry = find_entry(self.baseline, pair)
        if entry is None or entry.expected_status is not Status.PASS:
            return False
        measured = sum_up(pair, rows)
        if self.asked.sequential is None:
            return measured.status is Status.FAIL
        return self._judge(pair, measured, entry) is Finding.WORSE

    def _judge(self, pair: Pair, measured: MeasuredPair, entry: BaselineEntry) -> Finding | None:
        """What the test of `--confirm auto` says; None without one."""
        if self.asked.sequential is None:
            return None
        belief = believe(
            self.records.get(pair, Record()), entry.flaky.rate if entry.flaky else None
        )
        failed = measured.list_failed(allow_timeout=entry.allow_timeout)
        return self.asked.sequential.judge(belief, count_passing(self.baseline), failed)

    def _is_open(self, pair: Pair, rows: Sequence[UnitResult]) -> bool:
        """Whether more trials of a pair can change its verdict."""
        entry = find_entry(self.baseline, pair)
        if entry is None or entry.expected_status is not Status.PASS:
            return False
        if all(row.outcome in _NOT_REPEATED for row in rows):
            return False  # what kept it from running still does
        measured = sum_up(pair, rows)
        late = measured.timed_out and not entry.allow_timeout
        if self.asked.sequential is None:
            return measured.status is not Status.PASS or late
        lost = measured.trials - measured.measured
        failed = measured.list_failed(allow_timeout=entry.allow_timeout)
        if lost >= MOST_LOST or (failed and not any(failed)):
            return False
        return self._judge(pair, measured, entry) is Finding.OPEN


def add_looks(units: Sequence[Unit], case_ids: Collection[str], look: int) -> tuple[Unit, ...]:
    """The units, with as many trials of these cases' pairs as are to be looked at, at once."""
    last = {(unit.agent, unit.case.case_id): unit for unit in units}
    more = [
        (unit, trial)
        for unit in last.values()
        if unit.case.case_id in case_ids
        for trial in range(unit.trial + 1, look + 1)
    ]
    return (
        *units,
        *(
            Unit(len(units) + place, unit.agent, unit.case, trial)
            for place, (unit, trial) in enumerate(more)
        ),
    )


def _group(rows: Sequence[UnitResult]) -> dict[Pair, list[UnitResult]]:
    trials: dict[Pair, list[UnitResult]] = {}
    for row in rows:
        trials.setdefault((row.case_id, row.agent), []).append(row)
    return trials
