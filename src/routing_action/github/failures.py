"""What GitHub's answers mean when they are no success, and which permission would have helped."""

from __future__ import annotations

import re
from collections.abc import Mapping

from routing_action.errors import GitHubError

_NEEDED = (
    (re.compile(r"/check-runs"), "checks: write"),
    (re.compile(r"/issues/"), "pull-requests: write"),
    (re.compile(r"/actions/"), "actions: read"),
    (re.compile(r"/pulls"), "pull-requests: read"),
)
_STATE = re.compile(r"\b(locked|archived|blocked)\b", re.IGNORECASE)
_OTHERWISE = "contents: read"


class ApiError(GitHubError):
    """GitHub answered with a status of 400 or more; `status` is 0 where it did not answer."""

    def __init__(self, cause: str, *, status: int, remedy: str = "") -> None:
        """Keep the status beside cause and remedy."""
        super().__init__(cause, remedy=remedy)
        self.status = status


class PermissionMissingError(ApiError):
    """The token may not do this; `permission` is what a job must declare, `checks: write`."""

    def __init__(self, call: str, permission: str, *, status: int) -> None:
        """Name the call and the permission."""
        super().__init__(
            f"{call}: the token lacks the permission `{permission}`",
            status=status,
            remedy=f"give the job `permissions: {{ {permission} }}`; runs of forks never have it",
        )
        self.permission = permission


def describe_failure(verb: str, path: str, status: int, message: str) -> ApiError:
    """The error for an answer that no further try would change."""
    call = f"{verb} {path.partition('?')[0]}"
    is_refused = status == 403 and not _STATE.search(message)
    if is_refused or (status == 404 and verb != "GET"):
        return PermissionMissingError(call, needed_permission(verb, path), status=status)
    if status == 401:
        return ApiError(
            f"{call}: the token is not valid", status=status, remedy="pass `github.token` as token"
        )
    detail = f": {message}" if message else ""
    return ApiError(f"{call}: GitHub answered {status}{detail}", status=status)


def needed_permission(verb: str, path: str) -> str:
    """What a workflow's `permissions` must hold for a call."""
    found = next((name for pattern, name in _NEEDED if pattern.search(path)), _OTHERWISE)
    return found.replace(": write", ": read") if verb == "GET" else found


def is_rate_limited(status: int, headers: Mapping[str, str], message: str) -> bool:
    """True for the primary and the secondary limit, which GitHub tells by 403 or 429.

    Source: GitHub's "Rate limits for the REST API", "Exceeding the rate limit".
    """
    if status == 429:
        return True
    exhausted = headers.get("x-ratelimit-remaining") == "0"
    return status == 403 and (
        exhausted or "retry-after" in headers or "rate limit" in message.lower()
    )
