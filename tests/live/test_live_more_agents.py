"""Gemini and opencode, where they can be installed and memory allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.batch import run_scenes
from tests.live.caller import PROBE, SECRET_PARTS, Caller
from tests.live.clis import LIVE, install_more_clis, install_packages
from tests.live.conftest import Record
from tests.live.scenes import DONE, OTHER, PASS, SECRETS, SKILL, Scene, shell, skill

NEEDED_BYTES = 4 << 30

pytestmark = pytest.mark.live


def available_bytes() -> int:
    lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))


@pytest.mark.parametrize("agent", ["gemini", "opencode"])
def test_a_further_agent_gets_its_verdicts_and_sees_nothing_foreign(
    caller: Caller, record: Record, agent: str
) -> None:
    """A load passes, another skill does not; no probe and no secret of the caller is seen."""
    programs = install_more_clis()
    if (
        agent == "opencode"
        and not (install_packages(LIVE / "more") / "opencode-linux-x64").exists()
    ):
        pytest.skip("opencode is pinned for Linux on x86-64 alone")
    if available_bytes() < NEEDED_BYTES:
        pytest.skip("less than 4 GB of memory are free")
    scenes = [
        Scene("secrets", (shell(SECRETS), skill(SKILL), DONE), {agent: PASS}),
        Scene("other-skill", (skill(OTHER), DONE), {agent: ("fail", "missing_required")}),
    ]
    if agent == "opencode":  # by far the slowest to start
        scenes = scenes[:1]
    batch = run_scenes(caller, programs, scenes, "--max-parallel", "2")
    for scene in scenes:
        row = record(batch, agent, scene.name)
        assert (row["status"], row["failure_kind"]) == scene.verdicts[agent], row
    asked = batch.asked_by(agent)
    assert SKILL in asked
    assert "ROUTING_ACTION_UNIT=" in asked
    assert [part for part in (PROBE, *SECRET_PARTS) if part in asked] == []
