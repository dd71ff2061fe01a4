"""What is special to Codex: loads by the shell, three generations of its stream, session logs."""

from __future__ import annotations

import json

import pytest

from routing_action.agents.codex_sessions import CodexSessionReader
from routing_action.agents.provider import ReadContext
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import ApiFailure, LineKind, Usage
from tests.support.builders import Run, read
from tests.support.recorded import FOLDER
from tests.support.streams import (
    Record,
    codex_item,
    codex_shell,
    jsonl,
    load,
    run_of,
    say,
    skill_text,
)

SKILL = "widget-testing"
PATH = f".agents/skills/{SKILL}/SKILL.md"
TEXT = skill_text(SKILL)


def run(*records: Record, tokens: tuple[str, ...] = (SKILL,)) -> Run:
    return read("codex", run_of("codex", *records), tokens=tokens)


# ---- items


def test_a_shell_read_of_the_skill_file_is_the_load() -> None:
    """The path in the command and the frontmatter in its output prove it together."""
    found = run(*codex_shell(f'/bin/bash -lc "cat {PATH}"', TEXT))
    assert found.tier(SKILL) == 1
    assert found.evidence.loads == [SKILL]


def test_the_catalogues_root_aliases_name_the_folder() -> None:
    """Codex' catalogue lets the model write `r1/NAME/SKILL.md`."""
    assert run(*codex_shell(f"cat r1/{SKILL}/SKILL.md", TEXT)).tier(SKILL) == 1


@pytest.mark.parametrize(
    ("folder", "token", "tier"),
    [
        ("/h/.codex/plugins/cache/m/acme/1.0.0/skills", f"acme:{SKILL}", 1),
        ("/h/.codex/plugins/cache/m/acme/1.0.0/skills", SKILL, 1),
        ("/h/.codex/plugins/cache/m/other/1.0.0/skills", f"acme:{SKILL}", None),
    ],
)
def test_a_plugins_skill_is_told_by_its_cache_folder(
    folder: str, token: str, tier: int | None
) -> None:
    """The plugin stands in the path of its cache."""
    step = codex_shell(f"cat {folder}/{SKILL}/SKILL.md", TEXT)
    assert run(*step, tokens=(token,)).tier(token) == tier


@pytest.mark.parametrize(
    "fields",
    [
        {"exit_code": 1, "status": "failed"},
        {"exit_code": 127, "status": "failed"},
        {"exit_code": 0, "status": "declined"},
        {"exit_code": 0, "status": "failed"},
        {"exit_code": None, "status": "in_progress"},
        {"exit_code": "0", "status": "completed"},
    ],
)
def test_a_command_that_did_not_end_well_loads_nothing(fields: dict[str, object]) -> None:
    """Exit code and status must both be good."""
    item = codex_item("command_execution", command=f"cat {PATH}", aggregated_output=TEXT, **fields)
    assert run(item).tier(SKILL) == 3


def test_a_command_whose_completion_was_never_printed_loads_nothing() -> None:
    """`item.started` alone, after a kill, is no load."""
    stdout = jsonl(codex_shell(f"cat {PATH}", TEXT)[0])
    assert read("codex", stdout, exit_code=-9).tier(SKILL) == 3


def test_a_completion_without_its_start_is_read() -> None:
    """Older releases printed no `item.started`."""
    assert run(codex_shell(f"cat {PATH}", TEXT)[1]).tier(SKILL) == 1


def test_the_commands_output_never_names_the_skill_by_itself() -> None:
    """A search that prints a frontmatter and a path is no load of it."""
    output = f"{PATH}:1:---\n---\nname: {SKILL}\n---\n"
    assert run(*codex_shell("rg -n '' .agents", output)).tier(SKILL) == 3


def test_other_items_are_tools_or_text() -> None:
    """MCP calls, changes of files and searches are activity; reasoning is none."""
    content = {"content": [{"type": "text", "text": "ok"}]}
    found = run(
        codex_item("mcp_tool_call", server="s", tool="t", arguments={"q": SKILL}, result=content),
        codex_item("file_change", changes=[{"path": "a.py", "kind": "add"}, None]),
        codex_item("web_search", query="widgets"),
        codex_item("reasoning", text=SKILL),
        say("codex", "Done."),
    )
    told = [line.text for line in found.lines if line.kind is LineKind.TOOL_CALL]
    assert told == [f"mcp:s.t q={SKILL}", "file_change a.py", "web_search widgets"]
    assert found.tier(SKILL) == 3
    assert found.reading.tool_events == 3


def test_the_start_of_another_item_is_no_call_yet() -> None:
    """Only commands are remembered from their start on."""
    item = {"id": "i", "type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {}}
    started: Record = {"type": "item.started", "item": item}
    assert run(started).reading.tool_events == 0
    assert run(started, {"type": "item.completed", "item": item}).reading.tool_events == 1


def test_usage_is_the_last_word() -> None:
    """Codex counts cumulatively."""
    usage = {"input_tokens": 5, "cached_input_tokens": 1, "output_tokens": 2}
    more = {**usage, "input_tokens": 9, "reasoning_output_tokens": 3}
    ends = [{"type": "turn.completed", "usage": count} for count in (usage, more)]
    assert read("codex", jsonl(*ends)).reading.usage == Usage(9, 2, 1, 3)


@pytest.mark.parametrize(
    ("records", "outcome"),
    [
        ([{"type": "turn.failed", "error": {"message": "status 401 Unauthorized"}}], Outcome.AUTH),
        ([{"type": "error", "message": "last status: 429 Too Many Requests"}], Outcome.RATE_LIMIT),
        ([{"type": "error", "error": {"message": "status 500"}}], Outcome.SERVER_ERROR),
        ([{"type": "turn.failed", "error": "quota exceeded"}], Outcome.QUOTA),
        ([{"type": "turn.failed"}], Outcome.API_ERROR),
    ],
)
def test_a_failed_turn_is_sorted_by_its_message(records: list[Record], outcome: Outcome) -> None:
    """Codex' own error fields tell what to do."""
    assert read("codex", jsonl(*records), exit_code=1).outcome() is outcome


def test_an_error_that_was_followed_by_the_end_of_the_turn_recovered() -> None:
    """`Reconnecting...` in the middle of a run is no failure."""
    records = ({"type": "error", "message": "Reconnecting... 1/5"}, *load("codex", SKILL))
    assert run(*records).outcome() is Outcome.COMPLETED


@pytest.mark.parametrize(
    ("stderr", "outcome"),
    [
        (b"ERROR: unexpected status 401 Unauthorized: bad key", Outcome.AUTH),
        (
            b"[2026-11-27T20:53:02] ERROR: exceeded retry limit, last status: 429",
            Outcome.RATE_LIMIT,
        ),
        (b"Error: Missing environment variable: `OPENAI_API_KEY`.", Outcome.AUTH),
        (b"I saw ERROR: status 401 in the log", Outcome.NO_OUTPUT),
    ],
)
def test_standard_error_explains_a_run_without_output(stderr: bytes, outcome: Outcome) -> None:
    """Only anchored lines of the CLI count; its text mode puts prose on standard error too."""
    assert read("codex", b"", stderr, exit_code=1).outcome() is outcome


# ---- the generation with `item_type`


def test_items_named_by_item_type_are_read() -> None:
    """Release 0.42 with its experimental JSON."""
    command = {"item_type": "command_execution", "command": f"bash -lc 'cat {PATH}'"}
    item = {**command, "id": "i", "aggregated_output": TEXT, "exit_code": 0, "status": "completed"}
    said = {"item_type": "assistant_message", "id": "j", "text": "Done."}
    records = ({"type": "item.completed", "item": one} for one in (item, said))
    stdout = jsonl({"type": "session.created", "session_id": "s"}, *records)
    found = read("codex", stdout)
    assert (found.tier(SKILL), found.outcome()) == (1, Outcome.COMPLETED)
    assert read("codex", stdout, exit_code=1).outcome() is Outcome.KILLED


# ---- the older protocol


def msg(kind: str, **fields: object) -> Record:
    return {"id": "0", "msg": {"type": kind, **fields}}


def protocol(*records: Record, exit_code: int | None = 0) -> Run:
    header: list[Record] = [{"model": "gpt-5", "workdir": "/repo"}, {"prompt": f"use {SKILL}"}]
    return read("codex", jsonl(*header, *records), exit_code=exit_code)


def executed(command: list[str], output: str, exit_code: int = 0) -> list[Record]:
    begin = msg("exec_command_begin", call_id="c", command=command, cwd="/repo")
    return [begin, msg("exec_command_end", call_id="c", exit_code=exit_code, stdout=output)]


def test_protocol_events_are_read() -> None:
    """Begin and end of a command are paired by their call id; the header proves nothing."""
    found = protocol(*executed(["bash", "-lc", f"cat {PATH}"], TEXT), msg("task_complete"))
    assert (found.tier(SKILL), found.outcome()) == (1, Outcome.COMPLETED)
    assert found.reading.unrecognised == 0
    assert protocol(msg("agent_message", message="42")).tier(SKILL) is None


def test_a_protocol_command_that_failed_loads_nothing() -> None:
    """The exit code stands in the end event."""
    assert protocol(*executed(["cat", PATH], TEXT, 1)).tier(SKILL) == 3


def test_protocol_calls_of_mcp_tools_are_activity() -> None:
    """Begin and end of an MCP call are a tool event."""
    invocation = {"server": "s", "tool": "t", "arguments": {"q": "x"}}
    found = protocol(
        msg("mcp_tool_call_begin", call_id="m", invocation=invocation),
        msg("mcp_tool_call_end", call_id="m", result={"Ok": {"content": [{"text": "fine"}]}}),
    )
    assert [line.text for line in found.lines] == ["mcp:s.t q=x", "fine"]


def test_older_releases_end_without_a_terminal_event() -> None:
    """Exit code 0 with nothing pending is their end; any other exit is none."""
    said = msg("agent_message", message="42")
    assert protocol(said).outcome() is Outcome.COMPLETED
    assert protocol(said, exit_code=None).outcome() is Outcome.KILLED
    assert protocol(said, exit_code=-9).outcome() is Outcome.KILLED


def test_a_protocol_error_that_is_pending_at_the_end_is_the_failure() -> None:
    """Release 0.39 ends with 0 and `task_complete` after a failed request too."""
    error = msg("error", message="exceeded retry limit, last status: 429 Too Many Requests")
    assert protocol(error).outcome() is Outcome.RATE_LIMIT
    ended = protocol(error, msg("task_complete")).reading
    assert (ended.failure, ended.terminal) == (ApiFailure.RATE_LIMIT, True)
    assert protocol(error, msg("agent_message", message="42")).outcome() is Outcome.COMPLETED


def test_protocol_usage_model_and_aborts_are_kept() -> None:
    """Totals stand in `info`, older ones in the event itself."""
    total = {"total_token_usage": {"input_tokens": 5, "output_tokens": 2}}
    found = protocol(
        msg("session_configured", model="gpt-5"),
        msg("token_count", info=total),
        msg("turn_aborted", reason="interrupted"),
        msg("agent_reasoning", text=SKILL),
    )
    assert found.reading.usage == Usage(input_tokens=5, output_tokens=2)
    assert (found.reading.model, found.reading.notes) == ("gpt-5", ("the turn was aborted",))
    plain = protocol(msg("token_count", input_tokens=7)).reading.usage
    assert plain == Usage(input_tokens=7)


def test_an_unknown_protocol_event_is_counted() -> None:
    """A new event is not taken for a known one."""
    assert protocol(msg("brand_new"), {"type": "also.new"}).reading.unrecognised == 2


# ---- session logs


def session(*payloads: Record, context: ReadContext | None = None) -> Run:
    records = ({"type": "response_item", "payload": payload} for payload in payloads)
    reader = CodexSessionReader(context or ReadContext())
    return read("codex", jsonl(*records), reader=reader, tokens=(SKILL,))


@pytest.mark.parametrize("scenario", ["a_skill", "d_cat", "c_mention"])
def test_a_recorded_session_log_shows_the_load(scenario: str) -> None:
    """The rollout file on disk tells the same as the output; its catalogue proves nothing."""
    (log,) = FOLDER.glob(f"cli/codex/0.171.0/{scenario}.sessions/rollout-*.jsonl")
    found = read("codex", log.read_bytes(), reader=CodexSessionReader(ReadContext()))
    loaded = [] if scenario == "c_mention" else [SKILL]
    assert found.evidence.loads == loaded
    assert found.reading.unrecognised == 0


@pytest.mark.parametrize(
    ("call", "output"),
    [
        (
            {"type": "function_call", "arguments": json.dumps({"cmd": f"cat {PATH}"})},
            f"Chunk ID: a\nProcess exited with code 0\nOutput:\n{TEXT}",
        ),
        (
            {"type": "function_call", "arguments": json.dumps({"command": ["cat", PATH]})},
            json.dumps({"output": TEXT, "metadata": {"exit_code": 0}}),
        ),
        (
            {"type": "local_shell_call", "action": {"command": ["bash", "-lc", f"cat {PATH}"]}},
            [{"type": "output_text", "text": f"Exit code: 0\nOutput:\n{TEXT}"}],
        ),
        (
            {"type": "custom_tool_call", "input": f'await tools.exec({{cmd: "cat {PATH}"}})'},
            f"Exit code: 0\n{TEXT}",
        ),
        (
            {"type": "custom_tool_call", "input": f"exec({{ cmd : 'cat {PATH}' }})"},
            f"exited with code 0\n{TEXT}",
        ),
        (
            {"type": "custom_tool_call", "input": f"exec({{cmd: `cat {PATH}`}})"},
            f"Process exited with code 0\n{TEXT}",
        ),
        (
            {"type": "function_call", "arguments": json.dumps(
                {"cmd": "cat SKILL.md", "workdir": f"/r/.agents/skills/{SKILL}"}
            )},
            f"Process exited with code 0\n{TEXT}",
        ),
    ],
)  # fmt: skip
def test_every_form_of_a_logged_command_is_read(call: Record, output: object) -> None:
    """Arguments as text or list, and newer JavaScript programs; the output holds the exit code."""
    result = {"type": f"{call['type'].removesuffix('_call')}_call_output", "output": output}
    if call["type"] == "local_shell_call":
        result["type"] = "function_call_output"
    found = session({**call, "call_id": "c"}, {**result, "call_id": "c"})
    assert found.evidence.loads == [SKILL]


@pytest.mark.parametrize(
    "output",
    [
        f"Process exited with code 1\nOutput:\n{TEXT}",
        json.dumps({"output": TEXT, "metadata": {"exit_code": 127}}),
        f"Process exited with code {'9' * 5_000}\n{TEXT}",
        TEXT,
        None,
        {"odd": TEXT},
    ],
)
def test_a_logged_command_without_exit_code_0_loads_nothing(output: object) -> None:
    """What did not certainly end well is no load."""
    call = {"type": "function_call", "arguments": json.dumps({"cmd": f"cat {PATH}"})}
    result = {"type": "function_call_output", "output": output}
    found = session({**call, "call_id": "c"}, {**result, "call_id": "c"})
    assert found.evidence.loads == []


def test_events_that_repeat_a_logged_command_prove_nothing() -> None:
    """Only response items count, so that nothing counts twice."""
    item = {"type": "CommandExecution", "command": ["cat", PATH], "exit_code": 0}
    event = {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}
    found = read("codex", jsonl(event), reader=CodexSessionReader(ReadContext()))
    assert found.lines == []


@pytest.mark.parametrize("arguments", ["{broken", 5, None, "[]", '{"cmd": 7}'])
def test_broken_arguments_in_a_log_are_no_command(arguments: object) -> None:
    """A log that was cut or written by another release breaks nothing."""
    call = {"type": "function_call", "call_id": "c", "name": "exec", "arguments": arguments}
    assert session(call).tier(SKILL) is None
