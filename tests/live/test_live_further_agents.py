"""Pi, cline, qwen, kilo, droid and kimi, where they can be installed and memory allows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.live.batch import MODELS, LiveBatch, run_scenes
from tests.live.caller import KEY, PROBE, SECRET_PARTS, Caller
from tests.live.clis import install_further_clis
from tests.live.conftest import Record
from tests.live.scenes import DONE, NOWHERE, OTHER, PASS, QUICK, SECRETS, SKILL, Scene, shell, skill
from tests.live.test_live_more_agents import NEEDED_BYTES, available_bytes

pytestmark = pytest.mark.live

AGENTS = ("cline", "droid", "kilo", "kimi", "pi", "qwen")
SLOW = ("kilo",)
"""By far the slowest to start."""


def run(caller: Caller, agent: str, scenes: list[Scene], *words: str) -> LiveBatch:
    """Run scenes of one agent, with the skills that it would not find by itself."""
    if available_bytes() < NEEDED_BYTES:
        pytest.skip("less than 4 GB of memory are free")
    model = ["--provider-model", f"{agent}:{MODELS[agent]}"] if agent in MODELS else []
    programs: list[Path] = install_further_clis()
    return run_scenes(caller, programs, scenes, "--max-parallel", "2", *model, *words,
                      uses_files=True)  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_gets_its_verdicts_and_sees_nothing_foreign(
    caller: Caller, record: Record, agent: str
) -> None:
    """A load passes, another or an unknown skill does not; no probe and no secret is seen.

    Nothing that the agent started is left: cline leaves a daemon behind.
    """
    scenes = [
        Scene("secrets", (shell(SECRETS), skill(SKILL), DONE), {agent: PASS}),
        Scene("other-skill", (skill(OTHER), DONE), {agent: ("fail", "missing_required")}),
        Scene(
            "unknown-skill",
            (skill(NOWHERE), DONE),
            {agent: ("fail", "skill_unavailable" if agent == "none" else "invoked_but_not_loaded")},
            fields={"expected_skill": NOWHERE},
        ),
    ]
    if agent in SLOW:
        scenes = scenes[:1]
    batch = run(caller, agent, scenes, "--skills", ".claude/skills")
    for scene in scenes:
        row = record(batch, agent, scene.name)
        assert (row["status"], row["failure_kind"]) == scene.verdicts[agent], row
        assert row["unrecognised_events"] == 0
    asked = batch.asked_by(agent)
    assert SKILL in asked
    assert "ROUTING_ACTION_UNIT=" in asked
    assert [part for part in (PROBE, *SECRET_PARTS) if part in asked] == []
    assert [path for path, text in batch.stored().items() if KEY in text] == []
    assert _started_by(batch) == []


def _started_by(batch: LiveBatch) -> list[str]:
    """The command lines of processes that bear the mark of one of the batch's units."""
    marks = [row["unit_run_id"].encode() for row in batch.results["results"]]
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if any(mark in environment for mark in marks):
            found.append(command.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


@pytest.mark.parametrize("agent", [one for one in AGENTS if one not in SLOW])
def test_the_probes_are_real_for_it_too(caller: Caller, record: Record, agent: str) -> None:
    """In a shared workspace, which isolates nothing, it is offered some of them."""
    scene = replace(QUICK, verdicts={agent: PASS})
    batch = run(caller, agent, [scene], "--workspace", "shared")
    assert PROBE in batch.asked_by(agent)
    record(batch, agent, QUICK.name)
