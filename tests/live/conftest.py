"""What the live tests share: the programs, a caller, and one batch that many tests look at."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.live.batch import COPILOT_EVERYWHERE, LiveBatch, run_scenes
from tests.live.caller import Caller, make_caller, remove_caller
from tests.live.clis import install_clis
from tests.live.scenes import routing_scenes, unruly_scenes

Record: TypeAlias = Callable[[LiveBatch, str, str], dict[str, Any]]


@pytest.fixture(scope="session")
def programs() -> list[Path]:
    """The folders for PATH in which the pinned CLIs lie."""
    return install_clis()


@pytest.fixture
def caller(tmp_path: Path) -> Iterator[Caller]:
    """A caller of the test's own."""
    made = make_caller(tmp_path / "caller")
    yield made
    remove_caller(made)


@pytest.fixture(scope="session")
def routing(tmp_path_factory: pytest.TempPathFactory, programs: list[Path]) -> LiveBatch:
    """All routing and unruly scenes on three agents, four at once; run once for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    stored = shared / "live-routing.pickle"
    with (shared / "live-routing.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stored.exists():
            made = make_caller(shared / "live-routing")
            scenes = (*routing_scenes(str(made.stale_copy)), *unruly_scenes())
            try:
                batch = run_scenes(
                    made,
                    programs,
                    scenes,
                    *("--max-parallel", "4"),
                    variables={"AGENT_COPILOT_TEMPLATE": COPILOT_EVERYWHERE},
                )
            finally:
                remove_caller(made)
            stored.write_bytes(pickle.dumps(batch))
    found = pickle.loads(stored.read_bytes())  # noqa: S301 - written above
    assert isinstance(found, LiveBatch)
    return found


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Puts a row into the table of real runs at the end, and gives it."""

    def keep(batch: LiveBatch, agent: str, scene: str) -> dict[str, Any]:
        row = batch.rows[agent, scene]
        verdict = " ".join(filter(None, (row["status"], row["failure_kind"])))
        facts = (
            agent,
            row["cli_version"] or "-",
            scene,
            verdict,
            round(row["duration_ms"] / 1000, 1),
        )
        request.node.user_properties.append(("live run", facts))
        return row

    return keep
