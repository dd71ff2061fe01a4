"""What a unit may use is bounded, and what a killed batch left is removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.pull_request import PullRequest, skill

FLOOD = "yes 0123456789012345678901234567890123456789 | head -c 50000000"


@pytest.fixture
def change(tmp_path: Path) -> PullRequest:
    """A pull request that proposes nothing yet."""
    return PullRequest(tmp_path)


def told(*commands: str) -> dict[str, str | None]:
    """A skill whose text has the agent run commands."""
    path = ".claude/skills/deploying/SKILL.md"
    return {path: skill("deploying", "Bring a service to production.", *commands)}


def measured(change: PullRequest) -> tuple[dict[str, Any], int]:
    """The row of the case `deploy`, and how many bytes its transcript has."""
    found = change.measure(case_ids="deploy", max_output_mb="5")
    (batch,) = Path(found["folder"]).glob("*/results.json")
    (row,) = json.loads(batch.read_text("utf-8"))["results"]
    files = batch.parent.glob(f"transcripts/{row['unit_run_id']}.*")
    return row, sum(path.stat().st_size for path in files)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(FLOOD, id="in a record"),
        pytest.param(f"{FLOOD} >&2; {FLOOD}", id="as the error of a tool"),
    ],
)
def test_r1_output_is_capped(change: PullRequest, command: str) -> None:
    """The unit ends as `limit` though its skill was loaded, and the gate is red."""
    change.propose(told(command))
    row, size = measured(change)
    assert (row["outcome"], row["status"], row["failure_kind"]) == ("limit", "fail", "limit")
    assert row["ended_by"] == "output_limit"
    assert row["error"] == "printed more than 5 MB, the limit of --max-output-mb"
    assert size <= 5_000_000
    assert change.judge().is_red


BEFORE = """
import json, sys
used = {"type": "tool_use", "id": "t", "name": "Skill", "input": {"skill": "deploying"}}
done = {"type": "tool_result", "tool_use_id": "t", "content": "Launching skill: deploying"}
for record in (
    {"type": "system", "subtype": "init"},
    {"type": "assistant", "message": {"content": [used]}},
    {"type": "user", "message": {"content": [done]}},
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
    {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1},
):
    print(json.dumps(record), flush=True)
"""


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param("print('x' * 50_000_000)", id="one line after the end"),
        pytest.param("while True: print('x' * 1000, file=sys.stderr)", id="errors without end"),
        pytest.param(
            "import signal\nsignal.signal(15, signal.SIG_IGN)\nwhile True: print('x' * 1000)",
            id="whoever asks it to stop",
        ),
    ],
)
def test_r1_so_is_what_an_agent_prints_after_its_last_record(
    change: PullRequest, rest: str
) -> None:
    """It has its verdict by then, and goes on printing."""
    change.propose({"agent.py": BEFORE + rest})
    command = "python3 agent.py {prompt}"
    job = change.job("claude")
    job.variables = {"AGENT_CLAUDE_TEMPLATE": command}
    given = {"case_ids": "deploy", "max_output_mb": "5", "matrix_key": "claude"}
    found = job.use("run", agents="claude", **given)
    (batch,) = Path(found["folder"]).glob("*/results.json")
    (row,) = json.loads(batch.read_text("utf-8"))["results"]
    assert (row["ended_by"], row["status"]) == ("output_limit", "fail")
    assert sum(path.stat().st_size for path in batch.parent.rglob("*.std*")) <= 5_000_000


def test_r1_less_than_the_cap_is_no_matter(change: PullRequest) -> None:
    """Both outputs count together; nothing is lost of them."""
    change.propose(told("head -c 2000000 /dev/zero | tr '\\0' x"))
    row, size = measured(change)
    assert (row["outcome"], row["status"]) == ("completed", "pass")
    assert size > 2_000_000
