"""Renders a delta into everything that is published of it, and into files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, overload

from routing_action.files.atomic import stream_atomically, write_atomically
from routing_action.gate.model import Delta
from routing_action.github.publication import CheckOutput, RunLinks
from routing_action.report.escape import code_block
from routing_action.results.transcript_lines import stream_units

HTML_FILE = "report.html"
JUNIT_FILE = "junit.xml"
COMMENT_FILE = "comment.md"
SUMMARY_FILE = "summary.md"

COMMENT_BUDGETS = (60_000, 20_000, 5_000)
"""Bytes of a comment, and of what is tried where GitHub finds that too long."""


class Forms(Sequence[str]):
    """A text in forms from longest to shortest; all but the first are made when asked for.

    They are wanted only where GitHub refuses the first, and take long where much is red.
    """

    def __init__(self, draw: Callable[[int], str], budgets: Sequence[int]) -> None:
        """`draw` makes the form of so many bytes; the first is made at once."""
        self._draw = draw
        self._budgets = tuple(budgets)
        self._made = {0: draw(self._budgets[0])}

    def __len__(self) -> int:
        """How many forms there are."""
        return len(self._budgets)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        """A form; IndexError past the last one."""
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if place not in self._made:
            self._made[place] = self._draw(self._budgets[place])
        return self._made[place]


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
    # jinja2 is imported only where something is rendered.
    from routing_action.report.check import build_check  # noqa: PLC0415
    from routing_action.report.comment import render_comment, render_superseded  # noqa: PLC0415
    from routing_action.report.render import prefer_overrides  # noqa: PLC0415
    from routing_action.report.summary import render_summary  # noqa: PLC0415

    def draw(overrides: Path | None) -> Rendered:
        return Rendered(
            comment=Forms(
                lambda budget: render_comment(delta, place, overrides=overrides, budget=budget),
                COMMENT_BUDGETS,
            ),
            superseded=render_superseded(place, "there is nothing to report now"),
            summary=render_summary(delta, place, overrides=overrides),
            check=build_check(delta, place, overrides=overrides),
        )

    rendered, warning = prefer_overrides(draw, templates)
    return rendered, ((warning,) if warning else ())


def render_error(message: str, place: RunLinks) -> Rendered:
    """What is posted where the gate could not decide at all: a red one that says why."""
    from routing_action.report.check import check_name  # noqa: PLC0415

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
) -> tuple[str, ...]:
    """Write comment, summary, HTML and JUnit into a folder; warnings about templates.

    `results` are results.json files or folders of them, for the units' details; without them the
    HTML shows the delta alone.
    """
    rendered, warnings = render_all(delta, place, templates)
    write_atomically(folder / COMMENT_FILE, rendered.comment[0])
    write_atomically(folder / SUMMARY_FILE, rendered.summary)
    warning = write_html_file(folder / HTML_FILE, delta, place, results, templates)
    write_junit_file(folder / JUNIT_FILE, delta, place, results)
    return (*warnings, *([warning] if warning else []))


def write_html_file(
    file: Path,
    delta: Delta,
    place: RunLinks,
    results: Sequence[Path],
    templates: Path | None = None,
) -> str:
    """Write the HTML report; why the user's template could not be used, or an empty text."""
    from routing_action.report.html import write_html  # noqa: PLC0415
    from routing_action.report.render import prefer_overrides  # noqa: PLC0415

    def draw(overrides: Path | None) -> None:
        _stream(
            file,
            lambda out: write_html(out, delta, stream_units(results), place, overrides=overrides),
        )

    return prefer_overrides(draw, templates)[1]


def write_junit_file(file: Path, delta: Delta, place: RunLinks, results: Sequence[Path]) -> None:
    """Write the JUnit XML."""
    from routing_action.report.junit import write_junit  # noqa: PLC0415

    _stream(file, lambda out: write_junit(out, delta, stream_units(results), place))


def _stream(file: Path, write: Callable[[TextIO], None]) -> None:
    with stream_atomically(file) as out:
        write(out)
