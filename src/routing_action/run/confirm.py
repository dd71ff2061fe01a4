"""`run --confirm N`: only pairs that would be a regression are run again before they count."""

from __future__ import annotations

from collections.abc import Sequence

from routing_action.corpus.baseline import Baseline, Status, find_entry
from routing_action.corpus.units import Unit
from routing_action.evidence.outcome import Outcome
from routing_action.results.model import PairSummary, UnitResult, summarise_pairs


def units_to_confirm(
    rows: Sequence[UnitResult], units: Sequence[Unit], baseline: Baseline, count: int
) -> list[Unit]:
    """`count` more trials of each pair that the baseline expects to pass and that did not.

    A timeout that its entry does not allow counts too, a pair that was not run at all does not.
    Trials go on from the last one.
    """
    doubted = [
        (pair.case_id, pair.agent)
        for pair in summarise_pairs(rows)
        if _would_regress(pair, rows, baseline)
    ]
    last = {(unit.case.case_id, unit.agent): unit for unit in units}
    again = [(last[pair], step) for pair in doubted for step in range(1, count + 1)]
    return [
        Unit(len(units) + place, unit.agent, unit.case, unit.trial + step)
        for place, (unit, step) in enumerate(again)
    ]


def _would_regress(pair: PairSummary, rows: Sequence[UnitResult], baseline: Baseline) -> bool:
    entry = find_entry(baseline, (pair.case_id, pair.agent))
    if entry is None or entry.expected_status is not Status.PASS:
        return False
    own = [row for row in rows if (row.case_id, row.agent) == (pair.case_id, pair.agent)]
    if all(row.outcome is Outcome.NOT_RUN for row in own):
        return False  # what kept it from running still does
    late = any(row.timed_out for row in own)
    return pair.status is not Status.PASS or (late and not entry.allow_timeout)


def in_order(rows: Sequence[UnitResult], units: Sequence[Unit]) -> list[UnitResult]:
    """Rows in case-then-provider order, the trials of a pair side by side."""
    place: dict[tuple[str, str], int] = {}
    for unit in units:
        place.setdefault((unit.case.case_id, unit.agent), len(place))
    return sorted(rows, key=lambda row: (place[row.case_id, row.agent], row.trial))
