"""Finds the pull request that a commit is the head of, and proves it by the commit's full id.

What an artifact or a payload says is a hint alone: each candidate is asked for at GitHub, and only
an open pull request whose head is exactly the commit counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from routing_action.github.client import Client
from routing_action.github.context import Context
from routing_action.github.failures import ApiError

COMMIT_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


def find_pull_request(client: Client, context: Context, hint: int | None = None) -> int | None:
    """The number of the pull request that a run is about; None where there is none.

    For `workflow_run` the chain is: the payload's own list (empty for forks), the pull requests
    from the head's branch, those that GitHub knows of the commit, and last the `hint` of the
    artifact that was uploaded. Raises ApiError where two open
    pull requests have the same head: then nobody can tell which one was measured.
    """
    if context.event_name != "workflow_run":
        return context.pull_request
    sha = context.head_sha
    if not COMMIT_ID.fullmatch(sha):
        return None
    hinted = [hint] if hint is not None else []
    for rung in (_of_payload, _of_branch, _of_commit, lambda *_: iter(hinted)):
        numbers = dict.fromkeys(rung(client, context))
        proven = [number for number in numbers if _has_head(client, context, number, sha)]
        if len(proven) > 1:
            names = ", ".join(f"#{number}" for number in proven)
            raise ApiError(
                f"{names} have the same head {sha[:12]}: which one was measured is unknown",
                status=409,
                remedy="close all but one of them, or push a commit to one",
            )
        if proven:
            return proven[0]
    return None


def _of_payload(_client: Client, context: Context) -> Iterator[int]:
    yield from _numbers(_run(context).get("pull_requests"))


def _of_branch(client: Client, context: Context) -> Iterator[int]:
    run = _run(context)
    owner = ((run.get("head_repository") or {}).get("owner") or {}).get("login")
    branch = run.get("head_branch")
    if isinstance(owner, str) and isinstance(branch, str) and owner and branch:
        path = f"/repos/{context.repository}/pulls"
        for page in client.pages(path, head=f"{owner}:{branch}", state="open"):
            yield from _numbers(page)


def _of_commit(client: Client, context: Context) -> Iterator[int]:
    path = f"/repos/{context.repository}/commits/{context.head_sha}/pulls"
    try:
        yield from _numbers(client.get(path))
    except ApiError as error:
        # The commit of a fork need not be known in the base repository.
        if error.status not in (404, 422):
            raise


def _has_head(client: Client, context: Context, number: int, sha: str) -> bool:
    try:
        found = client.get(f"/repos/{context.repository}/pulls/{number}")
    except ApiError as error:
        if error.status == 404:
            return False
        raise
    head = found.get("head") if isinstance(found, dict) else None
    is_open = isinstance(found, dict) and found.get("state") == "open"
    return is_open and isinstance(head, dict) and head.get("sha") == sha


def _run(context: Context) -> dict[str, Any]:
    run = context.event.get("workflow_run")
    return run if isinstance(run, dict) else {}


def _numbers(listed: object) -> Iterator[int]:
    for one in listed if isinstance(listed, list) else []:
        number = one.get("number") if isinstance(one, dict) else None
        if isinstance(number, int):
            yield number
