"""Finds the transcripts of a row, and sees that they are what the harness wrote."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from routing_action.errors import DocumentError
from routing_action.files.plain_files import hash_file
from routing_action.results.batch_folder import RESULTS_FILE, TRANSCRIPTS
from routing_action.results.model import UnitResult
from routing_action.results.read import read_results

_AGAIN = "run the unit again, and see in its log what changed the file"


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
