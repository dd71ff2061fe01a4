"""Opens a baseline for editing, or starts a new one, and writes it back in its own style."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from routing_action.corpus.cases_file import DEFAULT_CASE_FILES
from routing_action.errors import DocumentError
from routing_action.files.documents import read_bytes
from routing_action.gate.baseline_text import Changes, edit_baseline, render_baseline
from routing_action.gate.baselines import (
    DEFAULT_BASELINE_FILES,
    MAX_BASELINE_BYTES,
    NEW_BASELINE,
    Entries,
    parse_baseline,
)
from routing_action.gate.update import apply_changes
from routing_action.results.batch_folder import write_atomically


@dataclass(frozen=True, slots=True)
class OpenBaseline:
    """A baseline's entries and its text; `text` is None for a file that is to be new."""

    path: Path
    entries: Entries
    text: str | None

    @property
    def file(self) -> str:
        """The file's name as it was given."""
        return str(self.path)

    def write(self, changes: Changes) -> None:
        """Write the changes in one step; no change leaves the file alone.

        A symbolic link stays one: what it leads to is written.
        """
        if not changes:
            return
        if self.text is None:
            text = render_baseline(apply_changes(self.entries, changes))
        else:
            text = edit_baseline(self.text, changes)
        if text != self.text:
            write_atomically(Path(os.path.realpath(self.path)), text)


def open_baseline(path: Path) -> OpenBaseline:
    """An existing file; raises DocumentError where it is missing or malformed."""
    data = read_bytes(path, MAX_BASELINE_BYTES, NEW_BASELINE)
    entries = parse_baseline(data, str(path))
    return OpenBaseline(path, entries, data.decode("utf-8"))


def start_baseline(path: Path | None, root: Path) -> OpenBaseline:
    """A file that does not exist yet: the named one, or one beside the case file of `root`."""
    chosen = path or _place_beside_cases(root)
    if os.path.lexists(chosen):
        raise DocumentError(
            "exists already, and --init replaces nothing",
            file=str(chosen),
            remedy="leave --init out to update it, or name another file with --baseline FILE",
        )
    return OpenBaseline(chosen, {}, None)


def _place_beside_cases(root: Path) -> Path:
    for cases, baseline in zip(DEFAULT_CASE_FILES, DEFAULT_BASELINE_FILES, strict=True):
        if (root / baseline).is_file() or (root / cases).is_file():
            return root / baseline
    return root / DEFAULT_BASELINE_FILES[0]
