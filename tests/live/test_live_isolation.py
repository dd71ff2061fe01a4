"""What real agents can see of whoever starts them: nothing that they must not.

Judged by the bodies of all requests that the agents sent to their models, by the catalogues that
they told, and by every file that the harness kept.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.live.batch import AGENTS, LiveBatch, run_scenes
from tests.live.caller import KEY, PROBE, SECRET_PARTS, Caller
from tests.live.conftest import Record
from tests.live.scenes import ANSWER_KEY, PASS, QUICK, SKILL

pytestmark = pytest.mark.live


@pytest.mark.parametrize("agent", AGENTS)
def test_no_foreign_skill_reaches_an_agent(routing: LiveBatch, agent: str) -> None:
    """Of the probes in the caller's home, plugins and folders above the workspace none is seen."""
    asked = routing.asked_by(agent)
    assert SKILL in asked, "the skills under test are told to the model"
    assert PROBE not in asked
    offered = {name for row in routing.results["results"] for name in row["catalogue"] or ()}
    assert {name for name in offered if PROBE in name} == set()


def test_the_probes_are_real(caller: Caller, programs: list[Path], record: Record) -> None:
    """In a shared workspace, which isolates nothing, every agent is offered some of them."""
    batch = run_scenes(caller, programs, [QUICK], "--workspace", "shared")
    for agent in AGENTS:
        assert PROBE in batch.asked_by(agent), agent
        record(batch, agent, QUICK.name)


def test_copilot_unpacks_itself_once_for_all_units(
    routing: LiveBatch, caller: Caller, programs: list[Path]
) -> None:
    """What units before it unpacked (235 MB) serves the next one: nothing is written again."""
    assert routing.rows["copilot", "proven-load"]["status"] == "pass"
    cache = Path(caller.environment([])["XDG_CACHE_HOME"]) / "routing-action" / "agent-caches"

    def unpacked() -> dict[Path, tuple[int, int]]:
        files = (path for path in cache.rglob("*") if not path.name.startswith("inuse."))
        status = {path: path.lstat() for path in files if path.is_file()}
        return {path: (one.st_ino, one.st_mtime_ns) for path, one in status.items()}

    before = unpacked()
    assert sum(path.stat().st_size for path in before) > 100 << 20
    scene = replace(QUICK, verdicts={"copilot": PASS})
    assert run_scenes(caller, programs, [scene], agents=("copilot",)).code == 0
    assert unpacked() == before


@pytest.mark.parametrize("agent", AGENTS)
def test_no_secret_of_the_caller_reaches_an_agent(routing: LiveBatch, agent: str) -> None:
    """P10: the agent printed all of its environment, and the model saw what it printed."""
    asked = routing.asked_by(agent)
    assert "ROUTING_ACTION_UNIT=" in asked, "the environment was really printed"
    assert [part for part in SECRET_PARTS if part in asked] == []


def test_no_secret_is_kept(routing: LiveBatch) -> None:
    """P10: results, proof log, journal and transcripts hold none; nor the agents' own key."""
    stored = routing.stored()
    assert any("ROUTING_ACTION_UNIT=" in text for text in stored.values())
    for part in (*SECRET_PARTS, KEY):
        assert [path for path, text in stored.items() if part in text] == []
        assert part not in routing.stdout + routing.stderr


@pytest.mark.parametrize("agent", AGENTS)
def test_the_answer_key_is_not_found(routing: LiveBatch, agent: str) -> None:
    """P8: neither upwards, nor by `git show` and `git log`, in git's objects, or in `.git`."""
    transcript = routing.transcript(routing.rows[agent, "answer-key"])
    assert "Initial commit" in transcript, "the history was really looked at"
    assert ANSWER_KEY not in routing.asked_by(agent)
    assert ANSWER_KEY not in transcript


def test_the_callers_folders_stay_as_they_were(routing: LiveBatch) -> None:
    """P6: no agent wrote into the caller's home, project or configuration."""
    assert routing.written == []
