"""The sticky comment: one for each key, found by its marker, never overwritten by an older run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from routing_action.github.failures import (
    ApiError,
    Made,
    PermissionMissingError,
    asking,
    write_once,
)
from routing_action.github.people import WORKFLOW_AUTHOR

if TYPE_CHECKING:
    from github.IssueComment import IssueComment
    from github.Repository import Repository

_KEY = r"[A-Za-z0-9._-]{1,80}"
_MARKER = re.compile(
    rf"<!-- routing-action key=({_KEY}) "
    r"sha=([0-9a-f]{40,64}|-) "
    r"run=(\d{1,19}|-) number=(\d{1,12}) attempt=(\d{1,6}) "
    r"conclusion=([a-z]{1,20}) news=([0-9a-f]{1,64}|-) -->"
)


class CommentMode(StrEnum):
    """When a comment is made: see docs/reference/action.md, `comment-mode`."""

    ALWAYS = "always"
    ON_CHANGE = "on-change"
    NEW_ON_REGRESSION = "new-on-regression"
    OFF = "off"


class CommentAction(StrEnum):
    """What is to be done with the comment."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    SUPERSEDE = "supersede"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Marker:
    """Which gate and run a comment is of. `news` names what there is to say; "-" is nothing.

    `conclusion` is GitHub's word, or `superseded` for a comment that another one replaced.
    """

    key: str
    sha: str
    run: str
    number: int
    attempt: int
    conclusion: str
    news: str = "-"

    @property
    def line(self) -> str:
        """The first line of the comment; GitHub shows nothing of it."""
        return (
            f"<!-- routing-action key={self.key} sha={self.sha or '-'} run={self.run or '-'} "
            f"number={self.number} attempt={self.attempt} conclusion={self.conclusion} "
            f"news={self.news or '-'} -->"
        )

    @property
    def age(self) -> tuple[int, int]:
        """Grows with each run and attempt."""
        return self.number, self.attempt


def is_key(text: str) -> bool:
    """True for what can tell one gate's comment from another's."""
    return re.fullmatch(_KEY, text) is not None


def parse_marker(body: object) -> Marker | None:
    """The marker of a comment's first line; None where it is not exactly one of ours."""
    if not isinstance(body, str):
        return None
    found = _MARKER.fullmatch(body.partition("\n")[0].rstrip("\r"))
    if found is None:
        return None
    key, sha, run, number, attempt, conclusion, news = found.groups()
    sha, run = sha.strip("-"), run.strip("-")
    return Marker(key, sha, run, int(number), int(attempt), conclusion, news)


def decide_comment(mode: CommentMode, existing: Marker | None, ours: Marker) -> CommentAction:
    """What a run does, from what it has to say and the comment that is there.

    A newer run's comment is left alone. An old comment never stays as it is: it is updated, or
    says that it is superseded.
    """
    has_news = ours.news != "-"
    if mode is CommentMode.OFF or (existing is not None and existing.age > ours.age):
        return CommentAction.NOTHING
    if existing is None:
        wanted = has_news or mode is CommentMode.ALWAYS
        return CommentAction.CREATE if wanted else CommentAction.NOTHING
    if not has_news and mode is not CommentMode.ALWAYS:
        return CommentAction.SUPERSEDE
    is_red = ours.conclusion == "failure"
    if mode is CommentMode.NEW_ON_REGRESSION and is_red and ours.news != existing.news:
        return CommentAction.REPLACE
    return CommentAction.UPDATE


@dataclass(frozen=True, slots=True)
class Bodies:
    """What to post, without the marker.

    `full` in forms from longest to shortest, all within GitHub's limit; `superseded` for a
    comment that has nothing to say any more.
    """

    full: Sequence[str]
    superseded: str


@dataclass(frozen=True, slots=True)
class PostedComment:
    """What was done, and where the comment is; the address is empty where none was posted."""

    action: CommentAction
    url: str = ""


class StickyComment:
    """The comment of one gate on one pull request.

    A comment counts as ours only by its author and its first line: a look-alike by somebody else
    is passed over, and so is a copy of ours inside another comment. One that the workflow's token
    made is continued with an App's token, and the other way round.
    """

    def __init__(
        self, repository: Repository, number: int, authors: tuple[str, ...] = (WORKFLOW_AUTHOR,)
    ) -> None:
        """Ask for nothing yet; `authors` are ours beside the token's own login."""
        self._requester = repository.requester
        self._issue = repository.get_issue(number)
        self._authors = {*authors}
        self._knows_own = False

    def publish(self, mode: CommentMode, ours: Marker, bodies: Bodies) -> PostedComment:
        """Bring the comment up to date; raises ApiError where GitHub does not do it."""
        if mode is CommentMode.OFF:
            return PostedComment(CommentAction.NOTHING)
        try:
            return self._publish(mode, ours, bodies)
        except ApiError as error:
            if error.status != 404:
                raise
        # Somebody deleted the comment after it was found.
        return self._publish(mode, ours, bodies)

    def _publish(self, mode: CommentMode, ours: Marker, bodies: Bodies) -> PostedComment:
        found = self._find(ours.key)
        if any(marker.age > ours.age for _, marker in found):
            return PostedComment(CommentAction.NOTHING)
        action = decide_comment(mode, found[0][1] if found else None, ours)
        if not found:
            is_wanted = action is CommentAction.CREATE
            return PostedComment(action, self._create(ours, bodies) if is_wanted else "")
        first, marker = found[0]
        kept: IssueComment | None = first
        url = first.html_url
        if action is CommentAction.UPDATE:
            kept, url = self._update(found, ours, bodies)
        elif action is CommentAction.SUPERSEDE:
            _edit(first, replace(ours, news="-"), (bodies.superseded,))
        elif action is CommentAction.REPLACE:
            url = self._post(ours, bodies.full)
            _edit(first, replace(marker, conclusion="superseded"), (bodies.superseded,))
        _delete(spare for spare, _ in found if kept is None or spare.id != kept.id)
        return PostedComment(action, url)

    def _update(
        self, found: Sequence[tuple[IssueComment, Marker]], ours: Marker, bodies: Bodies
    ) -> tuple[IssueComment | None, str]:
        """Edit the first that GitHub lets us, else make a new one; what was edited, and where.

        A token of little rights may edit what it has written alone.
        """
        for comment, _ in found:
            try:
                _edit(comment, ours, bodies.full)
            except PermissionMissingError as error:
                if error.status != 403:
                    raise
            else:
                return comment, comment.html_url
        return None, self._post(ours, bodies.full)

    def _create(self, ours: Marker, bodies: Bodies) -> str:
        """Make the comment; where another run made one meanwhile, the lowest id is kept."""
        url = self._post(ours, bodies.full)
        found = self._find(ours.key)
        if len(found) < 2:
            return url
        kept, marker = found[0]
        if marker.age <= ours.age:
            _edit(kept, ours, bodies.full)
        _delete(spare for spare, made in found[1:] if made.age <= ours.age)
        return kept.html_url

    def _post(self, ours: Marker, bodies: Sequence[str]) -> str:
        def find() -> IssueComment | None:
            return next((comment for comment, made in self._find(ours.key) if made == ours), None)

        made = _send_longest("post the comment", ours, bodies, self._issue.create_comment, find)
        # An app's own token may not ask for its login; from here on it is known.
        self._authors.add(_login(made))
        return made.html_url

    def _find(self, key: str) -> list[tuple[IssueComment, Marker]]:
        """Our comments of a key that nothing replaced, lowest id first."""
        if not self._knows_own:
            self._authors.add(self._own_login())
            self._knows_own = True
        with asking("read the comments", "pull-requests: read"):
            found = [
                (comment, marker)
                for comment in self._issue.get_comments()
                if _login(comment) in self._authors
                if (marker := parse_marker(comment.body)) is not None
                if marker.key == key and marker.conclusion != "superseded"
            ]
        return sorted(found, key=lambda one: one[0].id)

    def _own_login(self) -> str:
        """The login that the token writes as: a workflow's token may not ask for its own."""
        from github.AuthenticatedUser import AuthenticatedUser  # noqa: PLC0415 - slow to import

        try:
            with asking("read the token's login", "metadata: read"):
                return AuthenticatedUser(self._requester, url="/user").login or WORKFLOW_AUTHOR
        except ApiError:
            return WORKFLOW_AUTHOR


def _login(comment: IssueComment) -> str:
    """Who wrote a comment; empty where the account is gone."""
    return getattr(comment.user, "login", "")


def _edit(comment: IssueComment, marker: Marker, bodies: Sequence[str]) -> None:
    # To write the same text again does no harm.
    _send_longest("update the comment", marker, bodies, comment.edit, lambda: None)


def _send_longest(
    what: str,
    marker: Marker,
    bodies: Sequence[str],
    send: Callable[[str], Made],
    find: Callable[[], Made | None],
) -> Made:
    """Send the longest body that GitHub takes, below its marker."""
    for number, body in enumerate(bodies, start=1):
        text = f"{marker.line}\n{body}"
        try:
            return write_once(what, "pull-requests: write", partial(send, text), find)
        except ApiError as error:
            if error.status not in (413, 422) or number == len(bodies):
                raise
    raise AssertionError("there is a shortest body")  # pragma: no cover


def _delete(comments: Iterable[IssueComment]) -> None:
    """Delete; what is gone already counts as deleted, and another author's may have to stay."""
    for comment in comments:
        try:
            with asking("delete a spare comment", "pull-requests: write"):
                comment.delete()
        except ApiError as error:
            if error.status not in (403, 404):
                raise
