"""The pull request's comment: the verdict, what changed with its evidence, and what to do."""

from __future__ import annotations

from pathlib import Path

from routing_action.gate.model import Delta
from routing_action.github.publication import RunLinks
from routing_action.report.escape import link, phrase
from routing_action.report.limits import cut_bytes
from routing_action.report.render import Renderer

COMMENT_BYTES = 60_000


def render_comment(
    delta: Delta, place: RunLinks, *, overrides: Path | None = None, budget: int = COMMENT_BYTES
) -> str:
    """The body in at most `budget` bytes of UTF-8, without the marker that finds it again.

    UsageError where a template of `overrides` cannot be used.
    """
    return Renderer(delta, place, overrides).render("comment.md.j2", budget)


def render_superseded(place: RunLinks, reason: str) -> str:
    """What replaces an earlier, red comment when there is nothing to report now, and why."""
    said = phrase(reason, limit=300)
    run = link("the present run", place.run_url) if place.run_url else "the present run"
    text = (
        "> [!NOTE]\n"
        f"> **Routing: the earlier result is superseded**: {said}.\n\n"
        f"What stood here was of an earlier commit and no longer counts; see {run}.\n"
    )
    return cut_bytes(text, COMMENT_BYTES)
