"""What the history says of each pair now: the record of its newest trials."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from routing_action.corpus.baseline import Pair
from routing_action.errors import HarnessError
from routing_action.evidence.chance import Record
from routing_action.results.past.history import History, read_history

RECENT = 100
"""So many measured trials of a pair tell its rate; older ones may be of another model."""


def read_records(folder: Path | None) -> Mapping[Pair, Record]:
    """The records of a history's folder; none without one. HarnessError where it is unreadable."""
    return sum_recent(read_past(folder))


def read_past(folder: Path | None) -> History:
    """The history of a folder, an empty one without it; HarnessError where it is unreadable."""
    try:
        return read_history(folder) if folder else History()
    except OSError as error:
        raise HarnessError(
            f"the history in {folder} cannot be read: {error.strerror or error}",
            remedy="name another folder with --history, or leave the option out",
        ) from None


def sum_recent(history: History) -> Mapping[Pair, Record]:
    """Of each pair its newest runs, until they hold enough trials."""
    records: dict[Pair, Record] = {}
    for line in reversed(history.lines):
        record = records.get(line.pair, Record())
        if record.trials < RECENT:
            records[line.pair] = record + line.record
    return records
