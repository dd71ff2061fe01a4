"""Knows which files of a repository would tell an agent what is expected of it.

It decides by paths alone; files that bear another name are for the caller to name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# Relative to the repository: the default places of the case file, the baseline and artifacts.
DEFAULT_ANSWER_KEYS = (
    "cases.json",
    "provider-baseline.json",
    "tests/agent-routing/cases.json",
    "tests/agent-routing/provider-baseline.json",
    "tests/agent-routing/artifacts",
    "tests/recordings",
)

_PROOF_LOG = "tool-use-proof.log"
_BATCH_FILES = frozenset({"results.json", _PROOF_LOG})
_BESIDE_A_PROOF_LOG = ("results.json", "transcripts", _PROOF_LOG)
_BATCH_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_ARTIFACT_NAME = re.compile(r"routing-results-.+-a\d+")


@dataclass(frozen=True, slots=True)
class AnswerKeys:
    """The paths that no agent may see: each with all that is below it.

    `root` is the repository's real path; `hidden` are absolute paths, as given and resolved.
    """

    root: str
    hidden: frozenset[str]

    @classmethod
    def of(cls, repository: Path, paths: Iterable[Path | str] = ()) -> AnswerKeys:
        """The default answer keys and the given paths; relative ones start at the repository."""
        root = os.path.realpath(repository)
        hidden: set[str] = set()
        for path in (*DEFAULT_ANSWER_KEYS, *paths):
            full = Path(root) / path
            hidden.update((os.path.normpath(full), os.path.realpath(full)))
        return cls(root, frozenset(hidden - {root}))

    def hide(self, relative: str) -> bool:
        """True where the path, relative to the repository with `/` between parts, is hidden."""
        return self.hide_absolute(f"{self.root.rstrip('/')}/{relative}")

    def hide_absolute(self, path: str) -> bool:
        """True where an absolute, normalised path is hidden, or lies below a hidden folder."""
        if path in self.hidden:
            return True
        end = path.rfind("/")
        while end > 0:
            if path[:end] in self.hidden:
                return True
            end = path.rfind("/", 0, end)
        return False


def without_results(paths: Iterable[str]) -> list[str]:
    """The paths that do not belong to a batch of an earlier run, wherever it was put.

    Known by their form: all below a folder that is named by a UUID v4 and
    holds `results.json` or the proof log, all below a downloaded `routing-results-KEY-aN`, every
    proof log, and the `results.json` and `transcripts/` that lie beside one.
    """
    listed = list(paths)
    hidden: set[str] = set()
    for path in listed:
        folder, _, name = path.rpartition("/")
        if name in _BATCH_FILES and _BATCH_NAME.fullmatch(folder.rpartition("/")[2]):
            hidden.add(folder)
        if name == _PROOF_LOG:
            hidden.update(f"{folder}/{beside}".lstrip("/") for beside in _BESIDE_A_PROOF_LOG)
    return [path for path in listed if not _is_result(path, hidden)]


def _is_result(path: str, hidden: set[str]) -> bool:
    parts = path.split("/")
    if any(_ARTIFACT_NAME.fullmatch(part) for part in parts[:-1]):
        return True
    return any("/".join(parts[: index + 1]) in hidden for index in range(len(parts)))
