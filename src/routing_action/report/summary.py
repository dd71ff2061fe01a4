"""The job's summary: the comment's content with room for nearly all of it."""

from __future__ import annotations

from pathlib import Path

from routing_action.gate.model import Delta
from routing_action.github.publication import RunLinks
from routing_action.report.render import Renderer

SUMMARY_BYTES = 900 * 1024


def render_summary(
    delta: Delta, place: RunLinks, *, overrides: Path | None = None, budget: int = SUMMARY_BYTES
) -> str:
    """The summary in at most `budget` bytes of UTF-8 (GitHub drops one of 1 MiB or more).

    UsageError where a template of `overrides` cannot be used.
    """
    return Renderer(delta, place, overrides).render("summary.md.j2", budget)
