"""`routing-action schema NAME`: the JSON Schema of a file format."""

from __future__ import annotations

import click

from routing_action.cli.schemas import SCHEMAS, render_schema


@click.command("schema", short_help="Print the JSON Schema of a file format.")
@click.argument("name", type=click.Choice(sorted(SCHEMAS)))
def command(name: str) -> int:
    """Print the JSON Schema of a file format, as published under docs/schema/."""
    click.echo(render_schema(name), nl=False)
    return 0
