"""`routing-action report`: show a delta again, in any of its forms."""

from __future__ import annotations

import os
from pathlib import Path

import click

from routing_action.cli.options import stdout_style
from routing_action.report.delta_text import render_delta_text
from routing_action.store.batch import write_atomically
from routing_action.store.deltas import read_delta


@click.command("report", short_help="Render a delta for people: text or markdown.")
@click.option(
    "--delta",
    "delta_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    default=Path("delta.json"),
    show_default=True,
    help="What `compare --output FILE` wrote.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "markdown"]),
    default="text",
    show_default=True,
)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write here instead of stdout.")  # fmt: skip
def command(delta_file: Path, output_format: str, output: Path | None) -> int:
    """Render a delta for people. It judges nothing: the exit code is 0 whatever the delta says."""
    delta = read_delta(delta_file)
    if output_format == "text":
        text = render_delta_text(delta, stdout_style(os.environ)) + "\n"
    else:
        from routing_action.report.render import render_markdown  # noqa: PLC0415

        text = render_markdown(delta)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_atomically(output, text)
    return 0
