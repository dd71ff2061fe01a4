"""`routing-action report`: show a delta again, in any of its forms."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import click

from routing_action.cli.options import (
    delta_option,
    format_option,
    history_option,
    path_option,
    read_history_option,
    stdout_style,
    templates_option,
)
from routing_action.cli.place import find_delta, folder_of, from_here
from routing_action.files.atomic import write_atomically
from routing_action.gate.deltas import DELTA_FILE, read_delta
from routing_action.gate.judging.past_runs import add_past_runs
from routing_action.gate.model import Delta
from routing_action.github.context import read_context
from routing_action.github.publication import RunLinks
from routing_action.report.render_all import (
    HTML_FILE,
    JUNIT_FILE,
    render_all,
    write_html_file,
    write_junit_file,
    write_reports,
)
from routing_action.report.steps import name_source
from routing_action.report.terminal.delta_text import render_delta_text
from routing_action.results.batch_folder import RESULTS_FILE
from routing_action.results.past.trends import build_trends
from routing_action.results.read import read_ids

_FILES = ("html", "junit")


@click.command("report", short_help="Render a delta: text, comment, summary, HTML or JUnit.")
@delta_option
@path_option(
    "--results-dir",
    "--results",
    "results",
    multiple=True,
    metavar="PATH",
    help="The batches that were compared, for the units in HTML and JUnit (repeatable: of each "
    "pair the newest counts). Default: the delta's own batch.",
)
@format_option("text", "comment", "summary", *_FILES)
@path_option(
    "--output",
    written=True,
    help="Write here instead of stdout. Default of html and junit: a file beside the delta.",
)
@path_option(
    "--output-dir",
    "folder",
    metavar="DIR",
    written=True,
    help="Write every report into this folder.",
)
@history_option
@templates_option
def command(
    delta_file: Path | None,
    results: tuple[Path, ...],
    output_format: str,
    output: Path | None,
    folder: Path | None,
    history_folder: Path | None,
    templates: Path | None,
) -> int:
    """Render a delta for people. It judges nothing: the exit code is 0 whatever the delta says.

    Inside a workflow run the reports link to the run, the commit and the case file.
    """
    file = delta_file or _find_delta(results)
    results = results or _find_results(file)
    delta = read_delta(file)
    place = read_context(os.environ).links("routing")
    batches = [Path(from_here(folder_of(path))) for path in results]
    place = replace(place, results=name_source(delta, batches))
    history = read_history_option(history_folder)
    trends = build_trends(history.lines)
    if history.lines:
        delta = add_past_runs(delta, history.without(read_ids(results)).lines)
    if folder is not None:
        found = write_reports(
            delta, folder, place, results=results, templates=templates, trends=trends
        )
        _warn(found)
        click.echo(str(folder))
    elif output_format in _FILES:
        target = output or file.with_name(HTML_FILE if output_format == "html" else JUNIT_FILE)
        if output_format == "html":
            _warn(write_html_file(target, delta, place, results, templates, trends))
        else:
            write_junit_file(target, delta, place, results)
        if output is None:
            click.echo(from_here(target))
    else:
        text = _render(output_format, delta, place, templates)
        if output is None:
            click.echo(text, nl=False)
        else:
            write_atomically(output, text)
    return 0


def _find_delta(results: tuple[Path, ...]) -> Path:
    """The newest delta beside the named results, else the newest batch's."""
    folders = [path if path.is_dir() else path.parent for path in results]
    return find_delta(max(folders, key=_age_of_delta, default=None))


def _age_of_delta(folder: Path) -> float:
    file = folder / DELTA_FILE
    return file.stat().st_mtime if file.is_file() else 0


def _find_results(delta: Path) -> tuple[Path, ...]:
    """The results beside a delta, which it is about."""
    beside = delta.with_name(RESULTS_FILE)
    return (beside,) if beside.is_file() else ()


def _render(output_format: str, delta: Delta, place: RunLinks, templates: Path | None) -> str:
    if output_format == "text":
        return render_delta_text(delta, stdout_style(os.environ), place=place) + "\n"
    rendered, warnings = render_all(delta, place, templates)
    _warn(warnings)
    return rendered.summary if output_format == "summary" else rendered.comment[0]


def _warn(warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        click.echo(f"routing-action: warning: {warning}", err=True)
