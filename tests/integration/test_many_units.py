"""A thousand units of every bad manner, 32 at once: each is judged right, and nothing is left.

ROUTING_ACTION_UNITS says how many; the gate runs 200, the full count is 1000.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from routing_action.results.read import read_results
from tests.support.batches import Field, bearing, markers

UNITS = int(os.environ.get("ROUTING_ACTION_UNITS", "200"))
MOST_RESIDENT_KB = 100 * 1024

EXPECTED = {
    "load": ("pass", "completed"),
    "flood": ("pass", "completed"),
    "huge": ("pass", "completed"),
    "hang": ("fail", "timeout"),
    "stubborn": ("fail", "timeout"),
    "escaped": ("pass", "completed"),
    "held": ("pass", "completed"),
    "stays": ("pass", "completed"),
    "crash": ("infra_error", "killed"),
    "noise": ("infra_error", "schema_drift"),
}
"""Status and outcome of each manner of the quick agent."""

LEAVES_SOMETHING = {"escaped", "held", "stubborn"}


def sample_status(pid: int) -> tuple[int, int, int]:
    """Peak resident kB, open descriptors and zombie children of the harness; zeros once gone."""
    process = Path(f"/proc/{pid}")
    try:
        peak = re.search(r"VmHWM:\s+(\d+)", (process / "status").read_text("utf-8"))
        descriptors = len(list((process / "fd").iterdir()))
        children = " ".join(
            path.read_text("utf-8") for path in process.glob("task/*/children")
        ).split()
        states = [
            Path(f"/proc/{child}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
            for child in children
        ]
    except OSError:
        return 0, 0, 0
    return int(peak[1]) if peak else 0, descriptors, states.count("Z")


@pytest.mark.slow
def test_units_of_every_manner_side_by_side(tmp_path: Path) -> None:
    """Every verdict is right; memory, descriptors, survivors and zombies stay bounded."""
    field = Field(tmp_path / "project")
    manners = [tuple(EXPECTED)[n % len(EXPECTED)] for n in range(UNITS)]
    field.write_cases(*manners)
    running = field.start(
        *("--agents", "claude", "--workspace", "shared", "--no-progress"),
        *("--max-parallel", "32", "--timeout-seconds", "15"),
    )
    peak = most_descriptors = 0
    last_zombies = 0
    while running.process.poll() is None:
        resident, descriptors, last = sample_status(running.process.pid)
        peak, most_descriptors = max(peak, resident), max(most_descriptors, descriptors)
        last_zombies = last if resident else last_zombies
        time.sleep(0.05)
    assert running.finish() == 1, running.stderr
    results = read_results(running.folder / "results.json")
    wrong = [
        (row.case_id, manner, row.status.value, row.outcome.value, row.error)
        for row, manner in zip(results.results, manners, strict=True)
        if (row.status.value, row.outcome.value) != EXPECTED[manner]
    ]
    assert wrong == []
    for row, manner in zip(results.results, manners, strict=True):
        assert bool(row.survivors) or manner not in LEAVES_SOMETHING, row.case_id
    assert bearing(markers(running.folder)) == []
    assert 0 < peak < MOST_RESIDENT_KB
    assert most_descriptors < 32 * 8 + 64
    assert last_zombies <= 32
    print(f"{UNITS} units: peak {peak} kB, {most_descriptors} descriptors, {last_zombies} zombies")  # noqa: T201
