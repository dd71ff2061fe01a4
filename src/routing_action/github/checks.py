"""The check run: one for each key, run and attempt, with annotations in batches of 50."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from routing_action.github.client import Client
from routing_action.github.publication import Annotation, CheckOutput, RunLinks

BATCH = 50
TEXT_BYTES = 65_535
DETAIL_BYTES = 64_000
TITLE_LENGTH = 255


def publish_check(client: Client, place: RunLinks, output: CheckOutput) -> str:
    """Make the check run on `place.sha`, or bring this run's own up to date; its address.

    More annotations than fit into one request follow in further ones, which append. Raises
    ApiError where GitHub refuses; a personal token can never make check runs.
    """
    runs = f"/repos/{place.repository}/check-runs"
    own = f"routing-action/{place.key}/{place.run_id or '0'}/{place.run_attempt}"
    first = output.annotations[:BATCH]
    body: dict[str, Any] = {
        "name": output.name,
        "external_id": own,
        "status": "completed",
        "conclusion": output.conclusion,
        **({"details_url": place.run_url} if place.run_url else {}),
    }
    made = _find(client, place, output.name, own)
    if made is None:
        body |= {"head_sha": place.sha, "output": _describe(output, first)}
        made = client.post(runs, body, find=lambda: _find(client, place, output.name, own))
        there = len(first)
    else:
        # Annotations are only ever added, and those of an earlier try are there already.
        there = _count(made, len(output.annotations))
        made = client.patch(f"{runs}/{made['id']}", {**body, "output": _describe(output, ())})
    for start in range(there, len(output.annotations), BATCH):
        more = {"output": _describe(output, output.annotations[start : start + BATCH])}
        grown = partial(_find, client, place, output.name, own, more_than=start)
        client.patch(f"{runs}/{made['id']}", more, find=grown)
    url = made.get("html_url")
    return url if isinstance(url, str) else ""


def _find(
    client: Client, place: RunLinks, name: str, own: str, *, more_than: int = -1
) -> dict[str, Any] | None:
    """This run's check run; None where there is none with more annotations than that."""
    path = f"/repos/{place.repository}/commits/{place.sha}/check-runs"
    for page in client.pages(path, check_name=name, filter="all"):
        for run in (page.get("check_runs") if isinstance(page, dict) else None) or []:
            if isinstance(run, dict) and run.get("external_id") == own and "id" in run:
                return run if _count(run, 0) > more_than else None
    return None


def _count(run: dict[str, Any], otherwise: int) -> int:
    """How many annotations a check run has."""
    output = run.get("output")
    count = output.get("annotations_count") if isinstance(output, dict) else None
    return count if isinstance(count, int) else otherwise


def _describe(output: CheckOutput, annotations: Sequence[Annotation]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "title": output.title[:TITLE_LENGTH],
        "summary": cut_bytes(output.summary, TEXT_BYTES),
        "text": cut_bytes(output.text, TEXT_BYTES),
        "annotations": [_annotation(one) for one in annotations],
    }
    return described


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
