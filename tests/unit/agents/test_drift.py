"""What differs between what a CLI prints now and its recordings is named, each thing once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from routing_action.agents.discovery import all_providers, our_providers
from routing_action.agents.drift import Fact, compare_streams, fact_of
from routing_action.agents.survey import Survey, survey
from routing_action.evidence.outcome import RunEnd
from tests.support.builders import lines_of
from tests.support.recorded import FOLDER

Change = Callable[[dict[str, Any]], dict[str, Any] | None]


def folder_of(agent: str) -> Path:
    return max((FOLDER / "cli" / agent).iterdir())


def recorded(agent: str) -> list[Survey]:
    files = sorted(folder_of(agent).glob("*.stdout"))
    end = RunEnd(exit_code=None)
    return [survey(all_providers()[agent], lines_of(f.read_bytes()), end=end) for f in files]


def changed(agent: str, name: str, change: Change, *more: dict[str, Any]) -> Survey:
    """A recording in which each record was changed, or left out."""
    lines = lines_of((folder_of(agent) / f"{name}.stdout").read_bytes())
    records = [one for line in lines if (one := change(json.loads(line))) is not None]
    told = [json.dumps(one).encode() for one in (*records, *more)]
    return survey(all_providers()[agent], told)


def said(agent: str, *runs: Survey, fact: Fact = Fact.LOAD) -> list[str]:
    found = compare_streams([(fact, run) for run in runs], recorded(agent))
    return [str(one).partition(" (")[0] for one in found]


@pytest.mark.parametrize("agent", our_providers())
def test_what_was_recorded_has_not_drifted(agent: str) -> None:
    """Neither a load nor a plain answer of the same version differs from the whole set."""
    for name in ("a_skill", "c_mention"):
        run = changed(agent, name, lambda record: record)
        assert compare_streams([(fact_of(run), run)], recorded(agent)) == [], name


def test_a_renamed_field_a_new_kind_and_a_lost_one_are_named() -> None:
    """Each by its kind of record; what the reader does not read breaks it."""

    def rename(record: dict[str, Any]) -> dict[str, Any] | None:
        if record.get("type") == "system.version":
            return None
        return {"call" if key == "tool_call_id" else key: one for key, one in record.items()}

    run = changed("kimi", "a_skill", rename, {"role": "meta", "type": "brand.new"})
    assert said("kimi", run) == [
        "new kind: brand.new",
        "gone kind: system.version",
        "moved field of tool: tool_call_id -> call",
    ]
    found = compare_streams([(Fact.LOAD, run)], recorded("kimi"))
    assert [one.breaks for one in found] == [True, True, True]


def test_a_field_that_went_elsewhere_is_moved() -> None:
    """By its own name, at another place of the same kind of record."""

    def move(record: dict[str, Any]) -> dict[str, Any]:
        if record["type"] != "tool_result":
            return record
        inner = {"isError": record.pop("isError")}
        return {**record, "status": inner}

    run = changed("droid", "a_skill", move)
    assert "moved field of tool_result: isError -> status.isError" in said("droid", run)


def test_a_new_field_alone_breaks_nothing() -> None:
    """It is told all the same."""
    run = changed("droid", "c_mention", lambda record: {**record, "trace": {"id": "x"}})
    found = compare_streams([(Fact.ANSWER, run)], recorded("droid"))
    assert {(one.what, one.field, one.breaks) for one in found} == {("new", "trace", False)}


def test_an_end_that_is_called_otherwise_is_gone_and_new() -> None:
    """The run then shows no fact; it is held to what every complete run has."""

    def rename(record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "type": "end"} if record["type"] == "completion" else record

    run = changed("droid", "a_skill", rename)
    assert fact_of(run) is Fact.OTHER
    assert said("droid", run, fact=Fact.OTHER) == ["gone kind: completion", "new kind: end"]
    assert said("droid", run) == ["gone kind: completion", "new kind: end"]
