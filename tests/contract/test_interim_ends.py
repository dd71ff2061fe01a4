"""A terminal event is the end only where no announced work of the background is left."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import Reader
from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from tests.support.builders import NO_CONTEXT, case_of, judge_run
from tests.support.streams import jsonl

ABSENT = case_of(expected_skill="", disallowed_skills=("release-notes",))
PRESENT = case_of(expected_skill="release-notes")
Records = list[dict[str, Any]]


def said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": list(blocks)}}


def answered(identity: str, text: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": identity, "content": text}
    return {"type": "user", "message": {"content": [block]}}


def system(subtype: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": "system", "subtype": subtype, **fields}


def use(name: str, identity: str = "t1", **given: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": given}


INIT = system("init", model="m", claude_code_version="2.1.332")
RESULT = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 2, "result": "ok"}
LOAD = [said(use("Skill", skill="release-notes")), answered("t1", "Launching skill: release-notes")]
AGENT = [INIT, said(use("Agent", "b1", prompt="Look."))]
LAUNCHED = answered("b1", "Async agent launched successfully.\nagentId: bq1 (use it)\nWait for it.")
NOTICE = "<task-notification>\n<task-id>bq1</task-id>\n<status>{}</status>\n</task-notification>"


def notice(status: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": NOTICE.format(status)}}


CLAUDE: dict[str, tuple[Records, Records]] = {
    "events": (
        [*AGENT, system("task_started", task_id="bq1", tool_use_id="b1", task_type="local_agent")],
        [system("task_notification", task_id="bq1", status="completed")],
    ),
    "list": (
        [*AGENT, system("background_tasks_changed", tasks=[{"task_id": "bq1"}]), LAUNCHED],
        [system("background_tasks_changed", tasks=[]), INIT],
    ),
    "update": (
        [*AGENT, system("task_started", task_id="bq1", is_backgrounded=True)],
        [system("task_updated", task_id="bq1", patch={"status": "failed"}), INIT],
    ),
    "texts": ([*AGENT, LAUNCHED], [notice("completed")]),
    "two agents": (
        [*AGENT, *(system("task_started", task_id=one) for one in ("bq1", "bq2"))],
        [system("task_notification", task_id=one, status="completed") for one in ("bq1", "bq2")],
    ),
}
each_way = pytest.mark.parametrize("way", CLAUDE)


def reader(agent: str, records: Records) -> Reader:
    """What an agent's reader makes of the records so far, while the run lasts."""
    used = all_providers()[agent].reader(NO_CONTEXT)
    for record in records:
        list(used.feed(json.dumps(record).encode()))
    return used


@each_way
def test_s3_claude_is_not_at_its_end_while_an_agent_works(way: str) -> None:
    """The result of the first turn starts no grace; that of the last one does."""
    begin, ended = CLAUDE[way]
    records = [*begin, RESULT]
    assert not reader("claude", records).terminal_seen
    records += [*ended]
    assert not reader("claude", records).terminal_seen
    records += [said({"type": "text", "text": "It is done."})]
    assert not reader("claude", records).terminal_seen
    assert reader("claude", [*records, RESULT]).terminal_seen


@each_way
def test_s3_a_load_of_the_second_turn_counts(way: str) -> None:
    """Both ways: the positive case passes, the negative one fails."""
    begin, ended = CLAUDE[way]
    whole = jsonl(*begin, RESULT, *ended, *LOAD, RESULT)
    assert judge_run("claude", PRESENT, whole).status is Status.PASS
    assert judge_run("claude", ABSENT, whole).status is Status.FAIL


@each_way
def test_s3_a_run_that_was_cut_there_proves_no_absence(way: str) -> None:
    """While the agent works, and in the turn after it."""
    begin, ended = CLAUDE[way]
    for records in ([*begin, RESULT], [*begin, RESULT, *ended, said()]):
        verdict = judge_run("claude", ABSENT, jsonl(*records))
        assert (verdict.status, verdict.outcome) == (Status.INFRA_ERROR, Outcome.KILLED)


@each_way
def test_s3_a_run_that_saw_the_agent_end_proves_absence(way: str) -> None:
    """The honest case stays green."""
    begin, ended = CLAUDE[way]
    whole = jsonl(*begin, RESULT, *ended, said({"type": "text", "text": "Done."}), RESULT)
    assert judge_run("claude", ABSENT, whole).status is Status.PASS


@pytest.mark.parametrize(
    "between",
    [
        [system("task_started", task_id="x", is_backgrounded=False), answered("t1", "done")],
        [
            system("task_started", task_id="x"),
            system("task_notification", task_id="x", status="stopped"),
        ],
        [system("task_started", task_id="x", task_type="local_bash")],
        [system("task_progress", task_id="x"), system("status", status="requesting")],
    ],
    ids=["foreground", "stopped", "shell", "other"],
)
def test_s3_what_leaves_no_agent_at_work_is_the_end(between: Records) -> None:
    """A foreground task, a stopped one, and a shell command that the CLI leaves alone."""
    whole = [INIT, said({"type": "text", "text": "ok"}), *between, RESULT]
    assert judge_run("claude", ABSENT, jsonl(*whole)).status is Status.PASS


def test_s3_a_stopped_agent_starts_no_turn() -> None:
    """Nothing answers it, so that the grace begins."""
    begin, _ = CLAUDE["events"]
    stopped = system("task_notification", task_id="bq1", status="stopped")
    assert reader("claude", [*begin, RESULT, stopped]).terminal_seen


# ---- the others


def event(kind: str, **data: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": kind, "data": data, "id": "i", "timestamp": "t"}


COPILOT = [
    event("assistant.message", content="I start an agent."),
    event("subagent.started", toolCallId="c1", agentName="general-purpose"),
    event("tool.execution_complete", toolCallId="c1", success=True, result={"content": "started"}),
]
COPILOT_END: dict[str, Any] = {"type": "result", "exitCode": 0, "usage": {"premiumRequests": 1}}


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_s3_copilot_is_at_its_end_once_its_agents_are(end: str) -> None:
    """`subagent.*` says when."""
    assert judge_run("copilot", ABSENT, jsonl(*COPILOT, COPILOT_END)).status is Status.INFRA_ERROR
    whole = jsonl(*COPILOT, event(f"subagent.{end}", toolCallId="c1"), COPILOT_END)
    assert judge_run("copilot", ABSENT, whole).status is Status.PASS


def collab(identity: str, tool: str, **states: str) -> dict[str, Any]:
    item = {
        "id": identity,
        "type": "collab_tool_call",
        "tool": tool,
        "agents_states": {name: {"status": status} for name, status in states.items()},
        "status": "completed",
    }
    return {"type": "item.completed", "item": item}


@pytest.mark.parametrize("status", ["completed", "errored", "shutdown", "not_found"])
def test_s3_codex_is_at_its_end_once_its_agents_are(status: str) -> None:
    """The states of its agents say when."""
    begin = [
        {"type": "thread.started"},
        {"type": "turn.started"},
        collab("1", "spawn_agent", a="running"),
    ]
    end: dict[str, Any] = {"type": "turn.completed", "usage": {}}
    assert judge_run("codex", ABSENT, jsonl(*begin, end)).outcome is Outcome.KILLED
    whole = jsonl(*begin, collab("2", "wait", a=status), end)
    assert judge_run("codex", ABSENT, whole).status is Status.PASS


def test_s3_a_second_turn_of_codex_is_no_end() -> None:
    """A turn that begins after `turn.completed` must end too."""
    message: dict[str, Any] = {
        "type": "item.completed",
        "item": {"type": "agent_message", "text": "x"},
    }
    end: dict[str, Any] = {"type": "turn.completed", "usage": {}}
    begin: Records = [{"type": "thread.started"}, message, end, {"type": "turn.started"}, message]
    assert not reader("codex", begin).terminal_seen
    assert judge_run("codex", ABSENT, jsonl(*begin)).outcome is Outcome.KILLED
    assert judge_run("codex", ABSENT, jsonl(*begin, end)).status is Status.PASS


def test_s3_a_step_of_opencode_after_its_stop_is_no_end() -> None:
    """What follows the last step's `stop` must stop too."""
    text = {"type": "text", "part": {"type": "text", "text": "x"}}
    stop = {"type": "step_finish", "part": {"reason": "stop"}}
    assert judge_run("opencode", ABSENT, jsonl(text, stop, text)).outcome is Outcome.KILLED
    assert judge_run("opencode", ABSENT, jsonl(text, stop, text, stop)).status is Status.PASS
