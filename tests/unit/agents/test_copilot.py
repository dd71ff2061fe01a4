"""What is special to Copilot: its skill tool, text mode, aborts and exit code marks."""

from __future__ import annotations

import pytest

from routing_action.agents.copilot import find_shutdown
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import ApiFailure, Usage
from tests.support.builders import Run, read
from tests.support.recorded import FOLDER
from tests.support.streams import Record, copilot_event, jsonl, load, run_of, say, skill_text

SKILL = "widget-testing"
PATH = f"/repo/.github/skills/{SKILL}/SKILL.md"


def run(*records: Record) -> Run:
    return read("copilot", run_of("copilot", *records))


def tool(name: str, arguments: Record, **complete: object) -> tuple[Record, Record]:
    return (
        copilot_event("tool.execution_start", toolCallId="c", toolName=name, arguments=arguments),
        copilot_event("tool.execution_complete", toolCallId="c", **complete),
    )


# ---- loads


@pytest.mark.parametrize("success", [False, None, "true", 1])
def test_only_success_true_is_a_load(success: object) -> None:
    """A result that does not say success is an attempt."""
    assert run(*tool("skill", {"skill": SKILL}, success=success)).tier(SKILL) == 2
    assert run(*tool("skill", {"skill": SKILL}, success=True)).tier(SKILL) == 1


def test_requests_and_log_events_are_no_second_load() -> None:
    """The message that asks for a tool, and `skill.invoked` in a log, prove nothing more."""
    request = {"toolCallId": "c", "name": "skill", "arguments": {"skill": SKILL}}
    asked = copilot_event("assistant.message", content="", toolRequests=[request])
    invoked = copilot_event("skill.invoked", name=SKILL, path=PATH)
    found = run(asked, invoked)
    assert (found.tier(SKILL), found.evidence.loads) == (None, [])
    assert found.reading.unrecognised == 0


@pytest.mark.parametrize(
    ("arguments", "tier"),
    [
        ({"path": PATH}, 2),
        ({"file_path": PATH}, 2),
        ({"path": PATH, "view_range": [1, 40]}, 2),
        ({"path": PATH, "view_range": [5, 40]}, 3),
        ({"path": PATH, "view_range": ["5"]}, 2),
    ],
)
def test_a_view_of_the_skill_file_is_a_hand_read(arguments: Record, tier: int) -> None:
    """A view that starts further down shows no frontmatter."""
    result = {"content": skill_text(SKILL)}
    assert run(*tool("view", arguments, success=True, result=result)).tier(SKILL) == tier


# ---- exit codes of commands


@pytest.mark.parametrize(
    ("complete", "tier"),
    [
        ({"shellExecution": {"exitCode": 0}}, 2),
        ({"shellExecution": {"exitCode": 1}}, 3),
        ({}, 2),
    ],
)
@pytest.mark.parametrize("mark", ["", "<shellId: 0 completed with exit code 0>"])
def test_the_exit_code_field_decides(complete: Record, tier: int, mark: str) -> None:
    """A failing command says success here too."""
    result = {"content": skill_text(SKILL) + mark}
    step = tool("bash", {"command": f"cat {PATH}"}, success=True, result=result, **complete)
    assert run(*step).tier(SKILL) == tier


@pytest.mark.parametrize(
    ("mark", "tier"),
    [
        ("<exited with exit code 0>", 2),
        ("<shellId: 12 completed with exit code 0>\n", 2),
        ("<exited with exit code 1>", 3),
        ("<shellId: 0 completed with exit code 127>", 3),
        ("<exited with exit code -9>", 3),
    ],
)
def test_older_releases_tell_the_exit_code_at_the_end_of_the_output(mark: str, tier: int) -> None:
    """Where the field is not there, the mark in the output decides."""
    result = {"content": skill_text(SKILL) + mark}
    step = tool("bash", {"command": f"cat {PATH}"}, success=True, result=result)
    assert run(*step).tier(SKILL) == tier


def test_a_mark_inside_the_output_decides_nothing() -> None:
    """Only the last words are the CLI's own."""
    content = "<exited with exit code 1>\n" + skill_text(SKILL)
    step = tool("bash", {"command": f"cat {PATH}"}, success=True, result={"content": content})
    assert run(*step).tier(SKILL) == 2


# ---- text mode


def text(*lines: str, exit_code: int = 0) -> Run:
    return read("copilot", "\n".join(lines).encode(), exit_code=exit_code)


def test_text_mode_shows_a_load_as_a_line_of_its_own() -> None:
    """`● skill(NAME)` is the whole line, also with colours and a carriage return."""
    for line in (f"● skill({SKILL})", f"● skill({SKILL})  ", f"\x1b[32m●\x1b[0m skill({SKILL})\r"):
        found = text("I will use a skill.", "", line, "", "Done.")
        assert (found.tier(SKILL), found.evidence.loads) == (1, [SKILL])
        assert found.outcome() is Outcome.COMPLETED


@pytest.mark.parametrize(
    "line",
    [
        f"The log said ● skill({SKILL})",
        f"● skill({SKILL}) was printed",
        f"  ● skill({SKILL})",
        f"> ● skill({SKILL})",
        f"`● skill({SKILL})`",
        f"● skill({SKILL}",
        "● skill()",
        f"● Skill({SKILL})",
        f"skill({SKILL})",
    ],
)
def test_a_line_that_only_holds_the_mark_is_no_load(line: str) -> None:
    """The mark must be the whole line."""
    assert text(line).tier(SKILL) in (None, 3)


def test_text_mode_shows_a_failed_call_too() -> None:
    """`✗ skill(NAME) Skill not found` is an attempt."""
    found = text(f"✗ skill({SKILL}) Skill not found: {SKILL}")
    assert (found.tier(SKILL), found.evidence.attempts) == (2, [SKILL])


def test_the_mark_beside_records_is_no_load() -> None:
    """In JSON mode a text line is not the CLI's."""
    stdout = f"● skill({SKILL})\n".encode() + run_of("copilot", say("copilot", "42"))
    found = read("copilot", stdout)
    assert (found.tier(SKILL), found.reading.unrecognised) == (None, 1)


# ---- the end of a run


def test_a_result_after_an_abort_is_no_genuine_end() -> None:
    """A killed run prints a result with exit code 0 all the same."""
    stdout = run_of("copilot", say("copilot", "a"), copilot_event("abort", reason="user_initiated"))
    assert read("copilot", stdout, exit_code=143).outcome() is Outcome.KILLED
    assert read("copilot", stdout, exit_code=143).outcome(timed_out=True) is Outcome.TIMEOUT


@pytest.mark.parametrize("kind", ["max_turns", "turn_limit", "max_autopilot_continues"])
def test_a_turn_limit_is_no_failure_of_the_api(kind: str) -> None:
    """The limit ends a run on purpose."""
    stdout = run_of("copilot", copilot_event("session.error", errorType=kind, message="limit"))
    assert read("copilot", stdout, exit_code=1).outcome() is Outcome.LIMIT


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        ({"errorType": "authentication", "message": "failed", "statusCode": 401}, Outcome.AUTH),
        ({"errorType": "rate_limit", "message": "x"}, Outcome.RATE_LIMIT),
        ({"errorType": "query", "message": "credit balance is too low"}, Outcome.QUOTA),
        ({"errorType": "query", "message": "x", "statusCode": 500}, Outcome.SERVER_ERROR),
        ({}, Outcome.API_ERROR),
    ],
)
def test_a_session_error_is_final(data: dict[str, object], outcome: Outcome) -> None:
    """Copilot names kind, message and status."""
    stdout = run_of("copilot", copilot_event("session.error", **data))
    assert read("copilot", stdout, exit_code=1).outcome() is outcome


def test_a_failed_model_call_is_retried() -> None:
    """The next message means that it recovered; the end of the stream that it did not."""
    failure = {"errorMessage": "Overloaded", "failureKind": "x", "statusCode": 529}
    failed = copilot_event("model.call_failure", **failure)
    assert read("copilot", jsonl(failed)).outcome() is Outcome.SERVER_ERROR
    assert run(failed, say("copilot", "42")).outcome() is Outcome.COMPLETED


@pytest.mark.parametrize(
    ("stderr", "failure"),
    [
        (b"Error: No authentication information found.", ApiFailure.AUTH),
        (b"Authentication failed with provider", ApiFailure.AUTH),
        (b"Authorization error, you may need to run /login", ApiFailure.AUTH),
        (b"Execution failed: 401 invalid x-api-key", ApiFailure.AUTH),
        (b"Execution failed: CAPIError: 429 rate limit", ApiFailure.RATE_LIMIT),
        (b"Error: 402 You have no quota", ApiFailure.QUOTA),
        (b"You have no quota remaining.", ApiFailure.QUOTA),
        (b"Total duration (API):  0s", None),
        (b"I saw Error: 401", None),
    ],
)
def test_standard_error_explains_a_text_mode_run(stderr: bytes, failure: ApiFailure | None) -> None:
    """In text mode the CLI tells its failure on standard error alone."""
    assert read("copilot", b"", stderr, exit_code=1).reading.failure is failure


def test_usage_model_and_catalogue_are_kept() -> None:
    """The result counts premium requests; skills that are switched off are not offered."""
    skills = [{"name": "a"}, {"name": "b", "enabled": False}, {"name": ""}, "odd"]
    result: Record = {"type": "result", "usage": {"premiumRequests": 2.5}}
    reading = read(
        "copilot",
        jsonl(
            copilot_event("session.skills_loaded", skills=skills),
            copilot_event("model.call_start", model="gpt-4.1"),
            say("copilot", "42"),
            result,
        ),
    ).reading
    assert (reading.catalogue, reading.model) == (("a",), "gpt-4.1")
    assert reading.usage == Usage(premium_requests=2.5)


def test_the_last_record_of_a_session_log_tells_its_tokens() -> None:
    """The stream counts premium requests alone; every model's tokens are counted, each once."""
    (log,) = FOLDER.glob("cli/copilot/1.0.102/a_skill.sessions/events.jsonl")
    found = [usage for line in log.read_bytes().split(b"\n") if (usage := find_shutdown(line))]
    assert found == [Usage(input_tokens=2500, output_tokens=84, cached_input_tokens=0)]
    metrics: Record = {
        "m1": {"usage": {"inputTokens": 1, "outputTokens": 2, "reasoningTokens": 3}},
        "m2": {"usage": {"inputTokens": 10, "outputTokens": "many"}},
        "m3": "odd",
    }
    (line, *_) = jsonl(copilot_event("session.shutdown", modelMetrics=metrics)).splitlines()
    assert find_shutdown(line) == Usage(input_tokens=11, output_tokens=2, reasoning_tokens=3)
    for other in (b'"session.shutdown"', b'{"type": "x", "y": "session.shutdown"}'):
        assert find_shutdown(other) is None


def test_tokens_of_two_sessions_add_up() -> None:
    """What neither tells stays unknown."""
    one, other = Usage(input_tokens=1), Usage(input_tokens=2, output_tokens=3)
    assert one.plus(other) == other.plus(one) == Usage(input_tokens=3, output_tokens=3)


@pytest.mark.parametrize("scenario", ["a_skill", "c_mention", "d_cat"])
def test_a_session_log_is_read_like_the_output(scenario: str) -> None:
    """events.jsonl on disk holds the same events; `skill.invoked` in it counts once."""
    (log,) = FOLDER.glob(f"cli/copilot/1.0.102/{scenario}.sessions/events.jsonl")
    tiers = {"a_skill": 1, "c_mention": 3, "d_cat": 2}
    found = read("copilot", log.read_bytes())
    assert found.tier(SKILL) == tiers[scenario]
    assert found.reading.unrecognised <= 1  # one line was cut when it was recorded


def test_two_loads_side_by_side_are_both_told() -> None:
    """Starts and completions are interleaved."""
    first, second = load("copilot", SKILL), load("copilot", "order-api")
    interleaved = [first[1], second[1], second[2], first[2]]
    assert run(*interleaved).evidence.loads == ["order-api", SKILL]
