"""Markers of legs that could not be measured: `not-measured.json` in place of results.json.

A leg writes one where it knows beforehand that it cannot run (a fork, no secret). A leg that was
simply lost leaves none, and stays an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from routing_action.files.documents import read_text, validate
from routing_action.files.json_text import JsonText
from routing_action.results.batch_folder import RESULTS_FILE

MARKER_FILE = "not-measured.json"
_LIMIT = 64 * 1024
_DEPTH = 6

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class NotMeasured(BaseModel):
    """Which provider was not measured, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: Text
    reason: Text


def read_unmeasured(folders: Sequence[Path]) -> dict[str, str]:
    """The reason of each provider with a marker somewhere below the folders."""
    reasons: dict[str, str] = {}
    for path in _find(folders, MARKER_FILE):
        document = JsonText(str(path), read_text(path, _LIMIT))
        marker = validate(NotMeasured, document, (), document.decode())
        reasons.setdefault(marker.agent, marker.reason)
    return reasons


def has_results(folders: Sequence[Path]) -> bool:
    """True where a results.json lies somewhere below the folders."""
    return next(_find(folders, RESULTS_FILE), None) is not None


def _find(folders: Sequence[Path], name: str) -> Iterator[Path]:
    for folder in folders:
        for where, below, files in os.walk(folder):
            depth = len(Path(where).relative_to(folder).parts)
            below[:] = [] if depth >= _DEPTH else sorted(b for b in below if b[:1] != ".")
            if name in files:
                yield Path(where) / name
