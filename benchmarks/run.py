"""Measures goals B1 to B8 and U1 to U4, each against its anchor, and prints one table.

usage: python benchmarks/run.py [--goal B1 ...] [--rounds N] [--small] [--anchors DIR]

It needs the dev environment (`./check.sh` makes it), Linux and git. B2 also needs promptfoo, which
is installed from npm into a cache folder first. Where that fails this is said before anything is
measured, and the exit code is 1. `--small` is a quick check of the benchmarks themselves.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks import (  # noqa: E402 - the path comes first
    certainty,
    documents,
    early_stop,
    ending,
    floods,
    neighbours,
    outage,
    past,
    reading,
    start_up,
    units,
    workspaces,
)
from benchmarks.measure import Row, show_table  # noqa: E402
from benchmarks.promptfoo import PromptfooMissingError, install_promptfoo  # noqa: E402

ROUNDS = 5
GOALS: dict[str, Callable[[int, bool], Iterator[Row]]] = {
    "B1": units.measure,
    "B3": reading.measure,
    "B4": floods.measure,
    "B5": ending.measure,
    "B6": lambda rounds, small: chain(
        documents.measure(rounds, small), past.measure(rounds, small)
    ),
    "B7": start_up.measure,
    "B8": workspaces.measure,
    "U1": neighbours.measure,
    "U2": early_stop.measure,
    "U3": outage.measure,
    "U4": certainty.measure,
}
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def main() -> int:
    """Print the table; 1 where a goal is missed or was not measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = sorted({*GOALS, "B2"})
    parser.add_argument("--goal", action="append", choices=names, dest="goals")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    parser.add_argument("--small", action="store_true", help="small sizes; bounds mean nothing")
    parser.add_argument(
        "--anchors", type=Path, default=CACHE / "routing-action-benchmarks",
        help="where promptfoo is installed, with 2 GB; default: %(default)s",
    )  # fmt: skip
    options = parser.parse_args()
    goals = dict(GOALS)
    chosen = sorted(set(options.goals or names))
    if "B2" in chosen:
        goals["B2"] = _prepare_promptfoo(options.anchors / "promptfoo")
    rows: list[Row] = []
    for goal in chosen:
        for row in _measure(goals[goal], goal, options.rounds, options.small):
            rows.append(row)
            _say("  ".join(row.cells))
    version = ".".join(map(str, sys.version_info[:3]))
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    sys.stdout.write(
        f"Python {version}, {cores} cores, load {load:.1f} at the end, {options.rounds} rounds\n"
        f"{show_table(rows)}\n"
    )
    return 0 if all(row.is_met for row in rows) else 1


def _prepare_promptfoo(folder: Path) -> Callable[[int, bool], Iterator[Row]]:
    """Install the anchor, or say at once that it is missing."""
    _say("looking for promptfoo, or installing it, which takes minutes")
    try:
        return partial(units.measure_promptfoo, install_promptfoo(folder))
    except PromptfooMissingError as error:
        _say(f"promptfoo cannot be had, so B2 will not be measured and the exit code is 1: {error}")
        return lambda rounds, small: iter([Row("B2", "500 units against promptfoo", most=0.25)])


def _measure(
    measure: Callable[[int, bool], Iterator[Row]], goal: str, rounds: int, small: bool
) -> Iterator[Row]:
    """The rows of a goal; one that says why where it cannot be measured."""
    try:
        yield from measure(rounds, small)
    except SystemExit as error:  # what was measured already is not lost
        _say(str(error))
        yield Row(goal, "what failed, see above", most=0)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
