"""`routing-action schema NAME`: the JSON Schema of a file format, derived from its model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click
from pydantic import TypeAdapter

from routing_action.agents.described.routing_file import RoutingFile
from routing_action.corpus.case import Case
from routing_action.gate.model import Delta
from routing_action.results.model import Results

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _cases() -> dict[str, Any]:
    inner = TypeAdapter(list[Case]).json_schema()
    definitions = inner.pop("$defs")
    shape = {
        "anyOf": [
            inner,
            {
                "type": "object",
                "required": ["cases"],
                "properties": {"cases": inner, "$schema": {"type": "string"}},
                "additionalProperties": False,
            },
        ]
    }
    return {"title": "cases.json", **shape, "$defs": definitions}


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "cases": _cases,
    "delta": lambda: Delta.model_json_schema(mode="serialization"),
    "results": lambda: Results.model_json_schema(mode="serialization"),
    "routing": lambda: {**RoutingFile.model_json_schema(), "title": "routing.toml"},
}
"""The schemas by the name of their file."""


def render_schema(name: str) -> str:
    """The text of a schema: two-space indent and a newline at the end."""
    schema = {"$schema": _DIALECT, **SCHEMAS[name]()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


@click.command("schema", short_help="Print the JSON Schema of a file format.")
@click.argument("name", type=click.Choice(sorted(SCHEMAS)))
def command(name: str) -> int:
    """Print the JSON Schema of a file format, as published under docs/schema/."""
    click.echo(render_schema(name), nl=False)
    return 0
