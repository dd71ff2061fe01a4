"""Where a commit's files come from: the checkout's own history, else GitHub's API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from routing_action.errors import HarnessError, RoutingActionError
from routing_action.git.base_commit import (
    BaseCommit,
    find_merge_base,
    read_file_at,
    resolve_commit,
)
from routing_action.git.changes import MAX_BLOB_BYTES, Entry, list_tree, read_blobs


class History(Protocol):
    """Commits and their files."""

    def find_merge_base(self, ref: str) -> BaseCommit:
        """The merge base of a ref and the tree under test."""
        ...

    def find_commit(self, ref: str) -> BaseCommit:
        """The commit that a ref names."""
        ...

    def read(self, commit: BaseCommit, path: Path) -> bytes | None:
        """A file of the working tree as it was at the commit; None: it was not there."""
        ...

    def list_tree(self, commit: str) -> Mapping[str, Entry]:
        """All files of a commit, `HEAD` included; HarnessError where that is not known."""
        ...

    def read_blobs(
        self, blobs: Iterable[str], most_bytes: int = MAX_BLOB_BYTES
    ) -> Mapping[str, bytes]:
        """The contents of files of a tree, but of those that are too large."""
        ...


@dataclass(frozen=True, slots=True)
class GitHistory:
    """What git knows here, or can fetch."""

    root: Path
    environ: Mapping[str, str]

    def find_merge_base(self, ref: str) -> BaseCommit:
        """As git finds it."""
        return find_merge_base(self.root, ref, environ=self.environ)

    def find_commit(self, ref: str) -> BaseCommit:
        """As git resolves it."""
        return resolve_commit(self.root, ref, environ=self.environ)

    def read(self, commit: BaseCommit, path: Path) -> bytes | None:
        """As git reads it."""
        return read_file_at(commit, path, environ=self.environ)

    def list_tree(self, commit: str) -> Mapping[str, Entry]:
        """As git lists it."""
        return list_tree(self.root, commit)

    def read_blobs(
        self, blobs: Iterable[str], most_bytes: int = MAX_BLOB_BYTES
    ) -> Mapping[str, bytes]:
        """As git reads them."""
        return read_blobs(self.root, blobs, most_bytes, environ=self.environ)


class FallbackHistory:
    """Asks one history, and another where the first has no way to know; then that one alone."""

    def __init__(self, first: History, open_second: Callable[[], History | None]) -> None:
        """`open_second` gives None where there is no second one."""
        self._open = open_second
        self._asked = False
        self._use(first)

    def _use(self, history: History) -> None:
        self._history = history
        self.read, self.list_tree = history.read, history.list_tree
        self.read_blobs = history.read_blobs

    def find_merge_base(self, ref: str) -> BaseCommit:
        """Of the first that knows it."""
        return self._find(lambda history: history.find_merge_base(ref))

    def find_commit(self, ref: str) -> BaseCommit:
        """Of the first that knows it."""
        return self._find(lambda history: history.find_commit(ref))

    def _find(self, ask: Callable[[History], BaseCommit]) -> BaseCommit:
        try:
            return ask(self._history)
        except HarnessError as error:
            second = None if self._asked else self._open()
            self._asked = True
            if second is None:
                raise
            try:
                found = ask(second)
            except RoutingActionError as other:
                cause = f"{error.cause}; and {other.cause}"
                raise HarnessError(cause, remedy=error.remedy) from error
            self._use(second)
            return found
