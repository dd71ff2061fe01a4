"""Posts what a comparison came to as check run and comment; the gate stays as it decided."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from routing_action.errors import GitHubError
from routing_action.gate.model import Delta
from routing_action.gate.verdict import Conclusion
from routing_action.github.checks import publish_check
from routing_action.github.client import Client
from routing_action.github.comments import Bodies, CommentMode, Marker, StickyComment
from routing_action.github.commits import find_pull_request
from routing_action.github.context import Context
from routing_action.github.failures import PermissionMissingError
from routing_action.github.publication import RunLinks
from routing_action.report.render_all import Rendered
from routing_action.report.view import build_view

NO_NEWS = "-"


@dataclass(frozen=True, slots=True)
class Publication:
    """Where the views are (empty: there is none), and what could not be posted and why."""

    comment_url: str
    check_url: str
    warnings: tuple[str, ...]


def publish(
    rendered: Rendered,
    marker: Marker,
    *,
    client: Client,
    context: Context,
    place: RunLinks,
    mode: CommentMode,
    hint: int | None = None,
) -> Publication:
    """Post check run and comment; each failure becomes a warning, and the other is still tried.

    `hint` is the pull request that the results tell of, for a run that tells of none.
    """
    failures: list[GitHubError] = []

    def attempt(work: Callable[[], str]) -> str:
        try:
            return work()
        except GitHubError as error:
            failures.append(error)
            return ""

    def check() -> str:
        return publish_check(client, place, rendered.check)

    def comment() -> str:
        number = None if mode is CommentMode.OFF else find_pull_request(client, context, hint)
        if number is None:
            return ""
        bodies = Bodies(rendered.comment, rendered.superseded)
        return StickyComment(client, place.repository, number).publish(mode, marker, bodies).url

    check_url = attempt(check) if place.sha else ""
    return Publication(attempt(comment), check_url, _warnings(failures))


def _warnings(failures: list[GitHubError]) -> tuple[str, ...]:
    """One warning for all permissions that are missing, and one for each other failure."""
    missing = [one for one in failures if isinstance(one, PermissionMissingError)]
    others = tuple(str(one) for one in failures if not isinstance(one, PermissionMissingError))
    if not missing:
        return others
    names = ", ".join(dict.fromkeys(one.permission for one in missing))
    warning = (
        f"the token lacks `{names}`, so not everything could be posted; the verdict, the job "
        "summary and the report are complete. Give the job these permissions; a run for a fork "
        "never has them"
    )
    return (warning, *others)


def marker_for(delta: Delta, place: RunLinks) -> Marker:
    """The marker of a comment about a delta; its news change when the rows worth a look do."""
    return _marker(place, delta.conclusion, _news(delta))


def error_marker(message: str, place: RunLinks) -> Marker:
    """The marker of a comment about a gate that could not decide."""
    return _marker(place, Conclusion.FAILURE, _digest(message))


def _marker(place: RunLinks, conclusion: Conclusion, news: str) -> Marker:
    return Marker(
        key=place.key,
        sha=place.sha,
        run=place.run_id,
        number=place.run_number,
        attempt=place.run_attempt,
        conclusion=conclusion.value,
        news=news,
    )


def _news(delta: Delta) -> str:
    changed = [(row.case_id, row.agent, row.kind.value) for row in build_view(delta).changed]
    if delta.conclusion is Conclusion.SUCCESS and not changed and not delta.baseline.edited:
        return NO_NEWS
    return _digest(repr((delta.conclusion.value, delta.reasons, sorted(changed))))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
