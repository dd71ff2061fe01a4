"""Units with the lines of their transcripts around the hits, within bounds, for the full reports.

Folders of artifacts are hostile: an id that is no id names no file, a link is not followed, and no
more than a part of a long file or line is read. It also sees that transcripts are what was written.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from routing_action.corpus.baseline import Status
from routing_action.errors import DocumentError
from routing_action.files.plain_files import hash_file, open_regular
from routing_action.results.batch_folder import RESULTS_FILE, TRANSCRIPTS
from routing_action.results.model import UnitResult
from routing_action.results.read import read_results, stream_rows

CONTEXT_LINES = 2
MAX_LINE_BYTES = 4000
MAX_SCANNED_BYTES = 16 * 2**20
MAX_HITS = 4
TRANSCRIPT_BUDGET = 4 * 2**20
"""Characters of transcripts that are shown of all units together."""

_BLOCK_BYTES = 64 * 2**10
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AGAIN = "run the unit again, and see in its log what changed the file"
_PLACE = re.compile(r" at stdout line ([1-9]\d{0,8})$")


class TranscriptLine(NamedTuple):
    """A line of a transcript, counted from 1; `decisive` where a hit was found in it."""

    number: int
    text: str
    decisive: bool


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """A unit with what its transcript shows around the hits; empty where nothing is known.

    `transcripts` are the files of its standard output and standard error that hold anything.
    """

    row: UnitResult
    lines: tuple[TranscriptLine, ...] = ()
    transcripts: tuple[str, ...] = ()


def stream_units(paths: Sequence[Path]) -> Iterator[UnitRecord]:
    """Each unit of the files, or of the folders' files, that `read_batches` would find.

    Of several attempts of a key only the highest is given. Units that do not pass come with the
    lines of their transcript around the hits, where it lies beside results.json. Raises
    DocumentError with the file where one cannot be read.
    """
    budget = TRANSCRIPT_BUDGET
    for file, rows in stream_rows(paths):
        for row in rows:
            is_shown = row.status is not Status.PASS and budget > 0
            lines = read_lines(file, row) if is_shown else ()
            budget -= sum(len(line.text) for line in lines)
            yield UnitRecord(row, lines, find_transcripts(file, row))


def read_lines(results_file: Path, row: UnitResult) -> tuple[TranscriptLine, ...]:
    """The lines around the row's hits, in their order; none of a transcript that was changed."""
    hits = [hit.source_detail for hit in row.token_hits.values() if hit is not None]
    wanted = sorted({int(at[1]) for hit in hits if (at := _PLACE.search(hit))})
    folder = results_file.parent / TRANSCRIPTS
    if not wanted or not _ID.fullmatch(row.unit_run_id) or folder.is_symlink():
        return ()
    try:
        check_transcripts(results_file, row)
        with open_regular(folder / f"{row.unit_run_id}.stdout") as file:
            return tuple(_lines_around(file, wanted[:MAX_HITS]))
    except (OSError, DocumentError):
        return ()


def find_transcripts(results_file: Path, row: UnitResult) -> tuple[str, ...]:
    """The transcripts of a row that lie beside results.json and hold anything, links aside."""
    folder = results_file.parent / TRANSCRIPTS
    if not _ID.fullmatch(row.unit_run_id) or folder.is_symlink():
        return ()
    start = f"{folder}/{row.unit_run_id}"
    return tuple(path for path in (f"{start}.stdout", f"{start}.stderr") if _holds_text(path))


def _holds_text(path: str) -> bool:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def _lines_around(file: BinaryIO, wanted: list[int]) -> Iterator[TranscriptLine]:
    shown = {
        number
        for place in wanted
        for number in range(place - CONTEXT_LINES, place + CONTEXT_LINES + 1)
    }
    last = max(shown)
    for number, line in _number_lines(file):
        if number in shown:
            text = line.decode("utf-8", "replace")
            yield TranscriptLine(number, text, number in wanted)
        if number >= last:
            return


def _number_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Each line with its number, without its end and cut to a bound."""
    number, line, scanned = 1, b"", 0
    while scanned < MAX_SCANNED_BYTES and (part := file.readline(_BLOCK_BYTES)):
        scanned += len(part)
        if len(line) < MAX_LINE_BYTES:
            line = (line + part)[:MAX_LINE_BYTES]
        if part.endswith(b"\n"):
            yield number, line.rstrip(b"\r\n")
            number, line = number + 1, b""
    if line:
        yield number, line


def check_transcripts(results_file: Path, row: UnitResult) -> None:
    """See that a row's transcripts are there, beside results.json, and as they were written.

    An older row, and one of a unit that was not started, says nothing of them. Raises
    DocumentError with the file and the row.
    """
    folder = results_file.parent / TRANSCRIPTS
    for stream, due in (("stdout", row.stdout_sha256), ("stderr", row.stderr_sha256)):
        path = folder / f"{row.unit_run_id}.{stream}"
        found = None
        with suppress(OSError):
            found = None if folder.is_symlink() else hash_file(path)
        if due not in (None, found):
            fault = "was changed after it was written" if found else "is missing"
            cause = f"the transcript {fault} ({row.agent}:{row.case_id})"
            raise DocumentError(cause, file=str(path), remedy=_AGAIN)


def check_stored(path: Path) -> None:
    """The same for a file that may be a transcript of a batch; any other file is accepted."""
    results_file = path.parent.parent / RESULTS_FILE
    if path.parent.name != TRANSCRIPTS or not results_file.is_file():
        return
    for row in read_results(results_file).results:
        if row.unit_run_id == path.stem:
            check_transcripts(results_file, row)
