"""Finds the transcripts of a row, and sees that they are what the harness wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from routing_action.errors import DocumentError
from routing_action.files.plain_files import hash_file
from routing_action.results.batch_folder import TRANSCRIPTS
from routing_action.results.model import UnitResult

STREAMS = ("stdout", "stderr")


def find_transcript(results_file: Path, row: UnitResult, stream: str) -> Path:
    """Where the transcript of a row's `stdout` or `stderr` stands, beside results.json."""
    return results_file.parent / TRANSCRIPTS / f"{row.unit_run_id}.{stream}"


def check_transcripts(results_file: Path, row: UnitResult) -> None:
    """See that a row's transcripts are there, and as they were written.

    An older row, and one of a unit that was not started, says nothing of them. Raises
    DocumentError with the file and the row.
    """
    for cause, path in _faults(results_file, row):
        raise DocumentError(
            f"{cause} ({row.agent}:{row.case_id})",
            file=str(path),
            remedy="run the leg again, and see in its log what changed the file",
        )


def is_genuine(results_file: Path, row: UnitResult) -> bool:
    """Whether nothing is wrong with the transcripts of a row."""
    return next(_faults(results_file, row), None) is None


def _faults(results_file: Path, row: UnitResult) -> Iterator[tuple[str, Path]]:
    for stream, due in zip(STREAMS, (row.stdout_sha256, row.stderr_sha256), strict=True):
        path = find_transcript(results_file, row, stream)
        if due is None:
            continue
        try:
            found = None if path.parent.is_symlink() else hash_file(path)
        except OSError:
            found = None
        if found is None:
            yield "the transcript is missing", path
        elif found != due:
            yield "the transcript was changed after it was written", path
