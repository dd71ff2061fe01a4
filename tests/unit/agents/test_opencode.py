"""What is special to opencode: one part holds call and result, and steps add up."""

from __future__ import annotations

import pytest

from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import LineKind, Usage
from tests.support.builders import Run, read
from tests.support.streams import Record, jsonl, opencode_part, run_of, skill_text

SKILL = "widget-testing"
PATH = f"/repo/.opencode/skills/{SKILL}/SKILL.md"


def run(*records: Record) -> Run:
    return read("opencode", run_of("opencode", *records))


def tool(name: str, arguments: Record, **state: object) -> Record:
    told = {"status": "completed", "input": arguments, **state}
    return opencode_part("tool_use", tool=name, callID="c", state=told)


def test_a_load_tells_the_folder_of_the_skill() -> None:
    """The part's metadata name where the skill lies."""
    folder = f"/repo/.opencode/skills/{SKILL}"
    found = run(tool("skill", {"name": SKILL}, metadata={"name": SKILL, "dir": folder}))
    (line,) = [line for line in found.lines if line.kind is LineKind.LOAD]
    assert (line.skill, line.path) == (SKILL, folder)


@pytest.mark.parametrize("status", ["error", "running", "pending", None])
def test_only_the_status_completed_is_a_load(status: str | None) -> None:
    """An unknown skill, or a call that never ended, loaded nothing."""
    assert run(tool("skill", {"name": SKILL}, status=status, error="no")).tier(SKILL) == 2


@pytest.mark.parametrize(("code", "tier"), [(0, 2), (None, 2), (1, 3), (127, 3)])
def test_a_command_is_judged_by_its_exit_code(code: int | None, tier: int) -> None:
    """A failing command is `completed` here too; its exit code stands in the metadata."""
    state = {"output": "shown", "metadata": {"exit": code, "output": skill_text(SKILL)}}
    assert run(tool("bash", {"command": f"cat {PATH}"}, **state)).tier(SKILL) == tier


def test_a_command_can_name_its_folder() -> None:
    """A relative path is completed by the folder that the call names."""
    arguments = {"command": "cat SKILL.md", "workdir": f"/repo/.opencode/skills/{SKILL}"}
    assert run(tool("bash", arguments, output=skill_text(SKILL))).tier(SKILL) == 2


@pytest.mark.parametrize(("offset", "tier"), [(None, 2), (0, 2), (1, 2), (20, 3)])
def test_a_read_that_starts_further_down_is_a_weak_hint(offset: int | None, tier: int) -> None:
    """Only the first lines show the frontmatter."""
    found = run(tool("read", {"filePath": PATH, "offset": offset}, output=skill_text(SKILL)))
    assert found.tier(SKILL) == tier


def test_steps_add_up_and_the_last_one_ends_the_run() -> None:
    """A step that ends for tool calls goes on; any other reason is the end."""
    tokens = {"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 3}}
    step = opencode_part("step_finish", reason="tool-calls", tokens=tokens, cost=0.25)
    last = opencode_part("step_finish", reason="stop", tokens=tokens, cost=0.5)
    text = opencode_part("text", text="42")
    found = read("opencode", jsonl(step, text, last))
    assert found.reading.usage == Usage(10, 4, 6, 2)
    assert found.reading.cost_usd == 0.75
    assert found.outcome() is Outcome.COMPLETED
    assert read("opencode", jsonl(text, step)).outcome() is Outcome.KILLED


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ({"name": "APIError", "data": {"message": "bad", "statusCode": 401}}, Outcome.AUTH),
        ({"name": "APIError", "data": {"message": "credit balance"}}, Outcome.QUOTA),
        ({"name": "ProviderAuthError", "message": "authentication"}, Outcome.AUTH),
        ({"name": "UnknownError"}, Outcome.API_ERROR),
    ],
)
def test_an_error_event_is_final(error: Record, outcome: Outcome) -> None:
    """A failed request ends with exit code 0 here."""
    stdout = jsonl({"type": "error", "sessionID": "s", "error": error})
    assert read("opencode", stdout, exit_code=0).outcome() is outcome


def test_quiet_parts_are_known_and_new_ones_counted() -> None:
    """Reasoning and snapshots prove nothing; a new part is not taken for a known one."""
    found = run(
        opencode_part("reasoning", text=SKILL),
        opencode_part("snapshot"),
        opencode_part("brand_new"),
        tool("glob", {"pattern": f"**/{SKILL}/SKILL.md"}, output=PATH),
    )
    assert (found.tier(SKILL), found.reading.unrecognised) == (3, 1)


@pytest.mark.parametrize(
    ("status", "header", "seconds"), [(429, "30", 30.0), (429, None, None), (500, "30", None)]
)
def test_the_wait_that_a_throttling_service_asks_for_is_kept(
    status: int, header: str | None, seconds: float | None
) -> None:
    """Opencode prints the headers of the answer."""
    headers = {} if header is None else {"retry-after": header}
    data = {"message": "no", "statusCode": status, "responseHeaders": headers}
    error: Record = {"type": "error", "sessionID": "s", "error": {"name": "APIError", "data": data}}
    assert read("opencode", jsonl(error), exit_code=1).reading.retry_after == seconds


def test_an_error_may_be_a_sentence() -> None:
    """As kilo prints it where the model gave no output."""
    run = read(
        "kilo", jsonl({"type": "error", "error": "the model returned no output"}), exit_code=1
    )
    assert (run.outcome(), run.reading.failure_message) == (
        Outcome.API_ERROR, "the model returned no output"
    )  # fmt: skip
