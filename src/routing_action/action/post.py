"""Posts what a comparison came to as check run and comment; the gate stays as it decided."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from routing_action.errors import GitHubError, UsageError
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta
from routing_action.github.checks import publish_check
from routing_action.github.comments import Bodies, CommentMode, Marker, StickyComment
from routing_action.github.context import Context
from routing_action.github.failures import PermissionMissingError
from routing_action.github.people import WORKFLOW_AUTHOR
from routing_action.github.publication import RunLinks
from routing_action.github.pull_request import find_pull_request
from routing_action.report.render_all import Rendered
from routing_action.report.view import changed_rows

if TYPE_CHECKING:
    from github.Repository import Repository

NO_NEWS = "-"


@dataclass(frozen=True, slots=True)
class Publication:
    """Where the views are (empty: there is none), and what could not be posted and why."""

    comment_url: str
    check_url: str
    warnings: tuple[str, ...]


def open_github(context: Context, token: str, dry_run: Path | None = None) -> Repository:
    """The repository of the run for a token, or a folder that gets what would be posted."""
    # PyGithub is slow to import.
    from routing_action.github.client import open_dry_run, open_repository  # noqa: PLC0415

    if dry_run is not None:
        return open_dry_run(context.repository, dry_run)
    if not token:
        raise UsageError("no token", remedy="pass `github.token`, or use --dry-run DIR")
    is_local = context.api_url.startswith(("http://127.0.0.1:", "http://localhost:"))
    pauses = {"pause_seconds": 0.0, "write_seconds": 0.0} if is_local else {}
    return open_repository(context.api_url, context.repository, token, **pauses)


def post(
    rendered: Rendered,
    marker: Marker,
    *,
    repository: Repository,
    context: Context,
    links: RunLinks,
    mode: CommentMode,
    authors: tuple[str, ...] = (WORKFLOW_AUTHOR,),
    hint: int | None = None,
) -> Publication:
    """Post check run and comment; each failure becomes a warning, and the other is still tried.

    `authors` are the logins of our comments, `hint` is the pull request that the results name, for
    a run whose event names none.
    """
    failures: list[GitHubError] = []

    def attempt(work: Callable[[], str]) -> str:
        try:
            return work()
        except GitHubError as error:
            failures.append(error)
            return ""

    def comment() -> str:
        number = None if mode is CommentMode.OFF else find_pull_request(repository, context, hint)
        if number is None:
            return ""
        bodies = Bodies(rendered.comment, rendered.superseded)
        return StickyComment(repository, number, authors).publish(mode, marker, bodies).url

    check_url = ""
    if links.sha:
        check_url = attempt(lambda: publish_check(repository, links, rendered.check))
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


def marker_for(delta: Delta, links: RunLinks) -> Marker:
    """The marker of a comment about a delta; its news change when the rows worth a look do."""
    changed = [(row.case_id, row.agent, row.kind.value) for row in changed_rows(delta)]
    has_news = changed or delta.left_out or delta.edits or delta.baseline.edited
    is_quiet = delta.conclusion is Conclusion.SUCCESS and not has_news
    left = [(one.case_id, one.agent) for one in delta.left_out]
    told = repr((delta.conclusion.value, delta.reasons, sorted(changed), left, delta.edits))
    return _marker(links, delta.conclusion, NO_NEWS if is_quiet else _digest(told))


def error_marker(message: str, links: RunLinks) -> Marker:
    """The marker of a comment about a gate that could not decide."""
    return _marker(links, Conclusion.FAILURE, _digest(message))


def _marker(links: RunLinks, conclusion: Conclusion, news: str) -> Marker:
    return Marker(
        key=links.key,
        sha=links.sha,
        run=links.run_id,
        number=links.run_number,
        attempt=links.run_attempt,
        conclusion=conclusion.value,
        news=news,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
