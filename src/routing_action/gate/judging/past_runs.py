"""Gives the rows of a delta that are worth a look the last runs of their pair."""

from __future__ import annotations

from collections.abc import Iterable

from routing_action.corpus.baseline import Pair, Status
from routing_action.gate.model import MOST_PAST_RUNS, MOST_PAST_TRIALS, Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.results.past.history import HistoryLine


def add_past_runs(delta: Delta, lines: Iterable[HistoryLine]) -> Delta:
    """The delta with the history of each row that is not simply as expected; it decides nothing."""
    wanted = {(row.case_id, row.agent) for row in delta.rows if not _is_plain(row)}
    found: dict[Pair, list[tuple[int, ...]]] = {}
    for line in lines:
        if line.pair in wanted:
            past = (min(count, MOST_PAST_TRIALS) for count in (line.passes, line.measured))
            found.setdefault(line.pair, []).append(tuple(past))
    if not found:
        return delta
    rows = tuple(
        row.model_copy(update={"history": tuple(runs[-MOST_PAST_RUNS:])})
        if (runs := found.get((row.case_id, row.agent)))
        else row
        for row in delta.rows
    )
    return delta.model_copy(update={"rows": rows})


def _is_plain(row: DeltaEntry) -> bool:
    return row.kind is DeltaKind.OK and row.got is Status.PASS and not row.flaky
