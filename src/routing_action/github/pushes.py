"""When a commit became the head of a branch, by the time at which GitHub received the push.

A commit's own dates prove nothing: whoever makes it writes them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from routing_action.github.failures import ApiError, asking

if TYPE_CHECKING:
    from github.PullRequest import PullRequest


def fetch_push_time(pull: PullRequest) -> datetime | None:
    """When the head of a pull request was pushed; None where GitHub does not tell, as of a fork.

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
    return next((_time(one) for one in _dicts(listed) if one.get("after") == head.sha), None)


def _dicts(listed: object) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _time(activity: dict[str, Any]) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(activity.get("timestamp", "")))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
