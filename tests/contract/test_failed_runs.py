"""What an agent CLI calls a failure decides whether to wait, to give up, or to look closer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routing_action.agents.reading.failures import classify_failure
from routing_action.agents.reading.wordings import WORDINGS, Wording
from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from tests.support.builders import Run, case_of, judge_run, read
from tests.support.streams import jsonl

INIT = {"type": "system", "subtype": "init", "model": "m", "claude_code_version": "2.1.332"}


def claude(message: str, status: int | None = None, kind: str = "unknown") -> bytes:
    said = {"content": [{"type": "text", "text": message}]}
    error = {"type": "assistant", "error": kind, "isApiErrorMessage": True, "message": said}
    result = {"type": "result", "subtype": "success", "is_error": True, "result": message}
    return jsonl(INIT, error, {**result, "api_error_status": status, "num_turns": 1})


def codex(message: str, status: int | None = None, kind: str = "") -> bytes:
    shown = (
        f"unexpected status {status} {kind}: {message}" if status else f"{kind} {message}".strip()
    )
    failed = {"type": "turn.failed", "error": {"message": shown}}
    return jsonl({"type": "thread.started"}, {"type": "turn.started"}, failed)


def copilot(message: str, status: int | None = None, kind: str = "query") -> bytes:
    data = {"errorType": kind, "message": message, "statusCode": status}
    failed = {"type": "session.error", "data": data, "id": "i", "timestamp": "t"}
    return jsonl(failed, {"type": "result", "exitCode": 1, "usage": {}})


def gemini(message: str, status: int | None = None, kind: str = "Error") -> bytes:
    error = {"type": kind, "message": f"[API Error: {message}]", "code": status}
    return jsonl(
        {"type": "init", "model": "m"}, {"type": "result", "status": "error", "error": error}
    )


def opencode(message: str, status: int | None = None, kind: str = "APIError") -> bytes:
    error = {"name": kind, "data": {"message": message, "statusCode": status}}
    return jsonl({"type": "error", "sessionID": "s", "error": error})


STREAMS = {
    "claude": claude,
    "codex": codex,
    "copilot": copilot,
    "gemini": gemini,
    "opencode": opencode,
}
each_agent = pytest.mark.parametrize("agent", STREAMS)


def failed(agent: str, message: str, status: int | None = None, **fields: str) -> Run:
    return read(agent, STREAMS[agent](message, status, **fields), exit_code=1)


# ---- on every agent, by status and words


@each_agent
@pytest.mark.parametrize(
    ("message", "status", "outcome"),
    [
        # S1: a denied phrase is no match, and seconds are waited for
        (
            "Server is temporarily limiting requests (not your usage limit) · Rate limited",
            429,
            "rate_limit",
        ),
        ("Too many requests. This isn't related to your quota or billing.", 429, "rate_limit"),
        ("Rate limited. Your weekly limit has not been reached.", 429, "rate_limit"),
        ("You haven't hit your usage limit; slow down", 429, "rate_limit"),
        (
            "Rate limit reached on tokens per min (TPM). Please try again in 2.3s.",
            429,
            "rate_limit",
        ),
        ("You exceeded your current quota. Please retry in 34.07s.", 429, "rate_limit"),
        ("Please wait 90 seconds before trying again", 429, "rate_limit"),
        # S2: minutes to days, or a person
        ("You've hit your session limit · resets 3:30am (America/New_York)", 429, "quota"),
        ("You've hit your limit · resets Apr 3 at 8am (Europe/Paris)", 429, "quota"),
        ("Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max", 429, "quota"),
        ("Opus limit reached ∙ resets 2am", 429, "quota"),
        ("You've hit your usage limit. Try again at 8:36 PM.", None, "quota"),
        ("You've hit your usage limit. Try again in 3 days 2 hours", None, "quota"),
        ("Sorry, you've hit a rate limit. Please try again in 51 hours.", 429, "quota"),
        ("Your weekly rate limit will reset on April 20, 2026 at 2:00 AM", 429, "quota"),
        ("Rate limited. Try again in 5 minutes", 429, "quota"),
        ("exhausted your capacity. Your quota will reset after 2h36m24s.", None, "quota"),
        ("You have exhausted your daily quota on this model.", 429, "quota"),
        ("Free usage exceeded, add credits", 429, "quota"),
        ("You have no quota", 402, "quota"),
        ("Your workspace is out of credits. Add credits to continue.", None, "quota"),
        ("Claude usage limit reached|1751011200", 429, "quota"),
        ("Rate limit exceeded: free-models-per-day. Add 10 credits", 429, "quota"),
        ("Your account does not have enough credits", None, "quota"),
        ("Quota exceeded for the metric 'Requests per minute'", 429, "rate_limit"),
        ("You are not out of credits: slow down", 429, "rate_limit"),
        # fields before words
        ("our usage limit was lost: 503 Service Unavailable", None, "server_error"),
        ("the billing service failed", 500, "server_error"),
        ("usage limit lookup failed: invalid token", 401, "auth"),
        ("Overloaded", 529, "server_error"),
        ("no access to your plan's credentials", 403, "auth"),
        # the case's own fault
        ("prompt is too long: 210171 tokens > 200000 maximum", 400, "context"),
        ("Your input exceeds the context window of this model", 400, "context"),
        ("prompt token count of 130389 exceeds the limit of 128000", 400, "context"),
        ("The input token count (1200000) exceeds the maximum number of tokens", 400, "context"),
        ("Request Entity Too Large", 413, "context"),
        # what nobody knows
        ("model: no-such-model", 404, "api_error"),
        ("tools.0.name: must match a pattern", 400, "api_error"),
    ],
)
def test_s2_a_failure_is_sorted_the_same_on_every_agent(
    agent: str, message: str, status: int | None, outcome: str
) -> None:
    """Wait for seconds, give up for minutes, and tell a long prompt from a failed service."""
    run = failed(agent, message, status)
    assert run.outcome().value == outcome
    assert message[:30] in run.reading.failure_message
    assert run.reading.throttled == (outcome == "rate_limit" or status == 529)


@pytest.mark.parametrize(
    ("agent", "kind", "status", "outcome"),
    [
        ("claude", "rate_limit", None, "rate_limit"),
        ("claude", "billing_error", 400, "quota"),
        ("claude", "authentication_failed", None, "auth"),
        ("claude", "overloaded", None, "server_error"),
        ("codex", "usage_limit_exceeded", None, "quota"),
        ("codex", "context_window_exceeded", None, "context"),
        ("codex", "unauthorized", None, "auth"),
        ("copilot", "rate_limit", None, "rate_limit"),
        ("copilot", "user_weekly_rate_limited", 429, "quota"),
        ("copilot", "quota_exceeded", 402, "quota"),
        ("copilot", "authorization", None, "auth"),
        ("copilot", "context_limit", None, "context"),
        ("gemini", "TerminalQuotaError", None, "quota"),
        ("gemini", "RetryableQuotaError", None, "rate_limit"),
        ("gemini", "FatalAuthenticationError", None, "auth"),
        ("opencode", "ContextOverflowError", None, "context"),
        ("opencode", "ProviderAuthError", None, "auth"),
        ("opencode", "GoUsageLimitError", 429, "quota"),
    ],
)
def test_s2_each_agents_own_codes_are_known(
    agent: str, kind: str, status: int | None, outcome: str
) -> None:
    """Where the words beside them say nothing."""
    assert failed(agent, "request failed", status, kind=kind).outcome().value == outcome


def test_s1_the_clis_code_comes_before_its_words() -> None:
    """An overloaded service that speaks of limits is overloaded."""
    run = failed("claude", "we are near our usage limit", kind="overloaded_error")
    assert run.outcome() is Outcome.SERVER_ERROR


@pytest.mark.parametrize(
    "text",
    ["limit or ", "not your ", "usage limit, ", "resets ", "1:11:", "daily ", "n't hit your "],
)
def test_s1_a_long_hostile_message_costs_bounded_work(text: str) -> None:
    """Words that are repeated without end are sorted like any others."""
    assert classify_failure(text * 3_000)


# ---- when it lifts


def limit_event(**info: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": "rate_limit_event", "rate_limit_info": info}


@pytest.mark.parametrize("status", ["rejected", "allowed", "allowed_warning"])
def test_s2_claude_says_in_an_event_when_a_limit_of_the_plan_resets(status: str) -> None:
    """Only a rejected request has hit it; the time is shown."""
    event = limit_event(status=status, resetsAt=1778565600, rateLimitType="five_hour")
    lines = claude("Rate limited", 429, "rate_limit").splitlines(keepends=True)
    stdout = b"".join([lines[0], json.dumps(event).encode() + b"\n", *lines[1:]])
    run = read("claude", stdout, exit_code=1)
    is_hit = status == "rejected"
    assert run.outcome() is (Outcome.QUOTA if is_hit else Outcome.RATE_LIMIT)
    assert ("2026-05-12 06:00 UTC" in run.reading.failure_message) == is_hit


@pytest.mark.parametrize(
    ("header", "outcome", "shown"),
    [("30", "rate_limit", ""), ("73801", "quota", "20 h 30 min"), ("", "rate_limit", "")],
)
def test_s2_opencode_says_in_a_header_when_to_come_back(
    header: str, outcome: str, shown: str
) -> None:
    """Seconds are waited for, hours are shown."""
    data = {"message": "Slow down", "statusCode": 429, "responseHeaders": {"retry-after": header}}
    stdout = jsonl({"type": "error", "sessionID": "s", "error": {"name": "APIError", "data": data}})
    run = read("opencode", stdout, exit_code=1)
    assert run.outcome().value == outcome
    assert shown in run.reading.failure_message


def test_s2_opencode_names_its_limit_in_the_body() -> None:
    """The message alone would be throttling."""
    body = json.dumps({"type": "error", "error": {"type": "FreeUsageLimitError"}})
    data = {"message": "Rate limit exceeded", "statusCode": 429, "responseBody": body}
    stdout = jsonl({"type": "error", "sessionID": "s", "error": {"name": "APIError", "data": data}})
    assert read("opencode", stdout, exit_code=1).outcome() is Outcome.QUOTA


# ---- the case's own fault


@each_agent
def test_s2_a_prompt_that_is_too_long_fails_its_case(agent: str) -> None:
    """The service works: the case must ask for less."""
    stdout = STREAMS[agent]("Prompt is too long", 400)
    verdict = judge_run(agent, case_of(expected_skill="widget-testing"), stdout)
    assert (verdict.status, verdict.failure_kind) == (Status.FAIL, "context")


# ---- a server that does not start

MCP = "required MCP servers failed to initialize: dbx: Auth required, when send initialize request"


@pytest.mark.parametrize(
    "stderr",
    [
        f"Error: thread/start: thread/start failed: Fatal error: {MCP} (code -32603)",
        f"2026-06-24T02:33:13.356060Z ERROR codex_core::session: Failed to create session: {MCP}",
    ],
)
def test_s13_a_required_mcp_server_that_does_not_start_is_named(stderr: str) -> None:
    """It is no matter of the agent's credentials, whatever the server says."""
    run = read("codex", b"", stderr.encode(), exit_code=1)
    assert run.outcome() is Outcome.MCP_SERVER
    assert "dbx" in run.reading.failure_message


def test_s13_the_stream_can_say_so_too() -> None:
    """As a failed turn of codex, and in claude's own words."""
    assert failed("codex", MCP).outcome() is Outcome.MCP_SERVER
    stderr = b"Error: Invalid MCP configuration:\nMCP config file not found: /r/mcp.json"
    assert read("claude", b"", stderr, exit_code=1).outcome() is Outcome.MCP_SERVER


def test_s13_an_optional_mcp_server_that_fails_changes_nothing() -> None:
    """Codex warns of it and works on."""
    stderr = b"ERROR: MCP client for `x` failed to start: status: connection closed"
    done = {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}
    stdout = jsonl({"type": "thread.started"}, done, {"type": "turn.completed", "usage": {}})
    assert read("codex", stdout, stderr).outcome() is Outcome.COMPLETED


# ---- the table


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda one: one.examples[0][:40])
def test_each_wording_finds_its_examples(wording: Wording) -> None:
    """The reference shows what the table really knows."""
    assert wording.source
    for example in wording.examples:
        assert wording.pattern.search(example), example
        assert classify_failure(example) is wording.failure, example
