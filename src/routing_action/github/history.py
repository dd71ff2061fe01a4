"""The merge base and files at a commit by GitHub's API, where a checkout has no history of its own.

Sources: "Compare two commits" and "Get repository content" of GitHub's REST API.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from routing_action.errors import HarnessError
from routing_action.git.base_commit import BaseCommit
from routing_action.git.changes import MAX_BLOB_BYTES, Entry
from routing_action.github.failures import ApiError, asking

if TYPE_CHECKING:
    from github.Commit import Commit
    from github.Comparison import Comparison
    from github.Repository import Repository

_DEEPEN = "check out with `fetch-depth: 0` and `persist-credentials: true`"


@dataclass(frozen=True, slots=True)
class ApiHistory:
    """What GitHub knows of a repository; `head` is the commit that is checked out at `root`."""

    repository: Repository
    root: Path
    head: str

    def find_merge_base(self, ref: str) -> BaseCommit:
        """GitHub's merge base of the ref and the checked-out commit."""
        name = _branch(ref)
        how = f"merge base of {name} and {self.head[:12]}, by GitHub's API"
        return self._compare(name, self.head, lambda found: found.merge_base_commit, how)

    def find_commit(self, ref: str) -> BaseCommit:
        """The commit that GitHub knows by the ref."""
        name = _branch(ref)
        how = f"commit that {name} names on GitHub"
        return self._compare(name, name, lambda found: found.base_commit, how)

    def _compare(
        self, base: str, head: str, pick: Callable[[Comparison], Commit], how: str
    ) -> BaseCommit:
        try:
            with asking(f"compare {base} and {head[:12]}", "contents: read"):
                # One commit of the list is enough: it is not looked at.
                found = self.repository.compare(base, head, comparison_commits_per_page=1)
                commit = pick(found)
                date = commit.commit.committer.date.strftime("%Y-%m-%dT%H:%M:%SZ")
                return BaseCommit(commit.sha, date, how)
        except ApiError as error:
            if error.status != 404:
                raise
            cause = f"GitHub knows no {base} and {head[:12]} with a commit in common"
            raise HarnessError(cause, remedy=_DEEPEN) from None

    def list_tree(self, commit: str) -> Mapping[str, Entry]:
        """Not asked of GitHub, whose lists are cut: HarnessError."""
        raise HarnessError("the checkout has no history of its own", remedy=_DEEPEN)

    def read_blobs(
        self, blobs: Iterable[str], most_bytes: int = MAX_BLOB_BYTES
    ) -> Mapping[str, bytes]:
        """None, as no tree is listed."""
        return {}

    def read(self, commit: BaseCommit, path: Path) -> bytes | None:
        """The bytes of a file at the commit; None: it was not there.

        HarnessError for a path outside the checkout, for what is no file, and for a file of more
        than a megabyte, which this way of reading does not give.
        """
        top = self.root.resolve()
        file = Path(os.path.normpath(top / path))
        if not file.is_relative_to(top):
            raise HarnessError(f"{path} is outside the checkout", remedy="name a file inside it")
        name = file.relative_to(top).as_posix()
        try:
            with asking(f"read {name} at {commit.sha[:12]}", "contents: read"):
                return self._read(name, commit.sha)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def _read(self, name: str, sha: str) -> bytes:
        found = self.repository.get_contents(name, ref=sha)
        where = f"{name} at {sha[:12]}"
        if isinstance(found, list) or found.type != "file":
            raise HarnessError(f"{where} is no file", remedy="name the file in the repository")
        if found.encoding != "base64":
            raise HarnessError(f"{where} is too large to be read through the API", remedy=_DEEPEN)
        return found.decoded_content


def _branch(ref: str) -> str:
    """A remote's branch as GitHub calls it."""
    return ref.removeprefix("refs/remotes/").removeprefix("origin/")
