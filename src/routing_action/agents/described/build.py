"""Builds the record of an agent from its description: the user's own, or one of ours."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from routing_action.agents.provider import Provider, ReadContext, Reader

if TYPE_CHECKING:
    from routing_action.agents.described.routing_file import Description

_PACKAGE = "routing_action.agents.described"
_FIELDS = {field.name for field in fields(Provider)}


def build_provider(name: str, described: Description) -> Provider:
    """The record of an agent that the user described."""
    return _build(name, described.model_dump(), lambda: described, hints=True)


def described_providers() -> Iterator[Provider]:
    """The agents that we describe, in the order of their names.

    A description is checked when its reader is first made: that takes longer than to read it.
    """
    for file in sorted(files(_PACKAGE).iterdir(), key=lambda one: one.name):
        if file.name.endswith(".toml"):
            ((name, raw),) = tomllib.loads(file.read_text("utf-8"))["providers"].items()
            yield _build(name, raw, partial(_our_description, file.name, name))


@cache
def _our_description(file: str, name: str) -> Description:
    from routing_action.agents.described.routing_file import RoutingFile  # noqa: PLC0415

    text = files(_PACKAGE).joinpath(file).read_text("utf-8")
    return RoutingFile.model_validate(tomllib.loads(text)).providers[name]


def _build(
    name: str, raw: Mapping[str, Any], describe: Callable[[], Description], *, hints: bool = False
) -> Provider:
    given = {key: _frozen(value) for key, value in raw.items() if key in _FIELDS and value}
    return Provider(
        name=name,
        reader=partial(_read_by, name, describe, hints=hints),
        log_reader=partial(_read_log_by, name, describe) if raw.get("log_globs") else None,
        described=describe,
        reports_cost=_when_cost_shows(raw["records"]),
        **{"title": name, "has_unseen_login": raw.get("has_unseen_login", True), **given},
    )


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _read_by(
    name: str, describe: Callable[[], Description], context: ReadContext, *, hints: bool
) -> Reader:
    from routing_action.agents.described.reader import DescribedReader  # noqa: PLC0415

    return DescribedReader(name, describe(), context, hints=hints)


def _read_log_by(name: str, describe: Callable[[], Description], context: ReadContext) -> Reader:
    from routing_action.agents.described.reader import DescribedReader  # noqa: PLC0415

    described = describe()
    return DescribedReader(name, described, context, records=described.log_records)


def _when_cost_shows(records: Mapping[str, Any]) -> Literal["never", "end", "during"]:
    """Whether the stream holds the cost, and whether before its end."""
    usage = [one for one in _tables(records.get("usage")) if one.get("cost_usd")]
    ends = {kind for one in _tables(records["end"]) for kind in one["kinds"]}
    if not usage:
        return "never"
    return "end" if all(set(one["kinds"]) <= ends for one in usage) else "during"


def _tables(value: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401
    return [value] if isinstance(value, Mapping) else list(value or ())
