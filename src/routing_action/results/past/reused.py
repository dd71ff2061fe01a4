"""Says which line of the history may stand for a pair, for the run and for the gate alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from pydantic import ValidationError

from routing_action.corpus.baseline import Pair
from routing_action.results.model import ReusedFrom
from routing_action.results.past.history import HistoryLine


def find_standing(
    lines: Iterable[HistoryLine], now: datetime, days: int
) -> Mapping[Pair, HistoryLine]:
    """The newest line of each pair, where it may stand for a run of now.

    It is of the last `days`, and every trial passed. So did those of every other line of these
    days with the same fingerprint: else the pair is flaky. `lines` are in the order of time.
    """
    newest: dict[Pair, HistoryLine] = {}
    weak: set[tuple[Pair, str | None]] = set()
    for line in lines:
        if is_within(line, now, days):
            newest[line.pair] = line
            if not may_stand(line):
                weak.add((line.pair, line.fingerprint))
    return {pair: line for pair, line in newest.items() if (pair, line.fingerprint) not in weak}


def is_within(line: HistoryLine, now: datetime, days: int) -> bool:
    """Whether a line was measured in so many days before a moment."""
    end = now.astimezone(UTC)
    start = end - timedelta(days=days)
    return start.isoformat() <= line.at.removesuffix("Z") <= end.isoformat()


def may_stand(line: HistoryLine) -> bool:
    """Whether every trial was measured and passed, and the line says of what."""
    try:
        name_source(line)
    except ValidationError:
        return False
    return bool(line.fingerprint) and 0 < line.trials == line.passes


def name_source(line: HistoryLine) -> ReusedFrom:
    """What a row says of the line that stands for it; ValidationError where it cannot."""
    return ReusedFrom(run=line.run, batch=line.batch, at=line.at, commit=line.commit)
