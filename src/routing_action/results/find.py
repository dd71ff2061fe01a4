"""Finds what legs left in folders: results.json, or `not-measured.json` in its place.

A leg writes the latter where it knows beforehand that it cannot run (a fork, no secret). A leg that
was simply lost leaves none, and stays an error. The artifacts of a run's attempts are told apart by
the folders that they were downloaded into.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from routing_action.errors import DocumentError
from routing_action.files.documents import read_text, validate
from routing_action.files.json_text import JsonText
from routing_action.results.batch_folder import RESULTS_FILE
from routing_action.results.model import Options

ARTIFACT = re.compile(r"routing-results-(?P<key>.+)-a(?P<attempt>[1-9]\d{0,5})")
MARKER_FILE = "not-measured.json"
MAX_DEPTH = 6
MAX_FILES = 2000
NO_RESULTS = "name a batch's folder, an artifacts folder, or a results.json"
_LIMIT = 64 * 1024

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class NotMeasured(BaseModel):
    """Which provider was not measured, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: Text
    reason: Text


def read_unmeasured(folders: Sequence[Path]) -> dict[str, str]:
    """The reason of each provider with a marker somewhere below the folders."""
    reasons: dict[str, str] = {}
    for path in _find_all(folders, MARKER_FILE):
        document = JsonText(str(path), read_text(path, _LIMIT))
        marker = validate(NotMeasured, document, (), document.decode())
        reasons.setdefault(marker.agent, marker.reason)
    return reasons


def has_results(folders: Sequence[Path]) -> bool:
    """True where a results.json lies somewhere below the folders."""
    return next(_find_all(folders, RESULTS_FILE), None) is not None


def find_result_files(paths: Sequence[Path]) -> list[Path]:
    """Each results.json that a path is, or that a folder holds, once and in a stable order.

    Folders are searched `MAX_DEPTH` levels deep; hidden folders and symbolic links are passed over.
    """
    files: dict[str, Path] = {}
    for path in paths:
        found = list(_find(path, RESULTS_FILE)) if path.is_dir() else [path]
        if not found:
            cause = f"holds no {RESULTS_FILE} within {MAX_DEPTH} levels"
            raise DocumentError(cause, file=str(path), remedy=NO_RESULTS)
        files |= {os.path.realpath(file): file for file in found}
    return list(files.values())


def _find_all(folders: Sequence[Path], name: str) -> Iterator[Path]:
    return (file for folder in folders if folder.is_dir() for file in _find(folder, name))


def _find(root: Path, name: str) -> Iterator[Path]:
    """The files of a name below a folder, those of a folder before those of its own folders."""
    count = 0
    for folder, below, files in os.walk(root, onerror=_refuse):
        depth = len(Path(folder).relative_to(root).parts)
        below[:] = [] if depth >= MAX_DEPTH else sorted(one for one in below if one[:1] != ".")
        if name in files and not Path(folder, name).is_symlink():
            count += 1
            if count > MAX_FILES:
                raise DocumentError(
                    f"holds more than {MAX_FILES} files called {name}",
                    file=str(root),
                    remedy="name the folder of one run",
                )
            yield Path(folder, name)


def _refuse(error: OSError) -> None:
    raise DocumentError(
        f"cannot be listed: {error.strerror}", file=str(error.filename), remedy=NO_RESULTS
    )


def list_batches(root: Path) -> list[Path]:
    """The batches of an artifacts root that have results, the one with the newest first."""
    found = [path for path in root.glob(f"*/{RESULTS_FILE}") if path.is_file()]
    return [path.parent for path in sorted(found, key=_age)]


def _age(path: Path) -> tuple[float, str]:
    return -path.stat().st_mtime, str(path)


def find_artifact(path: Path) -> Path | None:
    """The outermost artifact folder that a file lies in."""
    parents = reversed(path.absolute().parents)
    return next((one for one in parents if ARTIFACT.fullmatch(one.name)), None)


def name_batch(path: Path, options: Options) -> tuple[str, int]:
    """The key and attempt of a batch: its artifact's, else those that it was planned with."""
    artifact = find_artifact(path)
    match = ARTIFACT.fullmatch(artifact.name) if artifact else None
    if match:
        return match["key"], int(match["attempt"])
    return options.matrix_key or ",".join(options.agents), options.attempt


def split_attempts(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The files that count, and those of artifacts that a later attempt of their leg replaced."""
    named: dict[Path, tuple[Path, int]] = {}
    for file in files:
        artifact = find_artifact(file)
        if artifact is not None and (match := ARTIFACT.fullmatch(artifact.name)):
            named[file] = artifact.with_name(match["key"]), int(match["attempt"])
    last: dict[Path, int] = {}
    for leg, attempt in named.values():
        last[leg] = max(last.get(leg, 0), attempt)
    older = [file for file, (leg, attempt) in named.items() if attempt < last[leg]]
    return [file for file in files if file not in older], older
