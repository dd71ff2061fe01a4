"""What is special to Claude Code: its Skill tool, plugins, sub-agents and error results."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.agents.provider import ReadContext
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import ApiFailure, LineKind, Usage
from tests.support.builders import Run, read
from tests.support.recorded import FOLDER
from tests.support.streams import (
    Record,
    claude_base,
    claude_call,
    claude_end,
    claude_init,
    claude_result,
    claude_says,
    jsonl,
    run_of,
    say,
    skill_text,
)

SKILL = "widget-testing"
CALL = claude_call("t1", "Skill", skill=SKILL)


def run(*records: Record, tokens: tuple[str, ...] = (SKILL,)) -> Run:
    return read("claude", run_of("claude", *records), tokens=tokens)


# ---- loads


def test_a_skill_call_with_a_good_result_is_a_load() -> None:
    """The call is paired with its result by the tool_use id."""
    found = run(CALL, claude_result("t1", f"Launching skill: {SKILL}"))
    assert found.tier(SKILL) == 1
    assert [line.number for line in found.lines if line.skill] == [2]


@pytest.mark.parametrize(
    "result",
    [
        claude_result("t1", "<tool_use_error>Unknown skill</tool_use_error>", is_error=True),
        claude_result("other", f"Launching skill: {SKILL}"),
        {**claude_result("t1", "x"), "tool_use_result": {"success": False}},
        {**claude_result("t1", "x"), "toolUseResult": {"success": False}},
    ],
    ids=["error", "of another call", "no success", "no success in a session log"],
)
def test_a_skill_call_without_a_good_result_is_an_attempt(result: Record) -> None:
    """An error, or the result of another call, is no load."""
    assert run(CALL, result).tier(SKILL) == 2


@pytest.mark.parametrize("argument", ["skill", "command"])
@pytest.mark.parametrize("name", [SKILL, f"/{SKILL}", f" {SKILL} "])
def test_older_releases_name_the_skill_as_a_command(argument: str, name: str) -> None:
    """Releases up to 2.0.30 said `command`, some with a slash."""
    call = claude_call("t1", "Skill", **{argument: name})
    assert run(call, claude_result("t1", "ok")).evidence.loads == [SKILL]


def test_a_sub_agents_load_says_so() -> None:
    """`parent_tool_use_id` on stdout and `isSidechain` in a session log mark a sub-agent."""
    nested = claude_call("t1", "Skill", parent="t0", skill=SKILL)
    side = {**CALL, "isSidechain": True}
    for call in (nested, side):
        found = run(call, claude_result("t1", "ok"))
        assert [line.subagent for line in found.lines if line.skill] == [True]


# ---- the base directory


def test_the_base_directory_tells_the_plugin_of_a_bare_load() -> None:
    """A qualified requirement is met by a bare call whose folder lies in that plugin."""
    steps = (CALL, claude_result("t1", "ok"), claude_base(f"/plugins/acme/skills/{SKILL}"))
    tokens = (SKILL, f"acme:{SKILL}", f"other:{SKILL}")
    assert run(*steps, tokens=tokens).tiers() == {
        SKILL: 1,
        f"acme:{SKILL}": 1,
        f"other:{SKILL}": None,
    }


@pytest.mark.parametrize(
    "steps",
    [
        [claude_base(f"/plugins/acme/skills/{SKILL}"), CALL, claude_result("t1", "ok")],
        [CALL, claude_base(f"/plugins/acme/skills/{SKILL}")],
        [CALL, claude_result("t1", "no", is_error=True), claude_base(f"/p/acme/skills/{SKILL}")],
        [CALL, claude_result("t1", "ok"), claude_base("/plugins/acme/skills/order-api")],
    ],
    ids=["before the load", "without result", "after an error", "of another skill"],
)
def test_a_base_directory_that_follows_no_load_tells_nothing(steps: list[Record]) -> None:
    """The synthetic text counts only after a proven load of that very skill."""
    assert run(*steps, tokens=(f"acme:{SKILL}",)).tier(f"acme:{SKILL}") is None


def test_a_base_directory_counts_once() -> None:
    """The text of an agent that repeats it in a later message moves no load to another plugin."""
    steps = (
        CALL,
        claude_result("t1", "ok"),
        claude_base(f"/repo/.claude/skills/{SKILL}"),
        claude_base(f"/plugins/acme/skills/{SKILL}"),
    )
    found = run(*steps, tokens=(SKILL, f"acme:{SKILL}"))
    assert found.tiers() == {SKILL: 1, f"acme:{SKILL}": None}
    assert [line.path for line in found.lines if line.path] == [f"/repo/.claude/skills/{SKILL}"]


def test_a_qualified_call_is_believed_where_its_folder_tells_nothing_else() -> None:
    """The call says the plugin; a folder in another plugin says that another skill was loaded."""
    call = claude_call("t1", "Skill", skill=f"acme:{SKILL}")
    tokens = (f"acme:{SKILL}", f"other:{SKILL}")
    for path, tiers in ((f"/x/{SKILL}", (1, None)), (f"/x/other/skills/{SKILL}", (None, 1))):
        found = run(call, claude_result("t1", "ok"), claude_base(path), tokens=tokens)
        assert tuple(found.tiers().values()) == tiers


# ---- other tools


@pytest.mark.parametrize(
    ("arguments", "tier"),
    [({}, 2), ({"offset": 1}, 2), ({"offset": 5}, 3), ({"limit": 2}, 2)],
)
def test_a_read_that_starts_further_down_is_a_weak_hint(
    arguments: dict[str, Any], tier: int
) -> None:
    """Only a read of the file's first lines shows the frontmatter."""
    call = claude_call("t1", "Read", file_path=f"/r/.claude/skills/{SKILL}/SKILL.md", **arguments)
    assert run(call, claude_result("t1", skill_text(SKILL))).tier(SKILL) == tier


def test_a_command_runs_in_the_folder_that_the_run_started_in() -> None:
    """The init line tells the folder, so that a relative path can be judged."""
    context = ReadContext(skills_roots=("/repo/.claude/skills",))
    command = claude_call("t1", "Bash", command=f"cat .claude/skills/{SKILL}/SKILL.md")
    stdout = run_of("claude", command, claude_result("t1", skill_text(SKILL)))
    found = read("claude", stdout, context=context)
    assert [line.path for line in found.lines if line.kind is LineKind.READ] == [
        f"/repo/.claude/skills/{SKILL}/SKILL.md"
    ]


def test_text_is_what_the_assistant_wrote_and_nothing_else() -> None:
    """Prompts, thinking, deltas and system lines are no text of the assistant."""
    quiet: list[Record] = [
        {"type": "user", "message": {"role": "user", "content": f"use {SKILL}"}},
        {"type": "user", "message": {"content": [{"type": "image", "source": SKILL}]}},
        {"type": "stream_event", "event": {"delta": {"text": SKILL}}},
        {"type": "system", "subtype": "status", "status": SKILL},
        {"type": "attachment", "attachment": SKILL},
        claude_says({"type": "thinking", "thinking": SKILL}),
    ]
    assert run(*quiet).tier(SKILL) is None
    for content in (SKILL, [SKILL], [{"type": "text", "text": SKILL}]):
        spoken = {"type": "assistant", "message": {"content": content}}
        assert run(spoken).tier(SKILL) == 3


# ---- the end of a run


@pytest.mark.parametrize("subtype", ["error_max_turns", "error_max_budget_usd"])
def test_a_limit_is_no_failure_of_the_api(subtype: str) -> None:
    """The turn and the cost limit end a run on purpose."""
    stdout = jsonl(claude_init(), say("claude", "a"), claude_end(subtype=subtype, is_error=True))
    assert read("claude", stdout, exit_code=1).outcome() is Outcome.LIMIT


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"result": "API Error: 401 invalid x-api-key"}, Outcome.AUTH),
        ({"result": "Not logged in · Please run /login"}, Outcome.AUTH),
        ({"api_error_status": 429, "result": "API Error"}, Outcome.RATE_LIMIT),
        ({"api_error_status": 529, "result": "Overloaded"}, Outcome.SERVER_ERROR),
        ({"result": "", "errors": ["Credit balance is too low"]}, Outcome.QUOTA),
        ({"error": "server_error", "result": "x"}, Outcome.SERVER_ERROR),
        ({"result": "odd"}, Outcome.API_ERROR),
    ],
)
def test_an_error_result_is_sorted_whatever_its_subtype(
    fields: dict[str, object], outcome: Outcome
) -> None:
    """Claude says subtype success and is_error true: only the latter counts."""
    stdout = jsonl(claude_init(), claude_end(is_error=True, **fields))
    assert read("claude", stdout).outcome() is outcome


def retry(error: str, status: int | None) -> Record:
    record = {"type": "system", "subtype": "api_retry", "attempt": 1, "error": error}
    return {**record, "error_status": status}


def test_a_retry_that_went_on_to_the_end_is_the_outcome() -> None:
    """A run that was stopped while it still retried says why."""
    stdout = jsonl(claude_init(), retry("rate_limit", 429))
    assert read("claude", stdout, exit_code=143).outcome(timed_out=True) is Outcome.RATE_LIMIT


def test_a_retry_that_recovered_is_forgotten() -> None:
    """The next turn of the model means that the API works again."""
    stdout = jsonl(claude_init(), retry("server_error", 500), say("claude", "42"), claude_end())
    assert read("claude", stdout).outcome() is Outcome.COMPLETED


def test_a_failed_run_is_called_as_its_retries_were() -> None:
    """The result line names no kind, the retries before it did."""
    ended = claude_end(is_error=True, result="request failed")
    stdout = jsonl(claude_init(), retry("authentication_failed", None), ended)
    assert read("claude", stdout).reading.failure is ApiFailure.AUTH


@pytest.mark.parametrize(
    "message",
    [
        {"type": "assistant", "error": "billing_error", "message": {"content": "Credit balance"}},
        {
            "type": "assistant",
            "isApiErrorMessage": True,
            "apiErrorStatus": 402,
            "message": {"content": [{"type": "text", "text": "failed"}]},
        },
    ],
)
def test_an_api_error_in_the_assistants_place_is_no_text(message: Record) -> None:
    """Claude puts API errors where the answer would stand, also in session logs."""
    reading = read("claude", jsonl(claude_init(), message)).reading
    assert (reading.retrying, reading.has_text, reading.turns) == (ApiFailure.QUOTA, False, 0)


def test_a_result_line_with_turns_is_proof_of_life() -> None:
    """A slash command can end with a result and no assistant message."""
    assert read("claude", jsonl(claude_init(), claude_end(result=""))).reading.turns == 1
    silent = jsonl(claude_init(), claude_end(num_turns=0, result=""))
    assert read("claude", silent).outcome() is Outcome.NEVER_RAN


def test_usage_and_cost_are_those_of_the_last_result() -> None:
    """With sub-agents each result repeats the whole: nothing is added up."""
    first = claude_end(total_cost_usd=0.1)
    usage = {"input_tokens": 9, "output_tokens": 4, "cache_read_input_tokens": 2}
    last = claude_end(total_cost_usd=0.25, usage=usage)
    reading = read("claude", jsonl(claude_init(skills=["a", 5]), first, last)).reading
    assert reading.usage == Usage(input_tokens=9, output_tokens=4, cached_input_tokens=2)
    assert (reading.cost_usd, reading.model, reading.cli_version) == (0.25, "m", "2.1.0")
    assert reading.catalogue == ("a",)


@pytest.mark.parametrize("scenario", ["a_skill", "c_mention", "d_cat"])
def test_a_session_log_is_read_like_the_output(scenario: str) -> None:
    """Claude writes the same records to disk as to stdout."""
    (log,) = FOLDER.glob(f"cli/claude/2.1.332/{scenario}.sessions/*.jsonl")
    tiers = {"a_skill": 1, "c_mention": 3, "d_cat": 2}
    found = read("claude", log.read_bytes())
    assert found.tier(SKILL) == tiers[scenario]
