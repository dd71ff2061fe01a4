"""Tells the artifacts of a run's attempts apart, by the folders that they were downloaded into."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

ARTIFACT = re.compile(r"routing-results-(?P<key>.+)-a(?P<attempt>[1-9]\d{0,5})")


def find_artifact(path: Path) -> Path | None:
    """The outermost artifact folder that a file lies in."""
    parents = reversed(path.absolute().parents)
    return next((one for one in parents if ARTIFACT.fullmatch(one.name)), None)


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
