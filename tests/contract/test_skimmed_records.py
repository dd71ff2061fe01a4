"""Records that are read by their heads alone say what they say when they are decoded."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routing_action.agents.discovery import all_providers
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.prefilter import Engine, Prefilter
from routing_action.evidence.reader_protocol import ReadContext
from tests.support.streams import OPENING, jsonl, load, run_of, say, shell
from tests.support.ways import ENGINES, read_in_blocks, read_plainly, split_at

# ./check.sh --full asks for more.
EXAMPLES = int(os.environ.get("PROPERTY_EXAMPLES", "100"))
TOKENS = ("widget-test", "notes.md")
TEXTS = st.sampled_from(
    [
        "",
        " ",
        "Fine so far.",
        "I use widget-test.",
        "WIDGET-TEST",
        "widget\u2014test",
        "w\u0131dget-test",
        "Base directory for this skill: /repo/.claude/skills/widget-test",
        "<tool_use_error>no",
        "Launching skill: other",
    ]
)
STDERR = b"429 rate limit\nAttempt 1 failed with status 429\nAPIError: 429\n"
"""A failure by the rules of several agents: it counts unless a call was still waiting."""
IDS = st.sampled_from(["a", "b", "c", 1, None, True, "1"])
NAMES = st.sampled_from(["Bash", "Read", "Skill", "Grep", "mcp__x__y", "PowerShell", None, 7])
INPUTS = st.sampled_from(
    [
        {},
        {"command": "ls -l"},
        {"command": "cat wid'get'-test/SKILL.md"},
        {"command": "cat $x/y"},
        {"command": "ls skills"},
        {"command": "cat no\\tes.md"},
        {"file_path": "/repo/notes.md"},
        {"file_path": "/repo/other.md", "offset": 3},
        {"skill": "other"},
        {"skill": "widget-test"},
        {"pattern": "x", "path": "widget-test"},
        "widget-test",
        None,
    ]
)
COMMANDS = st.sampled_from(
    [
        "ls -l",
        "/bin/bash -lc 'cat src/x.py'",
        "cat wid'get'-test/SKILL.md",
        "cat /repo/.agents/skills/widget-test/SKILL.md",
        "cat /repo/notes.md",
        "cat /repo/.agents/skills/other/x.md",
        "cat /elsewhere/other.md",
        'cat "no"tes.md',
        "cat $x",
        "",
        ["cat", "notes.md"],
    ]
)
kinds = st.sampled_from(
    ["text", "tool_use", "server_tool_use", "mcp_tool_use", "tool_result", "thinking", "image", 7]
)


@st.composite
def blocks(draw: st.DrawFn) -> dict[str, Any]:
    """A content block of any kind, with fields of others."""
    kind = draw(kinds)
    block: dict[str, Any] = {"type": kind}
    if kind == "text" or draw(st.integers(0, 9)) == 0:
        block["text"] = draw(TEXTS)
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        block |= {"id": draw(IDS), "name": draw(NAMES), "input": draw(INPUTS)}
    if kind == "tool_result":
        content: Any = draw(st.one_of(TEXTS, st.lists(st.builds(dict, type=kinds, text=TEXTS))))
        block |= {"tool_use_id": draw(IDS), "content": content}
        if draw(st.booleans()):
            block["is_error"] = draw(st.sampled_from([True, False, None, "false"]))
    return block


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """A record of claude's stream, most often a usual one."""
    role = draw(
        st.sampled_from(["assistant", "user", "assistant", "user", "system", "stream_event"])
    )
    content = draw(
        st.one_of(
            st.lists(blocks(), min_size=1, max_size=1),
            st.lists(blocks(), max_size=3),
            st.sampled_from(["text", None, {"type": "text", "text": "notes.md"}, ["widget-test"]]),
        )
    )
    record: dict[str, Any] = {"type": role, "message": {"role": role, "content": content}}
    extra = draw(st.integers(0, 15))
    changes: dict[int, dict[str, Any]] = {
        0: {"error": "rate_limit"},
        1: {"isApiErrorMessage": True},
        2: {"error": None, "isApiErrorMessage": False},
        3: {"message": None},
        4: {"message": {}},
        5: {"parent_tool_use_id": "a"},
        6: {"tool_use_result": {"success": False}},
        7: {"type": "system", "subtype": "init", "cwd": "/repo/skills"},
        8: {"type": "system", "subtype": "api_retry", "error": "rate_limit"},
    }
    return record | changes.get(extra, {})


@st.composite
def items(draw: st.DrawFn) -> dict[str, Any]:
    """A record of codex' stream, most often a command that begins or ends."""
    kind = draw(st.sampled_from(["item.started", "item.completed", "item.completed", "error", "x"]))
    item: dict[str, Any] = {
        "type": draw(
            st.sampled_from(
                [*["command_execution"] * 6, "agent_message", "reasoning", "error", "mcp_tool_call"]
            )
        ),
        "id": draw(IDS),
        "command": draw(COMMANDS),
        "text": draw(TEXTS),
        "aggregated_output": draw(TEXTS),
        "exit_code": draw(st.sampled_from([0, 0, 1, None])),
    }
    changes: dict[int, dict[str, Any]] = {
        0: {"item": None},
        1: {"item": {**item, "cwd": "/repo/notes.md"}},
        2: {"item": {**item, "cwd": "/repo"}},
        3: {"msg": {"type": "agent_message", "message": "notes.md"}},
        4: {"msg": None},
        5: {"item": {**item, "command": None}},
        6: {"type": "turn.started", "item": 5},
        7: {"item": {**item, "type": "todo_list"}},
    }
    return {"type": kind, "item": item, **changes.get(draw(st.integers(0, 15)), {})}


def agree(
    data: bytes,
    places: Sequence[int] = (),
    tokens: tuple[str, ...] = TOKENS,
    *,
    agent: str = "claude",
) -> dict[str, Any]:
    """What both ways say, once it is known that they agree."""
    plain = read_plainly(agent, data, STDERR, tokens, exit_code=1)
    for engine in ENGINES:
        pieces = split_at(data, places)
        said = read_in_blocks(agent, pieces, STDERR, tokens, engine=engine, exit_code=1)
        assert said == plain, engine
    return plain


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=EXAMPLES)
@given(
    found=st.lists(records(), max_size=14),
    ascii_only=st.booleans(),
    places=st.lists(st.integers(0, 4_000), max_size=3),
    tokens=st.sampled_from([TOKENS, ("other",), ("other", "widget-test"), ()]),
)
def test_any_mixture_of_records_says_the_same(
    found: list[dict[str, Any]], ascii_only: bool, places: list[int], tokens: tuple[str, ...]
) -> None:
    """Turns, calls without results, results without calls, ids used twice, odd shapes."""
    work = [
        json.dumps(one, ensure_ascii=ascii_only) for one in (*OPENING["claude"], *ACTIVE, *found)
    ]
    agree("\n".join(work).encode(), places, tokens)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=EXAMPLES)
@given(
    found=st.lists(items(), max_size=14),
    places=st.lists(st.integers(0, 4_000), max_size=3),
    tokens=st.sampled_from([TOKENS, ("other",), ("other", "notes.md"), ()]),
)
def test_any_mixture_of_items_says_the_same(
    found: list[dict[str, Any]], places: list[int], tokens: tuple[str, ...]
) -> None:
    """Commands begun and never done, done and never begun, told otherwise, and ids used twice."""
    opening = (say("codex", "First."), *shell("codex", "true"), *load("codex", "other"))
    agree(jsonl(*OPENING["codex"], *opening, *found), places, tokens, agent="codex")


@st.composite
def gemini_events(draw: st.DrawFn) -> dict[str, Any]:
    """A record of gemini's stream, most often a usual one."""
    kind = draw(st.sampled_from(["message", "tool_use", "tool_use", "tool_result", "error", "x"]))
    record: dict[str, Any] = {
        "type": kind,
        "role": draw(st.sampled_from(["assistant", "assistant", "user", None])),
        "content": draw(st.one_of(TEXTS, st.sampled_from([None, [{"text": "notes.md"}]]))),
    }
    if kind in ("tool_use", "tool_result"):
        parameters = draw(st.one_of(INPUTS, COMMANDS.map(lambda text: {"command": text})))
        if isinstance(parameters, dict) and draw(st.integers(0, 4)) == 0:
            parameters = {**parameters, "dir_path": draw(st.sampled_from(["x", "skills", "notes"]))}
        record = {
            "type": kind,
            "tool_name": draw(
                st.sampled_from(["run_shell_command", "read_file", "activate_skill", "glob", None])
            ),
            "tool_id": draw(IDS),
            "parameters": parameters,
            "status": draw(st.sampled_from(["success", "success", "error"])),
            "output": draw(TEXTS),
        }
    changes: dict[int, dict[str, Any]] = {
        0: {"message": "Attempt 1 failed with status 429", "severity": "error"},
        1: {"tool_name": 5},
        2: {"type": "init", "content": 5},
    }
    return record | changes.get(draw(st.integers(0, 15)), {})


@st.composite
def opencode_parts(draw: st.DrawFn) -> dict[str, Any]:
    """A record of opencode's stream, most often a usual one."""
    kind = draw(
        st.sampled_from(["text", "tool_use", "tool_use", "step_finish", "step_start", "error", "x"])
    )
    part: dict[str, Any] = {
        "tool": draw(st.sampled_from(["bash", "bash", "read", "skill", "glob", None])),
        "callID": draw(IDS),
        "id": draw(IDS),
        "text": draw(TEXTS),
        "state": {
            "status": draw(st.sampled_from(["completed", "completed", "error"])),
            "input": draw(st.one_of(INPUTS, COMMANDS.map(lambda text: {"command": text}))),
            "output": draw(TEXTS),
            "metadata": draw(st.sampled_from([{}, {"exit": 1}, {"output": "notes.md"}, None])),
        },
        "reason": draw(st.sampled_from(["tool-calls", "tool-calls", None, "stop", 5])),
        "tokens": draw(
            st.sampled_from(
                [
                    {"input": 3, "output": 2, "reasoning": True, "cache": {"read": 1}},
                    {"input": "3", "output": -2, "cache": None},
                    None,
                    5,
                ]
            )
        ),
        "cost": draw(st.sampled_from([0.5, 1, "1", None, -1, 1e300])),
    }
    changes: dict[int, dict[str, Any]] = {
        0: {"part": None},
        1: {"part": {**part, "state": None}},
        2: {"part": {**part, "state": {"input": {"command": "ls", "workdir": "/x/notes.md"}}}},
        3: {"error": {"name": "APIError", "data": {"message": "429", "statusCode": 429}}},
    }
    return {"type": kind, "part": part, **changes.get(draw(st.integers(0, 15)), {})}


EVENTS = {"gemini": gemini_events(), "opencode": opencode_parts()}


@pytest.mark.parametrize("agent", EVENTS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=EXAMPLES)
@given(data=st.data())
def test_any_mixture_of_events_says_the_same(agent: str, data: st.DataObject) -> None:
    """Texts, calls with any arguments, results without calls, steps counted twice, odd shapes."""
    found = data.draw(st.lists(EVENTS[agent], max_size=14))
    places = data.draw(st.lists(st.integers(0, 4_000), max_size=3))
    tokens = data.draw(st.sampled_from([TOKENS, ("other",), ("other", "notes.md"), ()]))
    opening = (say(agent, "First."), *shell(agent, "true"), *load(agent, "other"))
    begun = data.draw(st.booleans())
    stream = jsonl(*OPENING[agent], *(opening if begun else ()), *found)
    agree(stream, places, tokens, agent=agent)


def test_a_call_without_an_id_waits_for_its_result_for_ever() -> None:
    """Its result pairs with nothing, so that standard error does not explain the end."""
    (call,) = shell("opencode", "true")
    call = {**call, "part": {**call["part"], "callID": None}}
    begun = (say("opencode", "First."), *shell("opencode", "true"))
    said = agree(jsonl(*OPENING["opencode"], *begun, call), agent="opencode")
    assert said["outcome"] is Outcome.KILLED


def message(role: str, **block: object) -> dict[str, Any]:
    return {"type": role, "message": {"content": [block]}}


ACTIVE = (
    message("assistant", type="text", text="First."),
    message("assistant", type="tool_use", id="t", name="Bash", input={"command": "true"}),
    message("user", type="tool_result", tool_use_id="t", content="x"),
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode"])
def test_most_records_of_a_run_are_not_decoded(
    agent: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be of no use; what names a token is."""
    decoded: list[bytes] = []
    collector = EvidenceCollector(agent, TOKENS, prefilter=Prefilter(TOKENS, engine))
    context = ReadContext(may_name=collector.may_name, naming_lines=collector.naming_lines)
    reader: Any = all_providers()[agent].reader(context)
    work = (say(agent, "Fine."), *shell(agent, "true", "x"))
    reader.feed_block(run_of(agent, *work))

    def note(line: bytes, _: object) -> tuple[()]:
        decoded.append(line)
        return ()

    monkeypatch.setattr(reader, "_feed_loud", note)
    naming = say(agent, "See notes.md.")
    reader.feed_block(jsonl(*work, naming, *work))
    assert decoded == [jsonl(naming)[:-1]]


def test_results_are_not_searched_once_no_mention_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that was loaded is mentioned in vain, and most of a stream is results."""
    searched: list[bytes] = []
    collector = EvidenceCollector("claude", TOKENS[:1], prefilter=Prefilter(TOKENS[:1]))

    def search(block: bytes, lines: Sequence[bytes]) -> set[int]:
        searched.extend(lines)
        assert collector.prefilter is not None
        return collector.prefilter.naming_lines(block, lines)

    context = ReadContext(naming_lines=search, needs_mentions=collector.needs_mentions)
    reader = all_providers()["claude"].reader(context)
    result = jsonl(message("user", type="tool_result", tool_use_id="x", content=TOKENS[0]))
    for block in (result, run_of("claude", *load("claude", TOKENS[0]))):
        collector.extend(reader.feed_block(block))
    assert result[:-1] in searched
    searched.clear()
    collector.extend(reader.feed_block(result))
    assert searched == []


def test_a_result_of_a_call_that_matters_is_decoded() -> None:
    """Though no token stands in its own line."""
    read = {"file_path": "/repo/notes.md"}
    data = run_of(
        "claude",
        *ACTIVE,
        message("assistant", type="tool_use", id="r", name="Read", input=read),
        message("user", type="tool_result", tool_use_id="r", content="text"),
    )
    assert agree(data)["hits"]["notes.md"].tier == 2


def test_tokens_that_are_no_words_have_every_record_decoded() -> None:
    """A name and an argument are joined by a space, which such a token could span."""
    assert EvidenceCollector("claude", (), prefilter=Prefilter(("Grep ",))).naming_lines is None
    call = message("assistant", type="tool_use", id="g", name="Grep", input={"pattern": "x"})
    data = run_of("claude", *ACTIVE, call, ACTIVE[2])
    agree(data, tokens=("Grep p", "grep pattern=x"))
