"""The harness end to end on the real agent CLIs, against a scripted model on loopback.

What this proves: formats, plumbing, isolation and verdicts. How a model routes it cannot prove.
"""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pytest

from tests.live.batch import AGENTS, LiveBatch, run_scenes
from tests.live.bench import PLUGIN_PARTS, ROOT
from tests.live.caller import Caller
from tests.live.conftest import Record
from tests.live.scenes import OTHER, PASS, QUICK, SKILL, Scene, routing_scenes, unruly_scenes

SCENES = {scene.name: scene for scene in (*routing_scenes("a copy"), *unruly_scenes())}

# One batch serves all of them: spread over workers, these would wait for each other.
pytestmark = [pytest.mark.live, pytest.mark.xdist_group("one live batch")]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("name", SCENES)
def test_each_scene_gets_its_verdict(
    routing: LiveBatch, record: Record, agent: str, name: str
) -> None:
    """What the real CLI did is what the row says: passed, or failed for the very reason."""
    row = record(routing, agent, name)
    assert (row["status"], row["failure_kind"]) == SCENES[name].verdicts[agent], row
    assert (row["outcome"], row["exit_code"], row["unrecognised_events"]) == ("completed", 0, 0)
    assert row["cli_version"]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_proven_load_is_tier_1_with_its_proof(routing: LiveBatch, agent: str) -> None:
    """The proof line is one that the CLI really printed."""
    row = routing.rows[agent, "proven-load"]
    hit = row["token_hits"][SKILL]
    assert hit["tier"] == 1
    assert hit["proof_line"][:200] in routing.transcript(row)
    assert row["loaded_skills"] == [SKILL]


@pytest.mark.parametrize("agent", AGENTS)
def test_skills_stand_in_the_order_of_their_use(routing: LiveBatch, agent: str) -> None:
    """A meta skill that fires first is seen, and does not hide the second."""
    assert routing.rows[agent, "second-choice"]["loaded_skills"] == [OTHER, SKILL]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_red_row_names_the_skill_that_took_the_prompt(routing: LiveBatch, agent: str) -> None:
    """It was asked for one skill, and another was loaded."""
    assert routing.rows[agent, "other-skill"]["loaded_skills"] == [OTHER]


def test_what_a_sub_agent_loads_is_told_apart(routing: LiveBatch) -> None:
    """Codex has no sub-agents here, so its load is its own."""
    told = {agent: routing.rows[agent, "sub-agent"]["subagent_skills"] for agent in AGENTS}
    assert told == {"claude": [SKILL], "codex": [], "copilot": [SKILL]}


@pytest.mark.parametrize("agent", ["claude", "copilot"])
def test_the_catalogue_lists_what_was_offered(routing: LiveBatch, agent: str) -> None:
    """All skills of the repository; of codex, whose stream tells none, those that lie there."""
    expected = {path.name for path in (ROOT / ".claude" / "skills").iterdir()}
    assert expected <= set(routing.rows[agent, "proven-load"]["catalogue"])
    assert expected == set(routing.rows["codex", "proven-load"]["catalogue"])


@pytest.mark.parametrize("agent", AGENTS)
def test_the_tokens_are_told(routing: LiveBatch, agent: str) -> None:
    """Claude and codex print them; copilot writes them into its session log alone."""
    usage = routing.rows[agent, "proven-load"]["usage"]
    assert usage["input_tokens"] > 0
    assert usage["output_tokens"] > 0


def test_four_run_at_once_and_do_not_meet(routing: LiveBatch) -> None:
    """At some moment four agents were at work; the verdicts are the same as in a serial run."""
    moments = [
        (datetime.fromisoformat(row[field]), step)
        for row in routing.results["results"]
        for field, step in (("started_at_utc", 1), ("ended_at_utc", -1))
    ]
    running = most = 0
    for _, step in sorted(moments):
        running += step
        most = max(most, running)
    assert most == 4


def test_a_plugins_skill_passes(
    caller: Caller, programs: list[Path], record: Record, tmp_path: Path
) -> None:
    """`--skills` on a plugin with a manifest, in a repository that has no skill of its own."""
    shutil.rmtree(caller.project / ".claude")
    shutil.rmtree(caller.project / ".agents")
    for part in PLUGIN_PARTS:
        shutil.copytree(ROOT / part, tmp_path / "plugin" / part)
    scene = Scene("plugin-skill", QUICK.steps, QUICK.verdicts)
    batch = run_scenes(caller, programs, [scene], "--skills", str(tmp_path / "plugin"))
    for agent in AGENTS:
        row = record(batch, agent, "plugin-skill")
        assert (row["status"], row["failure_kind"]) == PASS, row
    assert batch.code == 0
