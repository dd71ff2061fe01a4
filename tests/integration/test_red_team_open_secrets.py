"""Known holes: bounds that the harness lacks.

docs/explanation/gate.md, 'What it does not see yet', lists them for users.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.pull_request import FILES, PullRequest, skill

pytestmark = pytest.mark.xfail(strict=True, reason="not seen yet; docs/explanation/gate.md")


@pytest.fixture
def change(tmp_path: Path) -> PullRequest:
    """A pull request that proposes nothing yet."""
    return PullRequest(tmp_path)


def told(*commands: str) -> dict[str, str | None]:
    """A skill whose text has the agent run commands."""
    path = ".claude/skills/deploying/SKILL.md"
    return {path: skill("deploying", "Bring a service to production.", *commands)}


def test_r2_what_a_killed_batch_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    """Workspaces and homes, with the logins that were copied into them."""
    change = PullRequest(tmp_path, FILES)
    change.propose(told("sleep 30"))
    temp = tmp_path / "temp"
    temp.mkdir()
    environ = {
        **change.job("claude").environment({}),
        "TMPDIR": str(temp),
        "RUNNER_TEMP": str(temp),
        "AGENT_CLAUDE_TEMPLATE": change.job("claude").variables["AGENT_CLAUDE_TEMPLATE"],
        "PYTHONPATH": str(ROOT / "src"),
    }
    command = [sys.executable, "-m", "routing_action", "run", "--agents", "claude"]
    root = change.checkout.path
    process = subprocess.Popen(command, cwd=root, env=environ, start_new_session=True)
    while not list(temp.rglob("SKILL.md")):
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert list(temp.rglob("SKILL.md"))
    subprocess.run([*command, "--case-id", "notes"], cwd=root, env=environ, check=False)
    assert list(temp.rglob("SKILL.md")) == []
