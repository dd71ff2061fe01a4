"""Writes the reports that are files: the HTML page, JUnit XML, and the delta as markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from routing_action.domain.delta import Delta
from routing_action.domain.place import Place
from routing_action.domain.unit_row import UnitRecord
from routing_action.errors import HarnessError
from routing_action.store.measured_files import no_collector
from routing_action.store.unit_files import stream_units
from routing_action.store.unmeasured import has_results

HTML_FILE = "report.html"
JUNIT_FILE = "junit.xml"
MARKDOWN_FILE = "report.md"


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Where the reports are."""

    html: Path
    junit: Path
    markdown: Path


def write_report_files(
    delta: Delta,
    results: Sequence[Path],
    place: Place,
    folder: Path,
    *,
    templates: Path | None = None,
) -> ReportFiles:
    """Write all three into the folder, which is made; `results` are folders to search for units.

    Raises HarnessError where a file cannot be written.
    """
    # The template engine is imported only where something is rendered.
    from routing_action.report.html import write_html  # noqa: PLC0415
    from routing_action.report.junit import write_junit  # noqa: PLC0415
    from routing_action.report.render import render_markdown  # noqa: PLC0415

    files = ReportFiles(folder / HTML_FILE, folder / JUNIT_FILE, folder / MARKDOWN_FILE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with no_collector():
            with files.html.open("w", encoding="utf-8", errors="replace") as out:
                write_html(out, delta, _units(results), place, overrides=templates)
            with files.junit.open("w", encoding="utf-8", errors="replace") as out:
                write_junit(out, delta, _units(results), place)
        text = render_markdown(delta, templates)
        files.markdown.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise HarnessError(
            f"{folder}: a report cannot be written: {error.strerror}", remedy="free space there"
        ) from None
    return files


def _units(results: Sequence[Path]) -> Iterator[UnitRecord]:
    """The units of the folders; none where no leg left any."""
    return stream_units(results) if has_results(results) else iter(())
