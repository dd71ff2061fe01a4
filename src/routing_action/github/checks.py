"""The check run: one for each key, run and attempt, with annotations in batches of 50."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from routing_action.domain.place import Place
from routing_action.domain.publication import Annotation, CheckOutput
from routing_action.github.client import Client

BATCH = 50
TEXT_BYTES = 65_535
DETAIL_BYTES = 64_000
TITLE_LENGTH = 255


def publish_check(client: Client, place: Place, output: CheckOutput) -> str:
    """Make the check run on `place.sha`, or bring this run's own up to date; its address.

    More annotations than fit into one request follow in further ones, which append. Raises
    ApiError where GitHub refuses; a personal token can never make check runs.
    """
    runs = f"/repos/{place.repository}/check-runs"
    own = f"routing-action/{place.key}/{place.run_id or '0'}/{place.run_attempt}"
    first, *more = list(_batches(output.annotations)) or [()]
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
    else:
        # Annotations are only ever added, and this run's are there already.
        more = []
        made = client.patch(f"{runs}/{made['id']}", {**body, "output": _describe(output, ())})
    for batch in more:
        client.patch(f"{runs}/{made['id']}", {"output": _describe(output, batch)})
    url = made.get("html_url")
    return url if isinstance(url, str) else ""


def _find(client: Client, place: Place, name: str, own: str) -> dict[str, Any] | None:
    path = f"/repos/{place.repository}/commits/{place.sha}/check-runs"
    for page in client.pages(path, check_name=name, filter="all"):
        for run in (page.get("check_runs") if isinstance(page, dict) else None) or []:
            if isinstance(run, dict) and run.get("external_id") == own and "id" in run:
                return run
    return None


def _batches(annotations: Sequence[Annotation]) -> Iterator[Sequence[Annotation]]:
    for start in range(0, len(annotations), BATCH):
        yield annotations[start : start + BATCH]


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
