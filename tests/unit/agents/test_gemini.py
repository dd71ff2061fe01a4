"""What is special to Gemini: activate_skill, commands that always say success, its errors."""

from __future__ import annotations

import pytest

from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import LineKind, Usage
from tests.support.builders import Run, read
from tests.support.streams import Record, jsonl, load, run_of, say, skill_text

SKILL = "widget-testing"
PATH = f"/repo/.gemini/skills/{SKILL}/SKILL.md"


def run(*records: Record) -> Run:
    return read("gemini", run_of("gemini", *records))


def tool(name: str, parameters: Record, output: object, status: str = "success") -> list[Record]:
    return [
        {"type": "tool_use", "tool_name": name, "tool_id": "t", "parameters": parameters},
        {"type": "tool_result", "tool_id": "t", "status": status, "output": output},
    ]


def test_a_load_tells_the_folder_of_the_skill() -> None:
    """The result names where the resources lie."""
    (line,) = [line for line in run(*load("gemini", SKILL)).lines if line.kind is LineKind.LOAD]
    assert (line.skill, line.path) == (SKILL, f"/repo/.gemini/skills/{SKILL}")


@pytest.mark.parametrize("status", ["error", "cancelled", "", None])
def test_only_the_status_success_is_a_load(status: str) -> None:
    """An unknown skill gives a result with the status error."""
    found = run(*tool("activate_skill", {"name": SKILL}, "no", status))
    assert found.tier(SKILL) == 2


@pytest.mark.parametrize(
    ("output", "tier"),
    [
        (skill_text(SKILL), 2),
        (skill_text(SKILL) + "Exit Code: 0\n", 2),
        (skill_text(SKILL) + "Exit Code: 1\n", 3),
        (skill_text(SKILL) + f"Exit Code: {'9' * 5_000}\n", 2),
        (f"cat: {PATH}: No such file or directory", 3),
        ("", 3),
    ],
)
def test_a_command_that_says_success_is_judged_by_its_output(output: str, tier: int) -> None:
    """A failing command has the status success here."""
    assert run(*tool("run_shell_command", {"command": f"cat {PATH}"}, output)).tier(SKILL) == tier


@pytest.mark.parametrize(
    ("parameters", "tier"),
    [
        ({"file_path": PATH}, 2),
        ({"absolute_path": PATH}, 2),
        ({"path": PATH}, 2),
        ({"file_path": PATH, "start_line": 1}, 2),
        ({"file_path": PATH, "start_line": 9}, 3),
        ({"file_path": PATH, "offset": 9}, 3),
    ],
)
def test_a_file_read_is_a_hand_read(parameters: Record, tier: int) -> None:
    """Gemini prints no content of a file that it read; the tool's success is the proof."""
    assert run(*tool("read_file", parameters, "")).tier(SKILL) == tier


@pytest.mark.parametrize("name", ["dir_path", "directory"])
def test_a_command_can_name_its_folder(name: str) -> None:
    """A relative path is completed by the folder that the call names."""
    parameters = {"command": "cat SKILL.md", name: f"/repo/.gemini/skills/{SKILL}"}
    assert run(*tool("run_shell_command", parameters, skill_text(SKILL))).tier(SKILL) == 2


def test_the_prompts_echo_proves_nothing() -> None:
    """Gemini repeats the prompt as a message of the user."""
    echo: Record = {"type": "message", "role": "user", "content": f"use {SKILL}"}
    assert run(echo).tier(SKILL) is None
    assert run(say("gemini", f"use {SKILL}")).tier(SKILL) == 3


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ({"type": "x", "message": "[API Error: authentication_error]"}, Outcome.AUTH),
        ({"type": "x", "message": "m", "code": 429}, Outcome.RATE_LIMIT),
        ({"type": "FatalTurnLimitedError", "message": "m"}, Outcome.LIMIT),
        ({}, Outcome.API_ERROR),
    ],
)
def test_an_error_result_is_final(error: Record, outcome: Outcome) -> None:
    """The result names type, message and code."""
    stdout = jsonl(say("gemini", "a"), {"type": "result", "status": "error", "error": error})
    assert read("gemini", stdout, exit_code=1).outcome() is outcome


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"severity": "error", "message": "Maximum session turns exceeded"}, Outcome.LIMIT),
        ({"severity": "warning", "message": "Loop detected, status 500"}, Outcome.KILLED),
        ({"severity": "error", "message": "status 500"}, Outcome.SERVER_ERROR),
        ({"error": {"message": "quota exceeded"}}, Outcome.QUOTA),
    ],
)
def test_an_error_event_counts_by_its_severity(fields: Record, outcome: Outcome) -> None:
    """A warning is no failure; an error that was never recovered from is one."""
    stdout = jsonl(say("gemini", "a"), {"type": "error", **fields})
    assert read("gemini", stdout).outcome() is outcome


def test_an_error_event_that_was_recovered_from_is_forgotten() -> None:
    """A result with success after it means that the run went on."""
    error: Record = {"type": "error", "severity": "error", "message": "status 500"}
    assert run(error, say("gemini", "42")).outcome() is Outcome.COMPLETED


@pytest.mark.parametrize(
    ("stderr", "outcome"),
    [
        (b"Attempt 1 failed with status 429. Retrying with backoff...", Outcome.RATE_LIMIT),
        (b"Attempt 3 failed with status 500. Retrying", Outcome.SERVER_ERROR),
        (b"When using Gemini API, you must specify the GEMINI_API_KEY", Outcome.AUTH),
        (b"GEMINI_API_KEY not found. Find your existing key", Outcome.AUTH),
        (b"YOLO mode is enabled. All tool calls will be approved.", Outcome.NO_OUTPUT),
    ],
)
def test_standard_error_tells_of_retries_and_missing_keys(stderr: bytes, outcome: Outcome) -> None:
    """Gemini retries on standard error alone, for minutes."""
    assert read("gemini", b"", stderr, exit_code=41).outcome() is outcome


def test_usage_and_model_are_kept() -> None:
    """The result's stats count the whole run."""
    stats = {"input_tokens": 7, "output_tokens": 3, "cached": 1}
    stdout = jsonl(
        {"type": "init", "session_id": "s", "model": "gemini-2.5-flash"},
        {"type": "result", "status": "success", "stats": stats},
    )
    reading = read("gemini", stdout).reading
    assert (reading.usage, reading.model) == (Usage(7, 3, 1), "gemini-2.5-flash")


def test_an_unknown_event_is_counted() -> None:
    """A new event is not taken for a known one."""
    assert run({"type": "brand_new"}).reading.unrecognised == 1
