"""B7: what `--version` and `--help` cost, against an interpreter that does nothing.

As installed, that is by the script that an installer writes; `python -m` adds Python's own runpy.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.measure import Row, divide, run_measured, take_turns

RUNS_IN_A_ROUND = 10
SCRIPT = """\
import sys
from routing_action.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""


def measure(rounds: int, small: bool) -> Iterator[Row]:
    """The rows of B7."""
    runs = 2 if small else RUNS_IN_A_ROUND
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "routing-action")
        script.write_text(SCRIPT, encoding="utf-8")
        commands = (["-c", "pass"], [str(script), "--version"], [str(script), "--help"])
        calls = [partial(_total, runs, [sys.executable, *words]) for words in commands]
        nothing, version, help_page = take_turns(rounds, *calls)
    yield Row("B7", "--version against python -c pass", divide(version, nothing), most=1.5)
    yield Row("B7", "--help against python -c pass", divide(help_page, nothing), most=3)


def _total(runs: int, argv: list[str]) -> float:
    """Seconds of some runs, after one that warms the caches."""
    run_measured(argv)
    return sum(run_measured(argv).wall for _ in range(runs))
