"""The newest report on a pull request: what its comment says, and the delta that it was made of."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from routing_action.errors import DocumentError
from routing_action.gate.deltas import read_delta
from routing_action.gate.model import Delta
from routing_action.github.artifacts import fetch_artifact
from routing_action.github.comments import Marker, parse_marker
from routing_action.github.failures import asking

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.Repository import Repository

_DELTA = "delta.json"


@dataclass(frozen=True, slots=True)
class LastReport:
    """The comment's marker and address, and its delta; both None where there is none.

    `problem` says why there is no delta, in a sentence without a full stop.
    """

    marker: Marker | None = None
    url: str = ""
    delta: Delta | None = None
    problem: str = ""


def fetch_last_report(
    repository: Repository, issue: Issue, key: str, authors: tuple[str, ...]
) -> LastReport:
    """Find our comment on a pull request, and bring the report of its run.

    The report is data: what it says is shown, or chooses among known cases, and never more.
    Raises ApiError where GitHub does not answer.
    """
    marker, url = find_marker(issue, key, authors)
    if marker is None:
        return LastReport(problem="there is no report on this pull request yet")
    if not marker.run:
        return LastReport(marker, url, problem="the report was not made by a workflow run")
    try:
        delta = _fetch_delta(repository, int(marker.run), key)
    except DocumentError as error:
        return LastReport(marker, url, problem=f"its report cannot be read: {error.cause}")
    return LastReport(marker, url, delta)


def find_marker(issue: Issue, key: str, authors: tuple[str, ...]) -> tuple[Marker | None, str]:
    """What our newest comment says of itself, and its address; None and "" without one."""
    with asking("read the comments", "pull-requests: read"):
        found = [
            (marker, comment.html_url)
            for comment in issue.get_comments()
            if getattr(comment.user, "login", "") in authors
            if (marker := parse_marker(comment.body)) is not None
            if marker.key == key and marker.conclusion != "superseded"
        ]
    return max(found, key=lambda one: one[0].age, default=(None, ""))


def _fetch_delta(repository: Repository, run_id: int, key: str) -> Delta:
    with tempfile.TemporaryDirectory(prefix="routing-report-") as kept:
        folder = fetch_artifact(repository, run_id, f"routing-report-{key}", Path(kept))
        return read_delta(folder / _DELTA)
