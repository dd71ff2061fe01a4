"""What a unit may use is bounded, and what a killed batch left is removed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import ROOT
from tests.support.pull_request import PullRequest, skill

DEPLOYS = "Bring a service to production."
WRITES = "Summarise changes for a customer."
FLOOD = "yes 0123456789012345678901234567890123456789 | head -c 50000000"


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


@dataclass
class Machine:
    """Batches of one checkout, each a process of its own, with one temporary folder."""

    change: PullRequest
    temp: Path

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a batch in the background."""
        job = self.change.job("claude")
        return subprocess.Popen(
            [sys.executable, "-m", "routing_action", "run", "--agents=claude", *arguments],
            cwd=self.change.checkout.path,
            env={
                **job.environment({}),
                **job.variables,
                "TMPDIR": str(self.temp),
                "RUNNER_TEMP": str(self.temp),
                "HOME": str(self.change.folder / "user"),
                "PYTHONPATH": str(ROOT / "src"),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> str:
        """A batch to its end; gives its log."""
        with self.start(*arguments) as process:
            return process.communicate(timeout=120)[1].decode()

    def kill(self, *arguments: str) -> Path:
        """Kill a batch while two units run; gives its folder."""
        with self.start(*arguments) as process:
            try:
                self.wait_for_units()
            finally:
                os.killpg(process.pid, signal.SIGKILL)
        return max(self.batches, key=lambda path: path.stat().st_mtime_ns)

    def wait_for_units(self) -> None:
        """Until two units run."""
        end = time.monotonic() + 60
        while len(list(self.temp.glob("*/home/ready"))) != 2:
            assert time.monotonic() < end
            time.sleep(0.02)

    @property
    def batches(self) -> list[Path]:
        """The folders of all batches."""
        root = self.change.checkout.path / "tests" / "agent-routing" / "artifacts"
        return [path.parent for path in root.glob("*/journal.jsonl")]

    @property
    def left(self) -> list[str]:
        """What is in the temporary folder."""
        return sorted(path.name for path in self.temp.iterdir())


@pytest.fixture
def machine(change: PullRequest) -> Machine:
    """A machine on which each unit says that it runs, and waits for a file beside the temp."""
    temp = change.folder / "my temp"
    temp.mkdir()
    go = change.folder / "go"
    login = change.folder / "user" / ".claude" / ".credentials.json"
    login.parent.mkdir(parents=True)
    login.write_text('{"claudeAiOauth": {}}', encoding="utf-8")
    wait = f"touch \"$HOME/ready\"; until [ -e '{go}' ]; do sleep 0.05; done"
    change.propose(
        {
            ".claude/skills/deploying/SKILL.md": skill("deploying", DEPLOYS, wait),
            ".claude/skills/writing-notes/SKILL.md": skill("writing-notes", WRITES, wait),
        }
    )
    return Machine(change, temp)


def test_r2_what_a_killed_batch_left_is_removed_at_the_next_start(machine: Machine) -> None:
    """Templates, workspaces, and homes with the logins that were copied into them."""
    machine.kill()
    assert len(list(machine.temp.rglob(".credentials.json"))) == 2
    (machine.change.folder / "go").touch()
    log = machine.run("--case-id", "notes")
    assert "removed 3 folders that a killed batch had left" in log
    assert machine.left == []


def test_r2_a_resumed_batch_removes_its_own(machine: Machine) -> None:
    """It runs the units again, in folders of their own."""
    batch = machine.kill()
    (machine.change.folder / "go").touch()
    log = machine.run("--resume", str(batch))
    assert "removed 3 folders" in log
    assert machine.left == []


def test_r2_of_kept_workspaces_the_homes_are_removed(machine: Machine) -> None:
    """The workspaces stay, as they were asked for."""
    machine.kill("--keep-workspace")
    (machine.change.folder / "go").touch()
    machine.run("--case-id", "notes")
    assert len(list(machine.temp.glob("*/repo"))) == 2
    assert list(machine.temp.rglob(".credentials.json")) == []


def test_r2_a_batch_that_runs_keeps_its_folders(machine: Machine) -> None:
    """Its journal is locked."""
    with machine.start() as running:
        try:
            machine.wait_for_units()
            before = machine.left
            other = machine.run("--case-id", "notes", "--timeout-seconds", "0.2")
            assert machine.left == before
            assert "removed" not in other
        finally:
            (machine.change.folder / "go").touch()
            running.communicate(timeout=120)
    assert running.returncode == 0
    assert machine.left == []


def test_r2_a_forged_list_removes_nothing_else(machine: Machine) -> None:
    """Whatever an agent wrote there: other names, places, owners' folders, links."""
    batch = machine.kill()
    home = machine.change.folder / "precious"
    named, other = machine.temp / "precious", machine.temp / "abcdefgh"
    link, below = machine.temp / "linkedto", machine.temp / "linkedup"
    for folder in (home, home / "home", named, other):
        folder.mkdir(mode=0o700)
    link.symlink_to(home)
    below.symlink_to(home)
    lines = [
        *(f"{text} {numbers(home)}" for text in (str(home), "../precious", "linkedto", "..")),
        f"linkedup/home {numbers(home / 'home')}",
        f"precious/ {numbers(named)}",
        f"{named} {numbers(named)}",
        f"abcdefgh {numbers(home)}",
        "abcdefgh",
        f"abcdefgh {numbers(other)} x",
    ]
    with (batch / ".folders").open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n\udcff".encode("utf-8", "replace").decode() + "\n")
    (machine.change.folder / "go").touch()
    machine.run("--case-id", "notes")
    assert (home / "home").is_dir()
    assert machine.left == ["abcdefgh", "linkedto", "linkedup", "precious"]


def numbers(folder: Path) -> str:
    """Device and inode, as they stand in the list."""
    status = folder.stat()
    return f"{status.st_dev} {status.st_ino}"
