"""Renders a delta into everything that is published of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from routing_action.domain.delta import Delta
from routing_action.domain.place import Place
from routing_action.domain.publication import CheckOutput
from routing_action.report.escape import code_block, code_span
from routing_action.report.view import build_view


@dataclass(frozen=True, slots=True)
class Rendered:
    """`comment` holds the same in forms from longest to shortest, all without a marker."""

    comment: tuple[str, ...]
    superseded: str
    summary: str
    check: CheckOutput


def render_all(
    delta: Delta, place: Place, templates: Path | None = None
) -> tuple[Rendered, tuple[str, ...]]:
    """Everything that is posted, and warnings about templates that could not be used."""
    # jinja2 is imported only where something is rendered.
    from routing_action.report.render import render_markdown  # noqa: PLC0415

    text = render_markdown(delta, templates)
    title = build_view(delta).headline
    short = code_span(title)
    check = CheckOutput(
        name=check_name(place),
        conclusion=delta.conclusion.value,
        title=title,
        summary=text,
        text="",
    )
    return Rendered((text, short), "Superseded by a later run.", text, check), ()


def render_error(message: str, place: Place) -> Rendered:
    """What is posted where the gate could not decide at all: a red one that says why."""
    text = (
        "> [!CAUTION]\n> **Routing could not be judged**\n\n"
        f"{code_block(message)}\n\nNothing was compared, so nothing counts as passed.\n"
    )
    if place.run_url:
        text += f"\n[The run's log]({place.run_url})\n"
    check = CheckOutput(
        name=check_name(place),
        conclusion="failure",
        title="Routing could not be judged",
        summary=text,
        text="",
    )
    return Rendered((text,), text, text, check)


def check_name(place: Place) -> str:
    """The name of the check run, which branch protection can ask for."""
    return "routing gate" if place.key == "routing" else f"routing gate ({place.key})"
