"""Reads delta.json: what `compare` wrote, or what an artifact of another job claims it did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from routing_action.errors import DocumentError
from routing_action.files.documents import read_text, validate
from routing_action.files.json_text import JsonText
from routing_action.files.program import own_program
from routing_action.files.versions import check_version
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import DELTA_SCHEMA_VERSION, Delta

DELTA_FILE = "delta.json"
MAX_DELTA_BYTES = 256 * 2**20


def read_delta(path: Path) -> Delta:
    """A delta of this schema version whose counts are those of its rows.

    Raises DocumentError with file, field, line where known, and the remedy.
    """
    file = str(path)
    again = f"write it again: `{own_program()} compare`"
    document = JsonText(file, read_text(path, MAX_DELTA_BYTES, remedy=again))
    value = document.decode()
    if not isinstance(value, dict):
        raise DocumentError("must be an object", file=file, line=1, remedy=again)
    line = document.line_of(["schema_version"])
    check_version(value, "schema_version", DELTA_SCHEMA_VERSION, file=file, line=line)
    return validate(Delta, document, (), value, remedy=again)


def reject(delta: Delta, reasons: Sequence[str]) -> Delta:
    """The delta made red by what is wrong with its results, which explains all else: it is first.

    Without reasons it stays as it is.
    """
    if not reasons:
        return delta
    changed = {
        "conclusion": Conclusion.FAILURE,
        "reasons": (*reasons, *delta.reasons),
        "errors": (*reasons, *delta.errors),
    }
    return delta.model_copy(update=changed)
