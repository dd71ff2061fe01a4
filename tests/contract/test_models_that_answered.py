"""The model of a run is the one that answered, whatever the CLI said that it starts with."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext
from routing_action.agents.reading.models import describe_models, is_same_model
from routing_action.evidence.transcript import Reading
from tests.support.streams import ENDING, OPENING, jsonl, say

Record = dict[str, Any]


def read(agent: str, *records: Record) -> Reading:
    reader = all_providers()[agent].reader(ReadContext())
    for line in jsonl(*records).splitlines():
        list(reader.feed(line))
    list(reader.finish(0))
    return reader.reading


def claude(asked: str, *answered: str, subagent: str = "") -> Reading:
    """A claude stream whose messages name these models."""
    records = [{**OPENING["claude"][0], "model": asked}]
    for model in answered:
        record = say("claude", "text")
        record["message"]["model"] = model
        records.append(record)
    if subagent:
        record = say("claude", "text")
        record["message"]["model"] = subagent
        records.append({**record, "parent_tool_use_id": "t1"})
    return read("claude", *records, *ENDING["claude"])


def copilot(asked: str, *answered: str, subagent: str = "") -> Reading:
    """A copilot stream whose first call asks for a model, and whose messages name others."""
    records: list[Record] = [
        *OPENING["copilot"],
        {"type": "model.call_start", "data": {"model": asked}},
    ]
    for model in answered:
        record = say("copilot", "text")
        record["data"]["model"] = model
        records.append(record)
    if subagent:
        record = say("copilot", "text")
        record["data"] |= {"model": subagent, "parentToolCallId": "t1"}
        records.append(record)
    return read("copilot", *records, *ENDING["copilot"])


def gemini(asked: str, *answered: str, subagent: str = "") -> Reading:
    """A gemini stream whose end counts the tokens of each model."""
    opening = [{**OPENING["gemini"][0], "model": asked}, say("gemini", "text")]
    names = (*answered, subagent) if subagent else answered
    stats = {"models": {name: {"total_tokens": 9} for name in names}}
    return read("gemini", *opening, {**ENDING["gemini"][0], "stats": stats})


STREAMS = {"claude": claude, "copilot": copilot, "gemini": gemini}


@pytest.mark.parametrize("agent", STREAMS)
def test_a_fallback_is_stored_and_noted(agent: str) -> None:
    """The whole run was answered by another model."""
    found = STREAMS[agent]("big-1", "small-1")
    assert found.model == "small-1"
    (note,) = found.notes
    assert note == "small-1 answered, though big-1 was asked for: the CLI fell back"


@pytest.mark.parametrize("agent", STREAMS)
def test_the_model_that_was_asked_for_needs_no_note(agent: str) -> None:
    """Nor do the small models that sub-agents and routers use beside it."""
    found = STREAMS[agent]("big-1", "big-1", subagent="small-1")
    assert (found.model, found.notes) == ("big-1", ())


@pytest.mark.parametrize("agent", ["claude", "copilot"])
def test_a_fallback_in_the_middle_names_both(agent: str) -> None:
    """A baseline of one of them alone is no fair comparison."""
    found = STREAMS[agent]("big-1", "big-1", "small-1")
    assert found.model == "big-1, small-1"
    assert found.notes == (
        "small-1 answered some turns, though big-1 was asked for: the CLI fell back",
    )


@pytest.mark.parametrize("agent", STREAMS)
def test_without_an_answer_the_model_is_the_one_that_was_asked_for(agent: str) -> None:
    """A run that failed before the first message."""
    found = STREAMS[agent]("big-1")
    assert (found.model, found.notes) == ("big-1", ())


def test_a_message_that_the_cli_made_itself_names_no_model() -> None:
    """Claude Code writes its own errors as messages of `<synthetic>`."""
    assert claude("big-1", "<synthetic>").model == "big-1"


def test_a_small_model_of_gemini_that_used_no_tokens_did_not_answer() -> None:
    """It is listed all the same."""
    end = {**ENDING["gemini"][0], "stats": {"models": {"other": {"total_tokens": 0}}}}
    opening = {**OPENING["gemini"][0], "model": "big-1"}
    assert read("gemini", opening, say("gemini", "x"), end).model == "big-1"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5-20250929", True),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", True),
        ("anthropic/claude-sonnet-4.5", "Claude-Sonnet-4.5", True),
        ("gpt-4.1", "gpt-4.1-2025-04-14", True),
        ("gpt-5", "gpt-5-mini", False),
        ("claude-opus-4-1", "claude-sonnet-4-5", False),
        ("gemini-2.5-pro", "gemini-2.5-flash", False),
        ("claude-sonnet-4", "claude-sonnet-4-5", False),
    ],
)
def test_names_of_one_model_differ(one: str, other: str, same: bool) -> None:
    """By date, prefix and size of context; never by the rest."""
    assert is_same_model(one, other) is same
    assert is_same_model(other, one) is same


@pytest.mark.parametrize("asked", ["auto", "default", "auto-gemini-2.5", "pro"])
def test_a_choice_that_is_left_to_the_cli_is_no_fallback(asked: str) -> None:
    """The model that it chose is stored."""
    assert describe_models(asked, ["gemini-2.5-flash"]) == ("gemini-2.5-flash", "")
