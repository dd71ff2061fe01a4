"""`routing-action schema NAME`: the JSON Schema of a file format, derived from its model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click
from pydantic import TypeAdapter

from routing_action.agents.described.routing_file import ROUTING_SCHEMA_VERSION, RoutingFile
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import CASES_SCHEMA_VERSION
from routing_action.gate.baselines import BASELINE_SCHEMA_VERSION, ENTRIES
from routing_action.gate.model import DELTA_SCHEMA_VERSION, Delta
from routing_action.results.model import SCHEMA_VERSION, Results

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
                "properties": {
                    "cases": inner,
                    "$schema": {"type": "string"},
                    "schema_version": {"const": CASES_SCHEMA_VERSION},
                },
                "additionalProperties": False,
            },
        ]
    }
    return {"title": "cases.json", **shape, "$defs": definitions}


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "baseline": lambda: {**ENTRIES.json_schema(), "title": "provider-baseline.json"},
    "cases": _cases,
    "delta": lambda: Delta.model_json_schema(mode="serialization"),
    "results": lambda: Results.model_json_schema(mode="serialization"),
    "routing": lambda: {**RoutingFile.model_json_schema(), "title": "routing.toml"},
}
"""The schemas by the name of their file."""

VERSIONS = {
    "baseline": BASELINE_SCHEMA_VERSION,
    "cases": CASES_SCHEMA_VERSION,
    "delta": DELTA_SCHEMA_VERSION,
    "results": SCHEMA_VERSION,
    "routing": ROUTING_SCHEMA_VERSION,
}
"""The version of each; another one is another layout, which this release does not read."""


def render_schema(name: str) -> str:
    """The text of a schema: two-space indent and a newline at the end."""
    number = f"urn:routing-action:{name}:{VERSIONS[name]}"
    schema = {"$schema": _DIALECT, "$id": number, **SCHEMAS[name]()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


@click.command("schema", short_help="Print the JSON Schema of a file format.")
@click.argument("name", type=click.Choice(sorted(SCHEMAS)))
def command(name: str) -> int:
    """Print the JSON Schema of a file format, as published under docs/schema/."""
    click.echo(render_schema(name), nl=False)
    return 0
