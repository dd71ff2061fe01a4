"""Streams the units of results.json files to reports, a block of rows at a time.

A file in the layout that a run writes is never held in memory as a whole; one in another layout
(hand-made, minified) is read in one piece. What is read is data: typed, and bounded by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from routing_action.errors import DocumentError
from routing_action.files.documents import read_bytes
from routing_action.results.measured import MeasuredOptions
from routing_action.results.measured_files import MAX_BYTES, find_result_files, name_batch
from routing_action.results.row_blocks import has_run_layout, split_rows
from routing_action.results.transcript_lines import Transcripts
from routing_action.results.unit_row import UnitRecord, UnitRow

TRANSCRIPT_BUDGET = 4 * 2**20
"""Characters of transcripts that are shown of all units together."""

_BOM = b"\xef\xbb\xbf"
_REMEDY = "run again, or download the artifact again: the file is not what a run writes"


class _Batch(msgspec.Struct):
    results: list[UnitRow]


class _Head(msgspec.Struct):
    options: MeasuredOptions


_BATCH = msgspec.json.Decoder(_Batch)
_HEAD = msgspec.json.Decoder(_Head)
_ROWS = msgspec.json.Decoder(list[UnitRow])


def stream_units(paths: Sequence[Path]) -> Iterator[UnitRecord]:
    """Each unit of the files, or of the folders' files, that `read_batches` would find.

    Of several attempts of a key only the highest is given. Units that do not pass come with the
    lines of their transcript around the hits, where it lies beside results.json. Raises
    DocumentError with the file where one cannot be read.
    """
    budget = TRANSCRIPT_BUDGET
    for file in _latest(find_result_files(paths)):
        transcripts = Transcripts(file, budget)
        for rows in _stream_rows(file):
            for row in rows:
                lines = () if row.status == "pass" else transcripts.read_lines(row)
                yield UnitRecord(row, lines)
        budget = transcripts.budget


def _latest(files: Sequence[Path]) -> list[Path]:
    if len(files) < 2:
        return list(files)
    named = [(file, *name_batch(file, _read_options(file))) for file in files]
    best: dict[str, int] = {}
    for _, key, attempt in named:
        best[key] = max(best.get(key, 0), attempt)
    return [file for file, key, attempt in named if attempt == best[key]]


def _read_options(file: Path) -> MeasuredOptions:
    try:
        with file.open("rb") as stream:
            head = split_rows(stream)[0] if has_run_layout(stream, MAX_BYTES) else b""
        data = head or read_bytes(file, MAX_BYTES, "")
        return _HEAD.decode(data.removeprefix(_BOM)).options
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(file, error) from None


def _stream_rows(file: Path) -> Iterator[list[UnitRow]]:
    try:
        with file.open("rb") as stream:
            if has_run_layout(stream, MAX_BYTES):
                yield from map(_ROWS.decode, split_rows(stream)[1])
                return
        yield _BATCH.decode(read_bytes(file, MAX_BYTES, "").removeprefix(_BOM)).results
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: Path, error: Exception) -> DocumentError:
    return DocumentError(f"cannot be read: {error}", file=str(file), remedy=_REMEDY)
