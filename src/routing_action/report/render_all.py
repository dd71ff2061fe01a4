"""Renders a delta into everything that is published of it, and into files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from routing_action.files.atomic import stream_atomically, write_atomically
from routing_action.gate.model import Delta
from routing_action.github.publication import CheckOutput, RunLinks
from routing_action.report.check import build_check, check_name
from routing_action.report.escape import code_block
from routing_action.report.html.write import write_html
from routing_action.report.junit import write_junit
from routing_action.report.markdown import (
    COMMENT_BYTES,
    SUMMARY_BYTES,
    Renderer,
    render_superseded,
)
from routing_action.report.sandbox import prefer_overrides
from routing_action.report.steps import name_source
from routing_action.results.past.trends import Trend
from routing_action.results.transcript_lines import stream_units

HTML_FILE = "report.html"
JUNIT_FILE = "junit.xml"
COMMENT_FILE = "comment.md"
SUMMARY_FILE = "summary.md"

_SHORTER_COMMENTS = (20_000, 5_000)
"""Bytes of what is tried, with our own templates, where GitHub finds a comment too long."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """`comment` holds the same in forms from longest to shortest, all without a marker."""

    comment: Sequence[str]
    superseded: str
    summary: str
    check: CheckOutput


def render_all(
    delta: Delta, place: RunLinks, templates: Path | None = None
) -> tuple[Rendered, tuple[str, ...]]:
    """Everything that is posted, and warnings about templates that could not be used."""

    def draw(overrides: Path | None) -> Rendered:
        renderer = Renderer(delta, place, overrides)
        plain = Renderer(delta, place) if overrides else renderer
        return Rendered(
            comment=(
                renderer.render("comment.md.j2", COMMENT_BYTES),
                *(plain.render("comment.md.j2", budget) for budget in _SHORTER_COMMENTS),
            ),
            superseded=render_superseded(place, "there is nothing to report now"),
            summary=renderer.render("summary.md.j2", SUMMARY_BYTES),
            check=build_check(delta, place, overrides=overrides),
        )

    return prefer_overrides(draw, templates)


def render_error(message: str, place: RunLinks) -> Rendered:
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


def write_reports(
    delta: Delta,
    folder: Path,
    place: RunLinks,
    *,
    results: Sequence[Path] = (),
    templates: Path | None = None,
    trends: Sequence[Trend] = (),
) -> tuple[str, ...]:
    """Write comment, summary, HTML and JUnit into a folder; warnings about templates.

    `results` are results.json files or folders of them, for the units' details; without them the
    HTML shows the delta alone. `trends` are what the history tells of pairs.
    """
    rendered, warnings = render_all(delta, place, templates)
    write_atomically(folder / COMMENT_FILE, rendered.comment[0])
    write_atomically(folder / SUMMARY_FILE, rendered.summary)
    warnings += write_html_file(folder / HTML_FILE, delta, place, results, templates, trends)
    write_junit_file(folder / JUNIT_FILE, delta, place, results)
    return warnings


def write_html_file(
    file: Path,
    delta: Delta,
    place: RunLinks,
    results: Sequence[Path],
    templates: Path | None = None,
    trends: Sequence[Trend] = (),
) -> tuple[str, ...]:
    """Write the HTML report; a warning where the user's template could not be used."""

    def draw(overrides: Path | None) -> None:
        with stream_atomically(file) as out:
            units, folder = stream_units(results), file.parent
            source = name_source(delta, () if place.run_id else results)
            write_html(
                out,
                delta,
                units,
                place,
                source,
                folder=folder,
                overrides=overrides,
                trends=trends,
            )

    return prefer_overrides(draw, templates)[1]


def write_junit_file(file: Path, delta: Delta, place: RunLinks, results: Sequence[Path]) -> None:
    """Write the JUnit XML."""
    with stream_atomically(file) as out:
        write_junit(out, delta, stream_units(results), place)
