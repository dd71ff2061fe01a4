"""Finds the pull request that a commit is the head of, proven by the full id, and its push.

What an artifact or a payload says is a hint alone: only an open pull request whose head GitHub
says to be exactly the commit counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from routing_action.github.context import Context
from routing_action.github.failures import ApiError, asking

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

_COMMIT_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


def find_pull_request(
    repository: Repository, context: Context, hint: int | None = None
) -> int | None:
    """The number of the pull request that a run is about; None where there is none.

    For `workflow_run` the chain is: the payload's own list (empty for forks), the pull requests
    from the head's branch, those that GitHub knows of the commit, and last the `hint` of the
    artifact that was uploaded. Raises ApiError where two open pull requests have the same head:
    then nobody can tell which one was measured.
    """
    if context.event_name != "workflow_run":
        return context.pull_request
    sha = context.head_sha
    if not _COMMIT_ID.fullmatch(sha):
        return None
    hinted = [hint] if hint is not None else []
    # Each rung is asked only where the one before has led to nothing.
    for candidates in (
        map(repository.get_pull, _listed(context)),
        _of_branch(repository, context),
        _of_commit(repository, sha),
        map(repository.get_pull, hinted),
    ):
        with asking("find the pull request", "pull-requests: read"):
            proven = {one.number for one in candidates if _has_head(one, sha)}
        if len(proven) > 1:
            names = ", ".join(f"#{number}" for number in sorted(proven))
            raise ApiError(
                f"{names} have the same head {sha[:12]}: which one was measured is unknown",
                status=409,
                remedy="close all but one of them, or push a commit to one",
            )
        if proven:
            return proven.pop()
    return None


def _listed(context: Context) -> Iterator[int]:
    for one in context.value("workflow_run", "pull_requests") or []:
        number = one.get("number") if isinstance(one, dict) else None
        if isinstance(number, int):
            yield number


def _of_branch(repository: Repository, context: Context) -> Iterator[PullRequest]:
    owner = context.text("workflow_run", "head_repository", "owner", "login")
    branch = context.text("workflow_run", "head_branch")
    if owner and branch:
        yield from repository.get_pulls(state="open", head=f"{owner}:{branch}")


def _of_commit(repository: Repository, sha: str) -> Iterator[PullRequest]:
    from github import GithubException  # noqa: PLC0415 - slow to import

    try:
        yield from repository.get_commit(sha).get_pulls()
    except GithubException as error:
        # The commit of a fork need not be known in the base repository.
        if error.status not in (404, 422):
            raise


def _has_head(pull: PullRequest, sha: str) -> bool:
    from github import UnknownObjectException  # noqa: PLC0415 - slow to import

    try:
        return pull.state == "open" and pull.head.sha == sha
    except UnknownObjectException:
        return False


# --- pushes


def fetch_push_time(pull: PullRequest, sha: str) -> datetime | None:
    """When a head of a pull request was pushed; None where GitHub does not tell, as of a fork.

    Source: GitHub's "List repository activities"; the newest come first.
    """
    head = pull.head
    name = getattr(head.repo, "full_name", "")
    if not name:
        return None  # the fork is gone
    address = f"/repos/{name}/activity"
    try:
        with asking("read the pushes of the branch", "contents: read"):
            _, listed = pull.requester.requestJsonAndCheck(
                "GET", address, parameters={"ref": f"refs/heads/{head.ref}", "per_page": 20}
            )
    except ApiError as error:
        if error.status in (403, 404):
            return None
        raise
    return next((_time(one) for one in _dicts(listed) if one.get("after") == sha), None)


def _dicts(listed: object) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _time(activity: dict[str, Any]) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(activity.get("timestamp", "")))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
