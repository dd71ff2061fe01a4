"""Reads results.json; every error names file, line or field."""

from __future__ import annotations

from pathlib import Path

from routing_action.errors import DocumentError
from routing_action.files.documents import read_text, validate
from routing_action.files.json_text import JsonText
from routing_action.results.model import Results

MAX_RESULTS_BYTES = 256 * 2**20


def read_results(path: Path) -> Results:
    """A results.json of this schema version, its counts checked."""
    text = read_text(path, MAX_RESULTS_BYTES, remedy="run `routing-action run` first")
    document = JsonText(str(path), text)
    value = document.decode()
    version = value.get("schema_version") if isinstance(value, dict) else None
    if version != 1:
        raise DocumentError(
            f"schema_version is {version!r}, this release reads 1",
            file=str(path),
            field="schema_version",
            remedy="use the release of routing-action that wrote it",
        )
    return validate(Results, document, (), value)
