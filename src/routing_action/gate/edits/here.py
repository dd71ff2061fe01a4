"""The files as they lie in a working tree, to be read as those of a commit are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from routing_action.corpus.influences import Influence, find_influence
from routing_action.gate.histories import History
from routing_action.git.changes import Read, Tree, list_worktree


def read_here(
    top: Path, named: Mapping[str, Influence], history: History, most_bytes: int
) -> tuple[Tree, Read]:
    """The files that are here, and how to read them and those of commits, up to a size."""
    here, contents = list_worktree(top, lambda path: find_influence(path, named) is not None)

    def read(blobs: Iterable[str]) -> dict[str, bytes]:
        wanted = set(blobs)
        known = {blob: contents[blob] for blob in wanted & contents.keys()}
        small = {blob: data for blob, data in known.items() if len(data) <= most_bytes}
        return {**history.read_blobs(wanted - known.keys(), most_bytes), **small}

    return here, read
