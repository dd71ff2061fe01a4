"""Judges requests and answers by GitHub's OpenAPI description, and fills answers up by it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

FILE = Path(__file__).with_name("openapi.json")
_BASE = "urn:github"
_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Operation:
    """One operation, with the values that a path holds for its parameters."""

    id: str
    spec: Mapping[str, Any]
    values: Mapping[str, str]
    path: str = ""


class Description:
    """The slice of GitHub's description, with `nullable` put as JSON Schema puts it."""

    def __init__(self) -> None:
        loaded = json.loads(FILE.read_text("utf-8"))
        self.document: dict[str, Any] = _with_nulls(loaded)

    def find(self, verb: str, path: str) -> Operation | None:
        """The operation of a request; None where the description has none."""
        for pattern, template, verbs in self._routes:
            match = pattern.fullmatch(path)
            if match and verb.lower() in verbs:
                values = {name: unquote(value) for name, value in match.groupdict().items()}
                spec = self.document["paths"][template][verb.lower()]
                return Operation(spec["operationId"], spec, values, path)
        return None

    def judge_request(
        self, operation: Operation, query: Mapping[str, str], body: object
    ) -> Iterator[str]:
        """What of a request the description does not allow."""
        parameters = [self.resolve(one) for one in operation.spec.get("parameters", [])]
        known = {one["name"] for one in parameters if one["in"] == "query"}
        yield from (f"unknown query {name}" for name in query.keys() - known)
        for one in parameters:
            given = query if one["in"] == "query" else operation.values
            if one["name"] in given:
                value = _typed(given[one["name"]], self.resolve(one["schema"]))
                yield from self._errors(one["schema"], value, one["name"])
        content = operation.spec.get("requestBody", {}).get("content", {})
        if content:
            yield from self._errors(content["application/json"]["schema"], body, "body")
        elif body is not None:
            yield "a body where none belongs"

    def judge_answer(self, operation: Operation, status: int, body: object) -> Iterator[str]:
        """What of an answer the description does not allow; errors are told by message alone."""
        schema = self.answer_schema(operation, status)
        if schema is not None:
            yield from self._errors(schema, body, f"answer {status}")
        elif status < 300 and str(status) not in operation.spec["responses"]:
            yield f"answer {status} is none of the operation's"

    def answer_schema(self, operation: Operation, status: int) -> Mapping[str, Any] | None:
        """The schema of an answer's body; None where it has none."""
        answer = self.resolve(operation.spec["responses"].get(str(status), {}))
        content = answer.get("content", {}).get("application/json")
        return content["schema"] if content else None

    def fill(self, schema: Mapping[str, Any], values: object) -> Any:
        """The values with whatever else the schema requires, made up as plainly as possible."""
        schema = self.resolve(schema)
        chosen = schema.get("discriminator")
        if chosen and isinstance(values, dict) and chosen["propertyName"] in values:
            kind = values[chosen["propertyName"]]
            return self.fill({"$ref": chosen["mapping"][kind]}, values)
        for key in ("allOf", "anyOf", "oneOf"):
            if key in schema and "properties" not in schema:
                return self.fill(schema[key][0], values)
        kind = _kind(schema)
        if kind == "object" or isinstance(values, dict):
            given = values if isinstance(values, dict) else {}
            properties = schema.get("properties", {})
            wanted = [*schema.get("required", []), *given]
            return {
                name: self.fill(properties.get(name, {}), given.get(name, ...)) for name in wanted
            }
        if isinstance(values, list):
            return [self.fill(schema.get("items", {}), one) for one in values]
        return values if values is not ... else _made_up(schema, kind)

    def resolve(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a reference leads to."""
        while "$ref" in value:
            _, kind, name = value["$ref"].rsplit("/", 2)
            value = self.document["components"][kind][name]
        return value

    def _errors(self, schema: Mapping[str, Any], value: object, where: str) -> Iterator[str]:
        wrapped = json.loads(json.dumps(schema).replace('"#/', f'"{_BASE}#/'))
        for error in Draft7Validator(wrapped, registry=self._registry).iter_errors(value):
            place = ".".join(map(str, error.absolute_path))
            yield f"{where} {place}: {error.message[:300]}"

    @cached_property
    def _registry(self) -> Registry[Any]:
        registry: Registry[Any] = Registry()
        found: Registry[Any] = registry.with_resource(_BASE, DRAFT7.create_resource(self.document))
        return found

    @cached_property
    def _routes(self) -> list[tuple[re.Pattern[str], str, Mapping[str, Any]]]:
        # A plain path goes before one with a parameter in the same place.
        templates = sorted(self.document["paths"], key=lambda one: (one.count("{"), one))
        return [(_pattern(one), one, self.document["paths"][one]) for one in templates]


@cache
def load_description() -> Description:
    """The description, read once."""
    return Description()


def _pattern(template: str) -> re.Pattern[str]:
    parts = _PARAMETER.split(template)
    words = [
        f"(?P<{part}>{'.+' if part in ('path', 'basehead') else '[^/]+'})" if place % 2
        else re.escape(part)
        for place, part in enumerate(parts)
    ]  # fmt: skip
    return re.compile("".join(words))


def _with_nulls(value: Any) -> Any:
    """OpenAPI 3.0's `nullable`, as JSON Schema says it; enums there leave null out."""
    if isinstance(value, list):
        return [_with_nulls(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: _with_nulls(one) for key, one in value.items()}
    if found.pop("nullable", None) is not True:
        return found
    if set(found) - {"type", "enum", "format", "items", "properties", "required", "title"}:
        return {"anyOf": [found, {"type": "null"}]}
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    if "type" in found:
        found["type"] = [found["type"], "null"]
    return found


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "")
    return str(kind[0] if isinstance(kind, list) else kind)


def _made_up(schema: Mapping[str, Any], kind: str) -> Any:
    if isinstance(schema.get("type"), list):
        return None
    if "enum" in schema:
        return schema["enum"][0]
    texts = {"uri": "https://github.example/x", "date-time": "2026-01-01T00:00:00Z"}
    plain = {"string": texts.get(schema.get("format", ""), "x"), "integer": 1, "number": 1}
    return {**plain, "boolean": False, "array": []}.get(kind)


def _typed(text: str, schema: Mapping[str, Any]) -> object:
    if _kind(schema) == "integer" and text.isdecimal():
        return int(text)
    return {"true": True, "false": False}.get(text, text) if _kind(schema) == "boolean" else text
