"""A stream of the user's own format is read by its description."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from routing_action.agents.described.build import build_provider
from routing_action.agents.described.paths import find_value
from routing_action.agents.described.routing_file import Description
from routing_action.agents.provider import Provider
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import ApiFailure, LineKind, Usage
from tests.support.builders import NO_CONTEXT, Run, read
from tests.support.streams import Record, jsonl

PARTS: dict[str, Any] = {
    "kind": "event",
    "quiet": ["beat"],
    "subagent": "parent",
    "tools": {"skill": ["load"], "file": ["cat"], "shell": ["sh"]},
    "call": {
        "kinds": ["call", "both"], "id": "id", "tool": "name", "skill": "args.0",
        "file": "path", "command": "command", "cwd": "cwd",
    },
    "result": {
        "kinds": ["result", "both"], "id": "id", "success": "ok", "success_is": "yes",
        "exit_code": "code", "output": "output", "folder": "folder",
    },
    "text": {"kinds": ["say"], "text": "text"},
    "error": {"kinds": ["failed", "done"], "when": "error", "message": "error.message",
              "code": "error.code", "status": "error.status", "limit_codes": ["turns"]},
    "retry": {"kinds": ["retry"], "message": "message"},
    "usage": {"kinds": ["done"], "input_tokens": "in", "cost_usd": "usd"},
    "about": {"kinds": ["start"], "model": "model", "skills": "skills"},
    "end": {"kinds": ["done"]},
}  # fmt: skip
DONE: Record = {"event": "done"}
CALL: Record = {"event": "call", "id": 1, "name": "load", "args": ["widget-testing"]}
OK: Record = {"event": "result", "id": 1, "ok": "yes"}


def provider(**fields: Any) -> Provider:  # noqa: ANN401 - any field
    records = {**PARTS, **fields.pop("records", {})}
    described = {"command": ["acme", "{prompt}"], "records": records, **fields}
    return build_provider("acme", Description.model_validate(described))


def run_of(*records: Record, stderr: bytes = b"", code: int = 0, **fields: Any) -> Run:  # noqa: ANN401
    """What the described reader makes of records."""
    reader = provider(**fields).reader(NO_CONTEXT)
    return read("claude", jsonl(*records), stderr, exit_code=code, reader=reader)


def test_a_call_and_its_success_are_a_load() -> None:
    """Paired by id; the folder that the result names comes along."""
    run = run_of(CALL, {**OK, "folder": "/repo/skills/widget-testing"}, DONE)
    assert run.tier("widget-testing") == 1
    assert run.outcome() is Outcome.COMPLETED
    (load,) = [line for line in run.lines if line.kind is LineKind.LOAD]
    assert (load.path, load.number) == ("/repo/skills/widget-testing", 1)


@pytest.mark.parametrize(
    "result",
    [
        {"ok": True},
        {"ok": "no"},
        {"ok": None},
        {},
        {"ok": "yes", "code": 1},
        {"ok": "yes", "id": 2},
    ],
)
def test_without_success_it_is_none(result: Record) -> None:
    """Success is the described value itself, and of this very call."""
    run = run_of(CALL, {"event": "result", "id": 1, **result}, DONE)
    assert run.tier("widget-testing") == 2
    assert run.evidence.loads == []


def test_success_is_true_where_nothing_else_is_said() -> None:
    """The number 1 is not `true`."""
    result = {"kinds": ["result"], "id": "id", "success": "ok"}
    for value, tier in ((True, 1), (1, 2), ("true", 2)):
        run = run_of(CALL, {"event": "result", "id": 1, "ok": value}, DONE,
                     records={"result": result})  # fmt: skip
        assert run.tier("widget-testing") == tier


def test_a_record_may_hold_call_and_result() -> None:
    """Without an id they are paired by standing in one record, and by nothing else."""
    records = {
        "call": {**PARTS["call"], "id": None},
        "result": {**PARTS["result"], "id": None},
    }
    both = {**CALL, "event": "both", "ok": "yes"}
    assert run_of(both, DONE, records=records).tier("widget-testing") == 1
    assert run_of(CALL, OK, DONE, records=records).tier("widget-testing") == 2


def test_reads_and_commands_are_judged_as_for_every_agent() -> None:
    """A read by hand is Tier 2, a listing Tier 3, another tool is activity."""
    path = "/repo/.acme/skills/widget-testing/SKILL.md"
    front = "---\nname: widget-testing\n---\n"
    cat = {"event": "both", "id": 1, "name": "cat", "path": path, "ok": "yes"}
    shell = {"event": "both", "id": 2, "name": "sh", "command": f"cat {path}", "ok": "yes"}
    listing = {**shell, "command": f"ls {path}"}
    other = {"event": "both", "id": 3, "name": "web", "ok": "yes", "output": "widget-testing"}
    assert run_of(cat, DONE).tier("widget-testing") == 2
    assert run_of({**shell, "output": front}, DONE).tier("widget-testing") == 2
    assert run_of({**shell, "output": ["---", "name: x"]}, DONE).tier("widget-testing") == 2
    assert run_of(listing, DONE).tier("widget-testing") == 3
    run = run_of(other, DONE)
    assert (run.tier("widget-testing"), run.evidence.activity) == (3, True)


def test_prose_proves_nothing() -> None:
    """Naming a skill is a mention."""
    assert run_of({"event": "say", "text": "widget-testing"}, DONE).tier("widget-testing") == 3


def test_a_sub_agents_load_is_told_apart() -> None:
    """By the field that only its records have."""
    run = run_of({**CALL, "parent": "p"}, {**OK, "parent": "p"}, DONE)
    assert [line.subagent for line in run.lines if line.kind is LineKind.LOAD] == [True]


def test_usage_model_and_catalogue_are_kept() -> None:
    """The last usage stands; a catalogue may list objects."""
    start = {"event": "start", "model": "m", "skills": ["a", {"name": "b"}, 3]}
    reading = run_of(start, {**DONE, "in": 5}, {**DONE, "in": 9, "usd": 0.5}).reading
    assert (reading.model, reading.catalogue) == ("m", ("a", "b"))
    assert (reading.usage, reading.cost_usd) == (Usage(input_tokens=9), 0.5)


def test_usage_that_comes_in_parts_adds_up() -> None:
    """Each id once; what has no id always counts, and nonsense never does."""
    usage = {"kinds": ["used"], "mode": "sum", "id": "id", "output_tokens": "out",
             "cost_usd": "usd"}  # fmt: skip
    one: Record = {"event": "used", "id": "a", "out": 2, "usd": 0.25}
    bare: Record = {"event": "used", "out": 1, "usd": -4}
    reading = run_of(one, one, {**one, "id": "b"}, bare, bare, records={"usage": usage}).reading
    assert (reading.usage, reading.cost_usd) == (Usage(output_tokens=6), 0.5)


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (PARTS["usage"], "end"),
        ({**PARTS["usage"], "kinds": ["done", "used"]}, "during"),
        ({**PARTS["usage"], "cost_usd": None}, "never"),
        (None, "never"),
    ],
)
def test_when_the_cost_is_told_follows_from_the_description(usage: Any, told: str) -> None:  # noqa: ANN401
    """A unit can only be ended by a cost that is told before its end."""
    assert provider(records={"usage": usage}).reports_cost == told


def test_a_failure_is_final_where_it_is_one() -> None:
    """`when` tells the record of a failure from one of success."""
    failed = {**DONE, "error": {"message": "no", "code": "overloaded", "status": 529}}
    reading = run_of(failed, code=1).reading
    assert (reading.failure, reading.throttled) == (ApiFailure.SERVER_ERROR, True)
    assert run_of({"event": "say", "text": "x"}, {**DONE, "error": None}).reading.failure is None


def test_a_limit_of_its_own_is_no_api_failure() -> None:
    """It ended the run on purpose."""
    run = run_of({"event": "say", "text": "x"}, {**DONE, "error": {"code": "turns"}})
    assert run.outcome() is Outcome.LIMIT


def test_a_retry_that_recovered_is_forgotten() -> None:
    """One that was still going on at the end is the outcome."""
    retry = {"event": "retry", "message": "status 429, try again in 7s"}
    assert run_of(retry, {"event": "say", "text": "x"}, DONE).outcome() is Outcome.COMPLETED
    assert run_of({"event": "say", "text": "x"}, retry, DONE).outcome() is Outcome.COMPLETED
    left = run_of({"event": "say", "text": "x"}, retry, code=1)
    assert (left.outcome(), left.reading.retry_after) == (Outcome.RATE_LIMIT, 7.0)


def test_what_is_not_described_is_counted() -> None:
    """A new version that prints other records is schema drift, not a failed case."""
    run = run_of({"event": "beat"}, {"event": "new"}, {"event": "newer"}, {"other": 1})
    assert (run.reading.recognised, run.reading.unrecognised) == (1, 3)
    assert run.outcome() is Outcome.SCHEMA_DRIFT


def test_standard_error_explains_a_failure() -> None:
    """By the described patterns alone."""
    rules = [{"pattern": "^acme: sign in", "failure": "auth"}, {"pattern": "^acme: "}]
    run = run_of(stderr=b"acme: sign in\n", code=1, stderr_failures=rules)
    assert run.reading.failure is ApiFailure.AUTH
    run = run_of(stderr=b"acme: 429 too many requests\n", code=1, stderr_failures=rules)
    assert run.reading.failure is ApiFailure.RATE_LIMIT
    assert (
        run_of(stderr=b"I wrote acme: sign in\n", code=1, stderr_failures=rules).reading.failure
        is None
    )


def test_plain_text_is_a_load_by_a_whole_line_alone() -> None:
    """As the description says; without one plain text proves nothing."""
    lines = [b"+ skill widget-testing", b"see: + skill order-api"]
    reader = provider(text_load=r"\+ skill (?P<skill>\S+)").reader(NO_CONTEXT)
    run = read("claude", lines, reader=reader)
    assert run.tiers() == {"widget-testing": 1, "widget-test": None, "order-api": 3}
    assert read("claude", lines, reader=provider().reader(NO_CONTEXT)).tier("widget-testing") == 3


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1), ("c.1", "y"), ("c.2", None), ("c.x", None), ("a", {"b": 1}),
        ("c.9999999", None),        ("a.b.d", None), ("z", None), (None, None), ("c.-1", None),
    ],
)  # fmt: skip
def test_a_path_leads_through_objects_and_lists(path: str | None, value: object) -> None:
    """And to nothing where there is nothing."""
    assert find_value({"a": {"b": 1}, "c": ["x", "y"]}, path) == value


@pytest.mark.parametrize(
    ("part", "path", "hint"),
    [
        ("call", {"tool": "nam"}, 'call.tool = "nam"'),
        ("call", {"skill": "args.1"}, 'call.skill = "args.1"'),
        ("result", {"success": "okay"}, 'result.success = "okay"'),
        ("text", {"text": "txt"}, 'text.text = "txt"'),
    ],
)
def test_a_path_that_leads_nowhere_is_named(part: str, path: Record, hint: str) -> None:
    """Else it looks as if the agent had taken no skill."""
    records = {part: {**PARTS[part], **path}}
    said = {"event": "say", "text": "Fine."}
    run = run_of(CALL, OK, said, DONE, records=records)
    (note,) = run.reading.notes
    assert note == f"routing.toml: acme: records.{hint}: no record of the run has anything there"
    assert run_of(CALL, OK, said, DONE).reading.notes == ()


def test_a_path_that_leads_somewhere_once_is_right() -> None:
    """A call without arguments says nothing about the description."""
    bare = {"event": "call", "id": 2, "name": "load"}
    assert run_of(bare, CALL, bare, OK, DONE).reading.notes == ()


# ---- what streams need beyond one call a record


MANY: dict[str, Any] = {
    "kind": ["inner.event", "event"],
    "tools": {"skill": ["load"], "file": ["cat"], "shell": ["sh"]},
    "text": {"kinds": ["turn"], "where": {"role": "agent"}, "text": "text"},
    "call": {
        "kinds": ["turn"], "each": "calls", "where": {"$.role": "agent"}, "id": "id",
        "tool": "fn.name", "skill": "fn.arguments.skill", "file": "fn.arguments.path",
        "offset": "fn.arguments.from",
    },
    "result": [
        {"kinds": ["tool"], "tools": ["load"], "id": "id", "output": "text",
         "success_pattern": "^Loaded "},
        {"kinds": ["tool"], "id": "id", "output": "text", "failure_pattern": "^Error"},
    ],
    "error": {"kinds": ["failed"], "message": "text", "keep": "first"},
    "end": {"kinds": ["bye"], "where": {"reason": ["stop", "length"]}},
}  # fmt: skip
BYE: Record = {"inner": {"event": "bye"}, "event": "wrapped", "reason": "stop"}


def many(*records: Record, prompt: str = "", code: int = 0, **parts: Any) -> Run:  # noqa: ANN401
    """What is read of a stream whose records hold several calls, and arguments as JSON text."""
    described = {"command": ["acme", "{prompt}"], "records": {**MANY, **parts}}
    built = build_provider("acme", Description.model_validate(described))
    reader = built.reader(replace(NO_CONTEXT, prompt=prompt))
    return read("claude", jsonl(*records), exit_code=code, reader=reader)


def turn(*calls: Record, text: str = "", role: str = "agent") -> Record:
    return {"event": "turn", "role": role, "text": text, "calls": list(calls)}


def asked(identity: str, tool: str, **arguments: object) -> Record:
    return {"id": identity, "fn": {"name": tool, "arguments": json.dumps(arguments)}}


def answered(identity: str, text: str) -> Record:
    return {"event": "tool", "id": identity, "text": text}


def test_every_call_of_a_record_counts_by_itself() -> None:
    """Arguments may be JSON text, and success may be told by the result's text alone."""
    calls = turn(asked("1", "load", skill="order-api"), asked("2", "load", skill="widget-test"))
    run = many(calls, answered("1", "Loaded order-api"), answered("2", "No such skill"), BYE)
    assert run.tiers() == {"widget-testing": None, "widget-test": 2, "order-api": 1}
    assert (run.evidence.loads, run.evidence.attempts) == (["order-api"], ["widget-test"])
    assert (run.outcome(), run.reading.notes) == (Outcome.COMPLETED, ())


def test_another_tool_may_tell_its_success_in_another_way() -> None:
    """By the name of the tool that was called; the beginning of the file must have been shown."""
    path = "/repo/.acme/skills/widget-testing/SKILL.md"
    for output, start, tier in (("---", 0, 2), ("Error: none", 0, 3), ("more", 40, 3)):
        calls = turn(asked("1", "cat", path=path, **{"from": start}))
        assert many(calls, answered("1", output), BYE).tier("widget-testing") == tier


def test_two_results_in_one_record_are_told_apart_by_their_place() -> None:
    """Where they have no id of their own, an id may be put together."""
    parts: dict[str, Any] = {
        "call": {**MANY["call"], "id": ["$.id", "#"], "file": "@", "tool": "$.tool"},
        "result": {"kinds": ["tool"], "each": "out", "id": ["$.id", "#"], "success": "ok"},
    }
    skills = [f"/repo/.acme/skills/{name}/SKILL.md" for name in ("order-api", "widget-test")]
    calls = {"event": "turn", "role": "agent", "id": "c", "tool": "cat", "calls": skills}
    results = {"event": "tool", "id": "c", "out": [{"ok": False}, {"ok": True}]}
    run = many(calls, results, BYE, **parts)
    assert (run.tier("order-api"), run.tier("widget-test")) == (3, 2)
    assert many({**calls, "id": None}, results, BYE, **parts).tier("widget-test") == 3


def test_a_condition_tells_an_answer_from_an_echo_of_the_prompt() -> None:
    """And the prompt itself is never an answer, whoever is said to have written it."""
    echo = turn(text="Use the blue gadget.", role="user")
    assert many(echo, BYE).outcome() is Outcome.NEVER_RAN
    bare: dict[str, Any] = {"text": {"kinds": ["turn"], "text": "text"}}
    assert many(echo, BYE, **bare).outcome() is Outcome.COMPLETED
    run = many(echo, BYE, prompt="Use the blue gadget.\n", **bare)
    assert run.outcome() is Outcome.NEVER_RAN
    assert "the prompt is there too" in run.reading.notes[0]


def test_text_of_the_kind_of_a_call_is_no_call() -> None:
    """Without a tool's name nothing was called, so a requirement of activity is not met."""
    parts: dict[str, Any] = {"call": {"kinds": ["turn"], "tool": "tool", "skill": "skill"}}
    run = many(turn(text="I would load widget-testing."), BYE, **parts)
    assert (run.reading.tool_events, run.evidence.activity) == (0, False)


def test_an_end_that_comes_once_a_step_is_named() -> None:
    """A run that is killed after a step would count as complete."""
    said = turn(text="One.")
    assert many(said, BYE).reading.notes == ()
    (note,) = many(said, BYE, turn(text="Two."), BYE).reading.notes
    assert note.startswith("routing.toml: acme: records.end: the run continued after it")
    assert many(said, {**BYE, "reason": "tool"}, code=1).outcome() is Outcome.KILLED


def test_a_sub_agents_end_is_not_the_runs() -> None:
    """The run goes on without it."""
    nested = {**BYE, "parent": "x"}
    assert many(turn(text="One."), nested, subagent="parent").outcome() is Outcome.KILLED


def test_the_first_failure_is_the_cause_where_the_description_says_so() -> None:
    """The later one says no more than that the command failed."""
    failed = [{"event": "failed", "text": text} for text in ("401 invalid key", "Exec failed")]
    assert many(*failed, code=1).reading.failure is ApiFailure.AUTH
    last: dict[str, Any] = {"error": {"kinds": ["failed"], "message": "text"}}
    assert many(*failed, code=1, **last).reading.failure is ApiFailure.API_ERROR


FILE_LOADS: dict[str, Any] = {
    "loads": "skill_file",
    "tools": {"file": ["cat"], "shell": ["sh"]},
    "call": {**MANY["call"], "command": "fn.arguments.command"},
}


@pytest.mark.parametrize(
    ("tool", "arguments", "output", "tier", "kind"),
    [
        ("cat", {"path": "/repo/.acme/skills/order-api/SKILL.md"}, "---", 1, LineKind.LOAD),
        ("cat", {"path": "/repo/.acme/skills/order-api/SKILL.md"}, "Error", 2, LineKind.ATTEMPT),
        ("cat", {"path": "/repo/.acme/skills/order-api/SKILL.md", "from": 9}, "x", 3, None),
        ("cat", {"path": "/repo/.acme/skills/order-api/more.md"}, "order-api", 3, None),
        ("cat", {"path": "/else/order-api/SKILL.md"}, "---", 2, None),
        ("sh", {"command": "cat .acme/skills/order-api/SKILL.md"},
         "---\nname: order-api\n---\n", 2, None),
    ],
)  # fmt: skip
def test_a_read_of_the_skills_file_is_the_load_where_there_is_no_skill_tool(
    tool: str, arguments: Record, output: str, tier: int, kind: LineKind | None
) -> None:
    """By the agent's own tool, from the beginning of the file, in a folder of skills."""
    run = many(turn(asked("1", tool, **arguments)), answered("1", output), BYE, **FILE_LOADS)
    assert run.tier("order-api") == tier
    if kind is not None:
        assert kind in run.kinds()


def test_a_file_that_lies_elsewhere_is_no_load() -> None:
    """A stale copy in the user's home is the wrong one."""
    built = build_provider(
        "acme",
        Description.model_validate(
            {"command": ["acme", "{prompt}"], "records": {**MANY, **FILE_LOADS}}
        ),
    )
    context = replace(NO_CONTEXT, skills_roots=("/repo/.acme/skills",), cwd="/repo")
    calls = turn(asked("1", "cat", path="/home/user/.acme/skills/order-api/SKILL.md"))
    lines = jsonl(calls, answered("1", "---"), BYE)
    run = read("claude", lines, reader=built.reader(context))
    assert (run.tier("order-api"), run.evidence.wrong_copies) == (3, {"order-api"})


def test_a_session_log_may_have_a_form_of_its_own() -> None:
    """It is read by `log_records`, else as the stream is."""
    fields = {"log_globs": [".acme/*.jsonl"]}
    log = {**PARTS, "kind": "type"}
    line = json.dumps({**{k: v for k, v in CALL.items() if k != "event"}, "type": "call"}).encode()
    for more, tool_events in ((fields, 0), ({**fields, "log_records": log}, 1)):
        built = provider(**more)
        assert built.log_reader is not None
        reader = built.log_reader(NO_CONTEXT)
        list(reader.feed(line))
        assert reader.reading.tool_events == tool_events
    assert provider().log_reader is None
