"""The sticky comment: one for each key, found by its marker, never overwritten by an older run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from routing_action.github.client import Client
from routing_action.github.failures import ApiError

WORKFLOW_AUTHOR = "github-actions[bot]"
BODY_LIMIT = 65_536

_KEY = r"[A-Za-z0-9._-]{1,80}"
_MARKER = re.compile(
    rf"<!-- routing-action key=(?P<key>{_KEY}) "
    r"sha=(?P<sha>[0-9a-f]{40,64}|-) "
    r"run=(?P<run>\d{1,19}|-) number=(?P<number>\d{1,12}) attempt=(?P<attempt>\d{1,6}) "
    r"conclusion=(?P<conclusion>[a-z]{1,20}) news=(?P<news>[0-9a-f]{1,64}|-) -->"
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
    return Marker(
        key=found["key"],
        sha=found["sha"].strip("-"),
        run=found["run"].strip("-"),
        number=int(found["number"]),
        attempt=int(found["attempt"]),
        conclusion=found["conclusion"],
        news=found["news"],
    )


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
    is passed over, and so is a copy of ours inside another comment.
    """

    def __init__(self, client: Client, repository: str, number: int, *, author: str = "") -> None:
        """`author` is the login that the token writes as; asked for where it is empty."""
        self._client = client
        self._issue = f"/repos/{repository}/issues/{number}/comments"
        self._comments = f"/repos/{repository}/issues/comments"
        self._author = author

    def publish(self, mode: CommentMode, ours: Marker, bodies: Bodies) -> PostedComment:
        """Bring the comment up to date; raises ApiError where GitHub refuses."""
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
        if any(marker.age > ours.age for _, marker, _ in found):
            return PostedComment(CommentAction.NOTHING)
        existing = found[0] if found else None
        action = decide_comment(mode, existing[1] if existing else None, ours)
        if action is CommentAction.CREATE or existing is None:
            url = self._create(ours, bodies) if action is CommentAction.CREATE else ""
            return PostedComment(action, url)
        number, marker, url = existing
        if action is CommentAction.UPDATE:
            url = self._write(bodies.full, lambda body: self._edit(number, ours, body))
        elif action is CommentAction.SUPERSEDE:
            self._edit(number, replace(ours, news="-"), bodies.superseded)
        elif action is CommentAction.REPLACE:
            url = self._write(bodies.full, lambda body: self._post(ours, body))
            self._edit(number, replace(marker, conclusion="superseded"), bodies.superseded)
        self._remove([one[0] for one in found[1:]])
        return PostedComment(action, url)

    def _create(self, ours: Marker, bodies: Bodies) -> str:
        """Make the comment; where another run made one meanwhile, the lowest id is kept."""
        url = self._write(bodies.full, lambda body: self._post(ours, body))
        found = self._find(ours.key)
        if len(found) < 2:
            return url
        number, marker, url = found[0]
        if marker.age <= ours.age:
            url = self._write(bodies.full, lambda body: self._edit(number, ours, body))
        self._remove([one for one, made, _ in found[1:] if made.age <= ours.age])
        return url

    def _write(self, bodies: Sequence[str], send: Callable[[str], str]) -> str:
        """Send the longest body that GitHub takes."""
        for body in bodies[:-1]:
            try:
                return send(body)
            except ApiError as error:
                if error.status not in (413, 422):
                    raise
        return send(bodies[-1])

    def _post(self, ours: Marker, body: str) -> str:
        made = self._client.post(
            self._issue, {"body": f"{ours.line}\n{body}"}, find=lambda: self._find_exactly(ours)
        )
        # An app's own token may not ask for its login; from here on it is known.
        self._author = _login_of(made) or self._author
        return _text(made, "html_url")

    def _edit(self, number: int, ours: Marker, body: str) -> str:
        changed = self._client.patch(f"{self._comments}/{number}", {"body": f"{ours.line}\n{body}"})
        return _text(changed, "html_url")

    def _remove(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._client.delete(f"{self._comments}/{number}")

    def _find(self, key: str) -> list[tuple[int, Marker, str]]:
        """Our comments of a key that nothing replaced, lowest id first, over all pages."""
        found = [
            (number, marker, _text(comment, "html_url"))
            for number, marker, comment in self._ours()
            if marker.key == key and marker.conclusion != "superseded"
        ]
        return sorted(found, key=lambda one: one[0])

    def _find_exactly(self, ours: Marker) -> Any | None:  # noqa: ANN401 - foreign JSON
        return next((comment for _, marker, comment in self._ours() if marker == ours), None)

    def _ours(self) -> list[tuple[int, Marker, Any]]:
        author = self._login()
        return [
            (comment["id"], marker, comment)
            for page in self._client.pages(self._issue)
            for comment in (page if isinstance(page, list) else [])
            if isinstance(comment, dict) and isinstance(comment.get("id"), int)
            if _login_of(comment) == author and (marker := parse_marker(comment.get("body")))
        ]

    def _login(self) -> str:
        """The login that the token writes as: a workflow's token may not ask for its own."""
        if not self._author:
            try:
                self._author = _text(self._client.get("/user"), "login") or WORKFLOW_AUTHOR
            except ApiError:
                self._author = WORKFLOW_AUTHOR
        return self._author


def _login_of(comment: object) -> str:
    return _text(comment.get("user") if isinstance(comment, dict) else None, "login")


def _text(record: object, name: str) -> str:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""
