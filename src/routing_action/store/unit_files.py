"""Streams the units of results.json files to reports, a block of rows at a time.

A file in the layout that a run writes is never held in memory as a whole; one in another layout
(hand-made, minified) is read in one piece. What is read is data: typed, and bounded by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from routing_action.domain.measured import MeasuredOptions
from routing_action.domain.unit_row import UnitRecord, UnitRow
from routing_action.errors import DocumentError
from routing_action.store.documents import read_bytes
from routing_action.store.measured_files import MAX_BYTES, find_result_files, name_batch
from routing_action.store.transcript_lines import Transcripts

TRANSCRIPT_BUDGET = 4 * 2**20
"""Characters of transcripts that are shown of all units together."""

_BLOCK_BYTES = 2**20
_HEAD_END = b'\n  "results": [\n'
_ROW_END = b"\n    },\n"
_FILE_END = b"\n  ]\n}"
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
            head = _read_head(stream)[0] if _has_our_layout(stream) else b""
        # The head ends with the opening bracket of the rows.
        data = head + b"]}" if head else read_bytes(file, MAX_BYTES, "")
        return _HEAD.decode(data.removeprefix(_BOM)).options
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(file, error) from None


def _stream_rows(file: Path) -> Iterator[list[UnitRow]]:
    try:
        with file.open("rb") as stream:
            if _has_our_layout(stream):
                yield from map(_ROWS.decode, _row_blocks(stream))
                return
        yield _BATCH.decode(read_bytes(file, MAX_BYTES, "").removeprefix(_BOM)).results
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(file, error) from None


def _has_our_layout(stream: BinaryIO) -> bool:
    """Whether the rows stand last and indented by four; only a line's start can look like it.

    A JSON string holds no raw line end, so what is looked for cannot occur inside one.
    """
    size = stream.seek(0, 2)
    stream.seek(max(0, size - 64))
    ends = stream.read().rstrip().endswith(b"\n    }" + _FILE_END)
    stream.seek(0)
    starts = stream.read(64).startswith(b'{\n  "')
    stream.seek(0)
    return ends and starts and size <= MAX_BYTES


def _read_head(stream: BinaryIO) -> tuple[bytes, bytes]:
    """All up to and including the opening bracket of the rows, and what was read behind it."""
    data = b""
    while block := stream.read(_BLOCK_BYTES):
        searched = max(0, len(data) - len(_HEAD_END))
        data += block
        place = data.find(_HEAD_END, searched)
        if place >= 0:
            cut = place + len(_HEAD_END)
            return data[:cut], data[cut:]
    raise msgspec.DecodeError("there is no list of results")


def _row_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Lists of whole rows, as JSON."""
    rest = _read_head(stream)[1]
    while block := stream.read(_BLOCK_BYTES):
        rest += block
        cut = rest.rfind(_ROW_END)
        if cut >= 0:
            end = cut + len(_ROW_END)
            yield b"[" + rest[: end - 2] + b"]"
            rest = rest[end:]
    yield b"[" + rest.rstrip().removesuffix(_FILE_END) + b"]"


def _unreadable(file: Path, error: Exception) -> DocumentError:
    return DocumentError(f"cannot be read: {error}", file=str(file), remedy=_REMEDY)
