"""Real agents that hang, cling, flood and are killed; APIs that fail; and what is saved early."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest

from tests.live.batch import AGENTS, LiveBatch, run_scenes, wait_until
from tests.live.caller import Caller
from tests.live.conftest import Record
from tests.live.mock_models import Asked
from tests.live.scenes import BUSY, DEADLINE_SCENES, FAILING_SCENES, LONG_SCENES, QUICK, Scene
from tests.support.batches import bearing, markers

SOAK_RUNS = int(os.environ.get("LIVE_SOAK_RUNS", "15"))
"""Real runs of the soak test: three in a round, and six where the next run must sweep."""

pytestmark = pytest.mark.live


def survivors(batch: LiveBatch) -> list[str]:
    """Living processes of any unit of a batch; looked up without the code under test."""
    return bearing(markers(batch.folder))


def check(batch: LiveBatch, record: Record, *scenes: Scene) -> None:
    """Every row has its scene's verdict, and no process is left."""
    found = {key: (row["status"], row["failure_kind"]) for key, row in batch.rows.items()}
    assert found == {
        (agent, scene.name): verdict
        for scene in scenes
        for agent, verdict in scene.verdicts.items()
    }
    assert survivors(batch) == []
    for agent, name in found:
        record(batch, agent, name)


def test_a_deadline_ends_what_hangs_and_what_ignores_sigterm(
    caller: Caller, programs: list[Path], record: Record
) -> None:
    """P1: a model that never answers, a child that traps every signal: bounded, nothing left."""
    words = ("--max-parallel", "6", "--timeout-seconds", "15")
    batch = run_scenes(caller, programs, DEADLINE_SCENES, *words)
    check(batch, record, *DEADLINE_SCENES)
    assert {row["ended_by"] for row in batch.rows.values()} == {"wall_deadline"}
    assert {row["timed_out"] for row in batch.rows.values()} == {True}
    assert batch.seconds < 60


def test_silence_ends_at_the_idle_deadline(
    caller: Caller, programs: list[Path], record: Record
) -> None:
    """A unit that prints nothing for so long need not wait for the wall deadline."""
    hang = replace(DEADLINE_SCENES[0], verdicts={"claude": ("fail", "timeout")})
    batch = run_scenes(caller, programs, [hang], "--idle-timeout-seconds", "8")
    check(batch, record, hang)
    assert {row["ended_by"] for row in batch.rows.values()} == {"idle_deadline"}


@pytest.mark.parametrize("agent", AGENTS)
def test_escaped_children_are_named_and_ended(routing: LiveBatch, agent: str) -> None:
    """P3: children in sessions of their own outlive the agent; the row tells them, none is left."""
    row = routing.rows[agent, "escaped-children"]
    assert [one.partition(" ")[2] for one in row["survivors"]].count("sleep") == 3
    assert survivors(routing) == []


def test_a_flood_is_kept_in_bounds(routing: LiveBatch) -> None:
    """P4: 20 MB of a tool's output and one line of 200 KB; the load behind them is found."""
    sizes = {
        agent: len(routing.transcript(routing.rows[agent, "output-flood"])) for agent in AGENTS
    }
    assert max(sizes.values()) > 10**6
    assert max(sizes.values()) < 64 * 2**20


def test_failing_apis_are_infrastructure(
    caller: Caller, programs: list[Path], record: Record
) -> None:
    """P7 and P9: 401, 429 and 500 say nothing about routing, and no retry goes on for ever."""
    words = ("--max-parallel", "9", "--throttle-retries", "0")
    batch = run_scenes(caller, programs, FAILING_SCENES, *words)
    check(batch, record, *FAILING_SCENES)
    assert batch.code == 1, "a run that measured nothing is not green"


def test_an_early_stop_gives_the_same_verdicts_sooner(
    caller: Caller,
    programs: list[Path],
    record: Record,
    request: pytest.FixtureRequest,
) -> None:
    """A model that takes its time for each answer, and six more answers after the proof."""
    run = partial(run_scenes, caller, programs, LONG_SCENES, think_seconds=0.3)
    whole, early = run(), run("--stop-early")
    check(whole, record, *LONG_SCENES)
    check(early, record, *LONG_SCENES)
    stopped = {key for key, row in early.rows.items() if row["ended_by"] == "stopped_early"}
    assert stopped == {(agent, "long-load") for agent in AGENTS}
    spent = {
        name: sum(batch.rows[key]["duration_ms"] for key in stopped)
        for name, batch in (("whole", whole), ("early", early))
    }
    request.node.user_properties.append(
        ("live note", f"stopped early: {spent['early']} ms of agent time for {spent['whole']} ms")
    )
    requests = {name: len(b.asked) for name, b in (("whole", whole), ("early", early))}
    assert requests["early"] < requests["whole"]


# --- what kills the harness ---------------------------------------------------------------------


def kill_when_busy(
    number: signal.Signals, process: subprocess.Popen[str], asked: list[Asked]
) -> None:
    """Send the harness alone a signal once all three agents run a tool with a detached child."""
    wait_until(process, lambda: {one.agent for one in asked} == set(AGENTS))
    wait_until(process, lambda: _sleepers() >= len(AGENTS))
    process.send_signal(number)


def _sleepers() -> int:
    """How many detached children of the busy scene there are on this machine."""
    commands = (path for path in Path("/proc").glob("[0-9]*/cmdline"))
    return sum(_read(path) == b"sleep\x00326\x00" for path in commands)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def normal(caller: Caller, programs: list[Path], record: Record) -> LiveBatch:
    """Three agents that do their work."""
    batch = run_scenes(caller, programs, [QUICK])
    check(batch, record, QUICK)
    return batch


def deadline(caller: Caller, programs: list[Path], record: Record) -> LiveBatch:
    """Three agents that are ended with a tool and a detached child at work."""
    batch = run_scenes(caller, programs, [BUSY], "--timeout-seconds", "9")
    check(batch, record, BUSY)
    return batch


def interrupted(
    number: signal.Signals, caller: Caller, programs: list[Path], record: Record
) -> LiveBatch:
    """A harness that is told to stop ends its agents itself."""
    batch = run_scenes(caller, programs, [BUSY], interfere=partial(kill_when_busy, number))
    assert batch.code == 130
    assert {row["outcome"] for row in batch.rows.values()} == {"cancelled"}
    assert survivors(batch) == []
    for agent, name in batch.rows:
        record(batch, agent, name)
    return batch


def killed(caller: Caller, programs: list[Path], record: Record) -> LiveBatch:
    """A harness that is killed ends nothing; the next run does, before it starts its own."""
    batch = run_scenes(caller, programs, [BUSY], interfere=partial(kill_when_busy, signal.SIGKILL))
    assert batch.code == -signal.SIGKILL
    left = survivors(batch)
    assert len(left) >= 2 * len(AGENTS), "agents and their children outlive the harness"
    after = normal(caller, programs, record)
    assert after.stderr.count("which a killed batch had left running") >= len(left) // 2
    return batch


ROUNDS: tuple[Callable[[Caller, list[Path], Record], LiveBatch], ...] = (
    killed,
    deadline,
    partial(interrupted, signal.SIGINT),
    partial(interrupted, signal.SIGTERM),
)


def test_nothing_survives_mixed_ends(caller: Caller, programs: list[Path], record: Record) -> None:
    """P3: normal, deadline, SIGINT, SIGTERM, and SIGKILL with the next run's sweep: no survivor."""
    batches: list[LiveBatch] = []
    runs = 0
    for one in cycle(ROUNDS):
        if runs >= SOAK_RUNS:
            break
        batches.append(one(caller, programs, record))
        runs += len(AGENTS) * (2 if one is killed else 1)
    assert [left for batch in batches for left in survivors(batch)] == []
