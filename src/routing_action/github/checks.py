"""The check run: one for each key, run and attempt, with annotations in batches of 50."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from routing_action.github.failures import asking, write_once
from routing_action.github.publication import Annotation, CheckOutput, RunLinks

if TYPE_CHECKING:
    from github.CheckRun import CheckRun
    from github.Repository import Repository

BATCH = 50
TEXT_BYTES = 65_535
DETAIL_BYTES = 64_000
TITLE_LENGTH = 255
_WHAT = ("write the check run", "checks: write")


def publish_check(repository: Repository, links: RunLinks, output: CheckOutput) -> str:
    """Make the check run on `links.sha`, or bring this run's own up to date; its address.

    More annotations than fit into one request follow in further ones, which append. Raises
    ApiError where GitHub does not do it; a personal token can never make check runs.
    """
    own = f"routing-action/{links.key}/{links.run_id or '0'}/{links.run_attempt}"
    fields: dict[str, Any] = {
        "name": output.name,
        "external_id": own,
        "status": "completed",
        "conclusion": output.conclusion,
        **({"details_url": links.run_url} if links.run_url else {}),
    }

    def find(more_than: int = -1) -> CheckRun | None:
        """This run's check run; None where there is none with more annotations than that."""
        with asking("read the check runs", "checks: read"):
            runs = repository.get_commit(links.sha).get_check_runs(output.name, filter="all")
            made = next((run for run in runs if run.external_id == own), None)
            return made if made and _count(made) > more_than else None

    made = find()
    if made is None:
        first = _describe(output, output.annotations[:BATCH])
        create = partial(repository.create_check_run, head_sha=links.sha, output=first, **fields)
        made, there = write_once(*_WHAT, create, find), BATCH
    else:
        # Annotations are only ever added, and those of an earlier try are there already.
        there = _count(made)
        edit = partial(made.edit, output=_describe(output, ()), **fields)
        write_once(*_WHAT, edit, lambda: None)
    for start in range(there, len(output.annotations), BATCH):
        more = _describe(output, output.annotations[start : start + BATCH])
        append: Callable[[], CheckRun | None] = partial(made.edit, output=more)
        write_once(*_WHAT, append, partial(find, start))
    return made.html_url


def _count(run: CheckRun) -> int:
    """How many annotations a check run has."""
    return run.output.annotations_count or 0


def _describe(output: CheckOutput, annotations: Sequence[Annotation]) -> dict[str, Any]:
    return {
        "title": output.title[:TITLE_LENGTH],
        "summary": cut_bytes(output.summary, TEXT_BYTES),
        "text": cut_bytes(output.text, TEXT_BYTES),
        "annotations": [_annotation(one) for one in annotations],
    }


def _annotation(one: Annotation) -> dict[str, Any]:
    return {
        "path": one.path,
        "start_line": one.start_line,
        "end_line": one.end_line,
        "annotation_level": one.level,
        "title": one.title[:TITLE_LENGTH],
        "message": cut_bytes(one.message, DETAIL_BYTES) or "-",
        "raw_details": cut_bytes(one.raw_details, DETAIL_BYTES),
    }


def cut_bytes(text: str, limit: int) -> str:
    """The longest beginning of a text that has at most `limit` bytes of UTF-8."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else data[:limit].decode("utf-8", "ignore")


def offer_actions(
    repository: Repository, check_run_id: int, actions: Sequence[Mapping[str, str]]
) -> None:
    """Put buttons on a check run, in place of those that it had; at most three.

    Only the App that made the check run can, and hears of who presses them.
    """
    with asking("put buttons on the check run", "checks: write"):
        repository.requester.requestJsonAndCheck(
            "PATCH",
            f"{repository.url}/check-runs/{check_run_id}",
            input={"actions": [dict(one) for one in actions]},
        )
