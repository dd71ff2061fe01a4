"""Goal 11: what `--version` and `--help` cost, against an interpreter that does nothing.

As installed, that is by the script that an installer writes; `python -m` adds Python's own runpy.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measure import Row, product_environment, run_measured, take_turns

RUNS_IN_A_ROUND = 10
SCRIPT = """\
import sys
from routing_action.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""


def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
    """The rows of goal 11."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "routing-action")
        script.write_text(SCRIPT, encoding="utf-8")
        python = sys.executable
        commands = [
            [python, "-c", "pass"],
            [python, str(script), "--version"],
            [python, str(script), "--help"],
            [python, "-m", "routing_action", "--version"],
        ]
        calls = [lambda argv=argv: _total(argv) for argv in commands]
        nothing, version, help_page, module = take_turns(rounds, calls)
    yield Row.of_ratios(goal, "routing-action --version", version, nothing, most=1.5)
    yield Row.of_ratios(goal, "routing-action --help", help_page, nothing, most=3.0)
    yield Row.of_ratios(goal, "python -m routing_action --version", module, nothing)


def _total(argv: Sequence[str]) -> float:
    """Seconds of some runs."""
    environment = product_environment()
    return sum(run_measured(argv, env=environment).wall for _ in range(RUNS_IN_A_ROUND))
