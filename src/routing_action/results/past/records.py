"""What the history says of each pair now: the record of its newest trials."""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import lru_cache
from pathlib import Path

from routing_action.corpus.baseline import Pair
from routing_action.errors import HarnessError
from routing_action.evidence.chance import Record
from routing_action.results.past.history import History, read_history

RECENT = 100
"""So many measured trials of a pair tell its rate; older ones may be of another model."""


def read_records(folder: Path | None, judged: Container[str] = ()) -> Mapping[Pair, Record]:
    """The records of a history's folder without the batches that are judged; none without one.

    HarnessError where it is unreadable.
    """
    return sum_recent(read_past(folder).without(judged))


def read_past(folder: Path | None) -> History:
    """The history of a folder, an empty one without it; HarnessError where it is unreadable.

    A run asks for it in several places: it is read anew only if a file has changed.
    """
    if folder is None:
        return History()
    try:
        stats = [file.stat() for file in sorted(folder.glob("*.jsonl"))]
        return _read(folder, tuple((one.st_ino, one.st_size, one.st_mtime_ns) for one in stats))
    except OSError as error:
        raise HarnessError(
            f"the history in {folder} cannot be read: {error.strerror or error}",
            remedy="name another folder with --history, or leave the option out",
        ) from None


@lru_cache(maxsize=1)
def _read(folder: Path, _state: tuple[tuple[int, ...], ...]) -> History:
    return read_history(folder)


def sum_recent(history: History) -> Mapping[Pair, Record]:
    """Of each pair its newest runs, until they hold enough trials."""
    records: dict[Pair, Record] = {}
    for line in reversed(history.lines):
        record = records.get(line.pair, Record())
        if record.trials < RECENT:
            records[line.pair] = record + line.record
    return records
