"""The JSON Schemas of our files, derived from the models."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from routing_action.agents.routing_file import RoutingFile
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


def _results() -> dict[str, Any]:
    return Results.model_json_schema(mode="serialization", by_alias=True)


def _delta() -> dict[str, Any]:
    return Delta.model_json_schema(mode="serialization")


def _routing() -> dict[str, Any]:
    return {**RoutingFile.model_json_schema(), "title": "routing.toml"}


SCHEMAS = {"cases": _cases, "delta": _delta, "results": _results, "routing": _routing}
"""The schemas by the name of their file."""


def render_schema(name: str) -> str:
    """The text of a schema: two-space indent and a newline at the end."""
    schema = {"$schema": _DIALECT, **SCHEMAS[name]()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
