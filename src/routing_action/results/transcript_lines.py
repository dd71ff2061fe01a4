"""Cuts out of a unit's transcript the lines around its hits, within bounds.

Folders of artifacts are hostile: an id that is no id names no file, a link is not followed, and no
more than a part of a long file or line is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from routing_action.results.batch_folder import TRANSCRIPTS
from routing_action.results.unit_row import TranscriptLine, UnitRow

CONTEXT_LINES = 2
MAX_LINE_BYTES = 4000
MAX_SCANNED_BYTES = 16 * 2**20
MAX_HITS = 4

_BLOCK_BYTES = 64 * 2**10
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PLACE = re.compile(r" at stdout line ([1-9]\d{0,8})$")


class Transcripts:
    """The transcripts beside one results.json; `budget` is how many characters it gives in all."""

    def __init__(self, results_file: Path, budget: int) -> None:
        folder = results_file.parent / TRANSCRIPTS
        self._folder = folder if folder.is_dir() and not folder.is_symlink() else None
        self.budget = budget

    def read_lines(self, row: UnitRow) -> tuple[TranscriptLine, ...]:
        """The lines around the row's hits, in their order; empty where there are none."""
        wanted = sorted(set(_hit_lines(row)))[:MAX_HITS]
        if (
            not wanted
            or self._folder is None
            or self.budget <= 0
            or not _ID.fullmatch(row.unit_run_id)
        ):
            return ()
        path = self._folder / f"{row.unit_run_id}.stdout"
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                found = tuple(_lines_around(file, wanted))
        except OSError:
            return ()
        self.budget -= sum(len(line.text) for line in found)
        return found


def _hit_lines(row: UnitRow) -> Iterator[int]:
    for hit in row.token_hits.values():
        match = _PLACE.search(hit.source_detail) if hit is not None else None
        if match:
            yield int(match[1])


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
