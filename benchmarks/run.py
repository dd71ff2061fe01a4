"""Measures the goals of performance, each against its anchor in the same run; see README.md.

usage: python benchmarks/run.py [--goal N ...] [--rounds N] [--anchors DIR] [--json FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.measure import ANCHORS, Row, show_table  # noqa: E402 - the path comes first

MODULES = {
    1: ("unit_runs",),
    2: ("unit_runs",),
    3: ("unit_runs",),
    4: ("scan_200mb",),
    5: ("scan_200mb",),
    6: ("big_output",),
    7: ("big_output",),
    8: ("ending",),
    9: ("log_snapshot",),
    10: ("compare_30000", "report_30000"),
    11: ("start_up",),
    12: ("workspace_10000",),
}
ROUNDS = 5


def main() -> int:
    """Print the table; 1 where a goal is missed or was not measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--goal", type=int, action="append", choices=sorted(MODULES), dest="goals")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    parser.add_argument(
        "--anchors", type=Path, help="keep programs that are installed as anchors in this folder"
    )
    parser.add_argument("--json", type=Path, help="write the rows to this file too")
    options = parser.parse_args()
    rows: list[Row] = []
    with _anchors(options.anchors):
        for goal in sorted(set(options.goals or MODULES)):
            for row in _measure(goal, options.rounds):
                rows.append(row)
                sys.stderr.write(f"{show_table([row]).splitlines()[1]}\n")
    sys.stdout.write(f"{_machine(options.rounds)}\n{show_table(rows)}\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2), "utf-8")
    return 0 if all(row.is_met is not False and not row.missing for row in rows) else 1


@contextlib.contextmanager
def _anchors(kept: Path | None) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ[ANCHORS] = str(kept.resolve() if kept else folder)
        yield


def _measure(goal: int, rounds: int) -> Iterator[Row]:
    """What the modules of a goal measure; a row that says why where one cannot."""
    for name in MODULES[goal]:
        if not (ROOT / "benchmarks" / f"{name}.py").is_file():
            yield Row(goal, name, missing=f"there is no benchmarks/{name}.py")
            continue
        measure = getattr(importlib.import_module(f"benchmarks.{name}"), "measure_goal", None)
        if measure is None:
            yield Row(goal, name, missing=f"benchmarks/{name}.py has no measure_goal")
            continue
        try:
            yield from measure(goal, rounds)
        except SystemExit as error:  # what was measured already is not lost
            yield Row(goal, name, missing=str(error))


def _machine(rounds: int) -> str:
    """What the numbers depend on, beside the code."""
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    version = ".".join(map(str, sys.version_info[:3]))
    return f"Python {version}, {cores} cores, load {load:.1f} at the end, {rounds} rounds"


if __name__ == "__main__":
    sys.exit(main())
