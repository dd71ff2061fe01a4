"""What it means where GitHub does not do what was asked, and which permission would have helped."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from routing_action.errors import GitHubError

if TYPE_CHECKING:
    from github import GithubException

Made = TypeVar("Made")

PATIENCE_SECONDS = 90.0
"""The longest time that all waiting for one request may take together."""

LATER = "run the job again later"
_PAUSES = (1.0, 2.0, 4.0)
_STATE = re.compile(r"\b(locked|archived|blocked)\b", re.IGNORECASE)


class ApiError(GitHubError):
    """GitHub answered with a status of 400 or more; `status` is 0 where it did not answer.

    `retry_after` is how long GitHub asks to wait, in seconds.
    """

    def __init__(
        self, cause: str, *, status: int, remedy: str = "", retry_after: float = 0.0
    ) -> None:
        """Keep the status beside cause and remedy."""
        super().__init__(cause, remedy=remedy)
        self.status = status
        self.retry_after = retry_after


class PermissionMissingError(ApiError):
    """The token may not do this; `permission` is what a job must declare, `checks: write`."""

    def __init__(self, what: str, permission: str, *, status: int) -> None:
        """Name what was to be done and the permission."""
        super().__init__(
            f"cannot {what}: the token lacks the permission `{permission}`",
            status=status,
            remedy=f"give the job `permissions: {{ {permission} }}`; runs of forks never have it",
        )
        self.permission = permission


@contextmanager
def asking(what: str, permission: str) -> Iterator[None]:
    """Make an ApiError of all that PyGithub raises: "cannot `what`", and what a token needs for it.

    Lists must be read to their end inside, since PyGithub asks for each page when it is needed.
    """
    # Slow to import, and there already wherever something is asked.
    from github import BadAttributeException, GithubException  # noqa: PLC0415

    try:
        yield
    except GithubException as error:
        raise _describe(what, permission, error) from None
    except (OSError, RuntimeError, AssertionError, ValueError, BadAttributeException) as error:
        # PyGithub raises all but the first for a redirect or a page at another address, and for
        # an answer that is broken off or of another form.
        cause = f"cannot {what}: no answer: {error}"[:300]
        raise ApiError(cause, status=0, remedy=LATER) from None


def _describe(what: str, permission: str, error: GithubException) -> ApiError:
    data = error.data if isinstance(error.data, dict) else {}
    status, message, headers = error.status, str(data.get("message") or ""), error.headers or {}
    after = str(headers.get("retry-after", ""))
    # Source: GitHub's "Rate limits for the REST API", "Exceeding the rate limit".
    is_used_up = bool(after) or headers.get("x-ratelimit-remaining") == "0"
    is_limit = is_used_up or "rate limit" in message.lower()
    pause = float(after) if after.isdecimal() else 0.0
    if status == 429 or (status == 403 and is_limit):
        reset = str(headers.get("x-ratelimit-reset", ""))
        if not pause and reset.isdecimal():
            pause = max(0.0, float(reset[:12]) - time.time())
        cause = f"cannot {what}: the rate limit is used up"
        return ApiError(cause, status=status, remedy=LATER, retry_after=pause or 60.0)
    is_forbidden = status == 403 and not _STATE.search(message)
    if is_forbidden or (status == 404 and permission.endswith("write")):
        return PermissionMissingError(what, permission, status=status)
    if status == 401:
        cause = f"cannot {what}: the token is not valid"
        return ApiError(cause, status=401, remedy="pass `github.token` as token")
    cause = f"cannot {what}: GitHub answered {status}{f': {message}' if message else ''}"
    return ApiError(cause, status=status, retry_after=pause)


def write_once(
    what: str, permission: str, send: Callable[[], Made], find: Callable[[], Made | None]
) -> Made:
    """Send what would be there twice if it were sent twice; `what` and `permission` as in `asking`.

    After a failure that does not say whether GitHub did it before it failed, `find` looks for it
    before the next try. Raises ApiError.
    """
    for pause in (*_PAUSES, None):
        try:
            with asking(what, permission):
                return send()
        except ApiError as error:
            is_unclear = error.status == 0 or error.status >= 500
            if not is_unclear or error.retry_after > PATIENCE_SECONDS:
                raise
            if pause is not None:
                time.sleep(error.retry_after or pause)
            made = find()
            if made is None and pause is None:
                raise
        if made is not None:
            return made
    raise AssertionError("the last try returns or raises")  # pragma: no cover
