"""One reply for each command of a comment, found again by its first line and edited as it goes on.

The reply is what makes a command obeyed once, however often its event is delivered.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from routing_action.github.failures import ApiError, asking, write_once

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment

_MARKER = re.compile(r"<!-- routing-action reply=(\d{1,19})/(\d{1,6}) state=(begun|done) -->")


class Reply:
    """The reply to one line of a comment."""

    def __init__(self, made: IssueComment, key: tuple[int, int]) -> None:
        """A reply that is there."""
        self._made = made
        self._key = key

    def finish(self, body: str) -> None:
        """Replace the text; the command has ended."""
        text = f"{_marker(self._key, 'done')}\n{body}"
        write_once(
            "edit the reply", "pull-requests: write", partial(self._made.edit, text), lambda: None
        )


def begin_reply(
    issue: Issue,
    comment_id: int,
    line: int,
    since: datetime,
    authors: tuple[str, ...],
    body: str,
) -> Reply | None:
    """Say that a command has begun; None where it was answered before.

    `since` is when the command was written: no reply is older. A reply that was begun and never
    ended, by whoever of `authors`, is continued.
    """
    key = (comment_id, line)

    def find() -> IssueComment | None:
        with asking("read the comments", "pull-requests: read"):
            listed = issue.get_comments(since=since)
            found = [one for one in listed if _read(one, authors) == key]
        return min(found, key=lambda one: one.id, default=None)

    made = find()
    if made is not None:
        is_done = (made.body or "").startswith(_marker(key, "done"))
        return None if is_done else Reply(made, key)
    text = f"{_marker(key, 'begun')}\n{body}"
    sent = write_once(
        "reply to the comment",
        "pull-requests: write",
        partial(issue.create_comment, text),
        find,
    )
    return Reply(sent, key)


def react(issue: Issue, comment_id: int, sign: str) -> None:
    """Put a sign on the comment, such as `eyes`; where that is not possible nothing is lost."""
    try:
        with asking("react to the comment", "pull-requests: write"):
            issue.get_comment(comment_id).create_reaction(sign)
    except ApiError:
        return


def _marker(key: tuple[int, int], state: str) -> str:
    return f"<!-- routing-action reply={key[0]}/{key[1]} state={state} -->"


def _read(comment: IssueComment, authors: tuple[str, ...]) -> tuple[int, int] | None:
    """The key of a reply of ours; None for any other comment."""
    if getattr(comment.user, "login", "") not in authors:
        return None
    found = _MARKER.fullmatch((comment.body or "").partition("\n")[0].rstrip("\r"))
    return (int(found[1]), int(found[2])) if found else None
