"""Knows which files of a repository would tell an agent what is expected of it.

It decides by paths, and knows our own reports by how they begin; files that bear another name are
for the caller to name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from routing_action.files.plain_files import read_head

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
_HEAD_BYTES = 1024
_PAGE = re.compile(rb'.{0,200}<html lang="en" data-conclusion="', re.DOTALL)
# Results and deltas have a version, and a field that no other file has beside it.
_REPORTS = {
    ".json": re.compile(
        rb'\s*\{(?=.{0,200}"schema_version").*"(?:conclusion|batch_run_id)"', re.DOTALL
    ),
    ".html": _PAGE,
    ".htm": _PAGE,
    ".md": re.compile(rb"> \[!.{0,80}\n> \*\*Routing "),
}


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
        whole = PurePosixPath(path)
        return any(str(part) in self.hidden for part in (whole, *whole.parents))

    def visible(self, paths: Iterable[str]) -> list[str]:
        """The relative paths that tell no answer: nothing hidden, no results, no report of ours."""
        allowed = without_results(path for path in paths if not self.hide(path))
        return [path for path in allowed if not _is_report(f"{self.root}/{path}")]


def without_results(paths: Iterable[str]) -> list[str]:
    """The paths that do not belong to a batch of an earlier run, wherever it was put.

    Known by their form: all below a folder that is named by a UUID v4 and
    holds `results.json` or the proof log, all below a downloaded `routing-results-KEY-aN`, every
    proof log, and the `results.json` and `transcripts/` that lie beside one.
    """
    listed = [PurePosixPath(path) for path in paths]
    hidden: set[PurePosixPath] = set()
    for path in listed:
        if path.name in _BATCH_FILES and _BATCH_NAME.fullmatch(path.parent.name):
            hidden.add(path.parent)
        if path.name == _PROOF_LOG:
            hidden.update(path.parent / beside for beside in _BESIDE_A_PROOF_LOG)
    return [str(path) for path in listed if not _is_result(path, hidden)]


def _is_result(path: PurePosixPath, hidden: set[PurePosixPath]) -> bool:
    is_hidden = not hidden.isdisjoint((path, *path.parents))
    return is_hidden or any(_ARTIFACT_NAME.fullmatch(folder.name) for folder in path.parents)


def _is_report(path: str) -> bool:
    """True for what begins as a report, wherever somebody wrote it and under whatever name."""
    beginning = _REPORTS.get(PurePosixPath(path).suffix.lower())
    return beginning is not None and bool(beginning.match(read_head(path, _HEAD_BYTES)))
