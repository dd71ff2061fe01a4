"""One reply for each command of a comment, found again by its first line and edited as it goes on.

The reply is what makes a command obeyed once, however often and by whomever its event is handled.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from routing_action.github.failures import ApiError, asking, write_once

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment

_MARKER = re.compile(
    r"<!-- routing-action reply=(?P<comment>\d{1,19})/(?P<line>\d{1,6}) state=(?P<state>begun|done)"
    r"(?: by=(?P<by>[A-Za-z0-9-]{1,80}))? -->"
)
_LATER = "<!-- routing-action later -->"
"""What stands below it became of the command after its reply was written."""


class Place(NamedTuple):
    """The line of a comment, from 1, that a reply answers."""

    comment: int
    line: int


class Reply:
    """The reply to one line of a comment.

    `is_again` is True where an earlier try of the same work began it: what the command does may
    have been done then.
    """

    def __init__(self, made: IssueComment, place: Place, *, is_again: bool = False) -> None:
        """A reply that is there."""
        self._made = made
        self._place = place
        self.is_again = is_again

    def finish(self, body: str) -> None:
        """Replace the text; the command has been obeyed. What became of it later stays."""
        later = (self._made.body or "").partition(_LATER)
        self._write(_marker(self._place, "done"), body, "".join(later[1:]))

    def tell_later(self, body: str) -> None:
        """Say below the text what became of the command, in place of what was said there before."""
        first, _, text = (self._made.body or "").partition("\n")
        text = text.partition(_LATER)[0].rstrip("\n")
        self._write(first, text, f"{_LATER}\n{body}")

    def _write(self, first: str, body: str, later: str) -> None:
        text = "\n".join((first, body.rstrip("\n"), *(("", later) if later else ())))
        if text == self._made.body:
            return
        write_once(
            "edit the reply", "pull-requests: write", partial(self._made.edit, text), lambda: None
        )


def begin_reply(
    issue: Issue,
    place: Place,
    since: datetime,
    authors: tuple[str, ...],
    body: str,
    *,
    worker: str,
) -> Reply | None:
    """Say that a command has begun; None where it was answered, or another worker answers it.

    `since` is when the command was written: no reply is older. A reply that was begun and never
    ended is continued by its own `worker` alone, a delivery or a run, which is tried until it has
    ended. Of two that begin at the same moment the first one goes on.
    """
    found = _find(issue, place, since, authors)
    if found:
        return _continue(found[0], place, worker)
    first = _marker(place, "begun", worker)

    def find_own() -> IssueComment | None:
        listed = _find(issue, place, since, authors)
        return next((one for one in listed if (one.body or "").startswith(first)), None)

    send = partial(issue.create_comment, f"{first}\n{body}")
    made = write_once("reply to the comment", "pull-requests: write", send, find_own)
    found = _find(issue, place, since, authors)
    if found and found[0].id != made.id:
        with suppress(ApiError), asking("delete a spare reply", "pull-requests: write"):
            made.delete()
        return None
    return Reply(made, place)


def find_reply(
    issue: Issue, place: Place, since: datetime, authors: tuple[str, ...]
) -> Reply | None:
    """The reply to a line, whether its command has ended or not; None without one."""
    found = _find(issue, place, since, authors)
    return Reply(found[0], place) if found else None


def _find(
    issue: Issue, place: Place, since: datetime, authors: tuple[str, ...]
) -> list[IssueComment]:
    """Our replies to a line, the first one first."""
    with asking("read the comments", "pull-requests: read"):
        listed = issue.get_comments(since=since)
        found = [one for one in listed if _read(one, authors) == place]
    return sorted(found, key=lambda one: one.id)


def _continue(made: IssueComment, place: Place, worker: str) -> Reply | None:
    found = _match(made)
    is_begun = found is not None and found["state"] == "begun"
    is_ours = found is not None and found["by"] in (None, worker)
    return Reply(made, place, is_again=True) if is_begun and is_ours else None


def react(issue: Issue, comment_id: int, sign: str) -> None:
    """Put a sign on the comment, such as `eyes`; where that is not possible nothing is lost."""
    with suppress(ApiError), asking("react to the comment", "pull-requests: write"):
        issue.get_comment(comment_id).create_reaction(sign)


def _marker(place: Place, state: str, worker: str = "") -> str:
    by = f" by={worker}" if worker else ""
    return f"<!-- routing-action reply={place.comment}/{place.line} state={state}{by} -->"


def _match(comment: IssueComment) -> re.Match[str] | None:
    return _MARKER.fullmatch((comment.body or "").partition("\n")[0].rstrip("\r"))


def _read(comment: IssueComment, authors: tuple[str, ...]) -> Place | None:
    """The place of a reply of ours; None for any other comment."""
    if getattr(comment.user, "login", "") not in authors:
        return None
    found = _match(comment)
    return Place(int(found["comment"]), int(found["line"])) if found else None
