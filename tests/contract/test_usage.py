"""What a run used and cost is counted once, however often its CLI repeats it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routing_action.evidence.transcript import Usage
from tests.support.builders import read
from tests.support.recorded import recording, recordings
from tests.support.streams import claude_call, claude_end, claude_init, claude_result, jsonl

RECORDED = {
    "cli/claude/2.1.332/a_skill": (Usage(2500, 84, 0), 0.01168),
    "cli/codex/0.171.0/a_skill": (Usage(2500, 84, 0, 0), None),
    "cli/copilot/1.0.102/a_skill": (Usage(premium_requests=0.0), None),
    "cli/gemini/0.61.0/a_skill": (Usage(2400, 84, 0), None),
    "cli/opencode/1.18.33/a_skill": (Usage(2500, 84, 0, 0), 0.002668),
    "cli/kilo/7.7.7/a_skill": (Usage(2500, 84, 0, 0), 0.002668),
    "cli/pi/1.6.0/a_skill": (Usage(2500, 84, 0, 0), 0.0),
    "cli/qwen/0.24.4/a_skill": (Usage(2500, 84, 0), None),
    "cli/cline/3.0.65/a_skill": (Usage(2500, 84, 0), 0.0),
    "cli/droid/0.215.0/a_skill": (Usage(2500, 84, 0), None),
}


@pytest.mark.parametrize("key", RECORDED)
def test_a_recorded_run_of_each_cli_is_counted_once(key: str) -> None:
    """Claude repeats a message's usage with each of its blocks, codex and gemini add up."""
    reading = recording(key).read_as().reading
    usage, cost = RECORDED[key]
    assert reading.usage == usage
    assert reading.cost_usd == (None if cost is None else pytest.approx(cost))


def records(stdout: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines() if line.startswith(b"{")]


@pytest.mark.parametrize("one", [r for r in recordings("cli") if r.is_healthy], ids=lambda r: r.key)
def test_no_run_costs_more_than_its_own_last_word(one: Any) -> None:  # noqa: ANN401
    """The totals are those that the stream itself gives."""
    reading = one.read_as().reading
    told = records(one.stdout)
    totals = [record["total_cost_usd"] for record in told if "total_cost_usd" in record]
    totals += [one["aggregateUsage"]["totalCost"] for one in told if "aggregateUsage" in one]
    steps = {
        record["part"]["id"]: record["part"]["cost"]
        for record in told
        if record.get("type") == "step_finish"
    }
    expected = totals[-1] if totals else sum(steps.values()) if steps else None
    if one.provider == "pi":
        ended = [record["message"] for record in told if record["type"] == "message_end"]
        expected = sum(m["usage"]["cost"]["total"] for m in ended if m["role"] == "assistant")
    assert reading.cost_usd == (None if expected is None else pytest.approx(expected))


def test_claude_with_a_sub_agent_prints_two_results_and_the_last_one_stands() -> None:
    """The second one holds all of the first."""
    usage = {"input_tokens": 10, "output_tokens": 2}
    more = {"input_tokens": 25, "output_tokens": 6}
    message = claude_call("t1", "Task", prompt="x")
    message["message"]["usage"] = usage
    stdout = jsonl(
        claude_init(),
        message,
        message,
        claude_result("t1", "ok"),
        claude_end(total_cost_usd=0.1, usage=usage),
        claude_end(total_cost_usd=0.3, usage=more),
    )
    reading = read("claude", stdout).reading
    assert (reading.usage, reading.cost_usd) == (Usage(25, 6), 0.3)


def test_an_opencode_step_that_is_told_twice_is_counted_once() -> None:
    """A step has an id; a repeated record of it is the same step."""
    step = {
        "type": "step_finish",
        "sessionID": "s",
        "part": {"id": "p1", "reason": "stop", "tokens": {"input": 3, "output": 1}, "cost": 0.5},
    }
    reading = read("opencode", jsonl(step, step)).reading
    assert (reading.usage, reading.cost_usd) == (Usage(3, 1, 0, 0), 0.5)
