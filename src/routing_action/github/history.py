"""The merge base and files at a commit by GitHub's API, where a checkout has no history of its own.

Sources: "Compare two commits" and "Get repository content" of GitHub's REST API.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from routing_action.errors import HarnessError
from routing_action.github.client import Client
from routing_action.github.commits import COMMIT_ID
from routing_action.github.failures import ApiError

_DEEPEN = "check out with `fetch-depth: 0` and `persist-credentials: true`"


@dataclass(frozen=True, slots=True)
class RemoteCommit:
    """A commit on GitHub: its full id and its committer date (ISO 8601)."""

    sha: str
    date: str


def find_remote_merge_base(client: Client, repository: str, base: str, head: str) -> RemoteCommit:
    """The merge base of a branch and a commit; HarnessError where GitHub does not tell one."""
    return _commit(_compare(client, repository, base, head), "merge_base_commit", base)


def find_remote_commit(client: Client, repository: str, ref: str) -> RemoteCommit:
    """The commit that a branch, a tag or an id names; HarnessError where there is none."""
    return _commit(_compare(client, repository, ref, ref), "base_commit", ref)


def read_remote_file(client: Client, repository: str, path: str, commit: str) -> bytes | None:
    """The bytes of a file at a commit; None: it was not there.

    HarnessError for what is no file, and for one of more than a megabyte, which this way of
    reading does not give.
    """
    try:
        found = client.get(f"/repos/{repository}/contents/{quote(path)}", ref=commit)
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    place = f"{path} at {commit[:12]}"
    if not isinstance(found, dict) or found.get("type") != "file":
        raise HarnessError(f"{place} is no file", remedy="name the file in the repository")
    if found.get("encoding") != "base64" or not isinstance(found.get("content"), str):
        raise HarnessError(f"{place} is too large to be read through the API", remedy=_DEEPEN)
    return base64.b64decode(found["content"])


def _compare(client: Client, repository: str, base: str, head: str) -> Any:  # noqa: ANN401 - JSON
    span = f"{quote(base, safe='/')}...{quote(head, safe='/')}"
    try:
        # One commit of the list is enough: it is not looked at.
        return client.get(f"/repos/{repository}/compare/{span}", per_page=1)
    except ApiError as error:
        if error.status == 404:
            raise HarnessError(
                f"GitHub knows no {base} and {head[:12]} with a commit in common", remedy=_DEEPEN
            ) from None
        raise


def _commit(found: Any, name: str, ref: str) -> RemoteCommit:  # noqa: ANN401 - foreign JSON
    one = found.get(name) if isinstance(found, dict) else None
    sha = one.get("sha") if isinstance(one, dict) else None
    if not isinstance(one, dict) or not isinstance(sha, str) or not COMMIT_ID.fullmatch(sha):
        raise HarnessError(f"GitHub did not tell the commit of {ref}", remedy=_DEEPEN)
    written = (one.get("commit") or {}).get("committer") or {}
    date = written.get("date")
    return RemoteCommit(sha, date if isinstance(date, str) else "")
