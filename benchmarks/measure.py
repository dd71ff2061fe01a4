"""What the benchmarks share: measured commands, rounds that take turns, ratios, and their table.

A benchmark is a module of this folder with `measure_goal(goal, rounds) -> Iterator[Row]`; run.py
knows which module measures which goal. A row is one line of the table:

    from benchmarks.measure import Row, take_turns

    def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
        anchor, product = take_turns(rounds, [seconds_of_anchor, seconds_of_product])
        yield Row.of_ratios(goal, "load 30,000 results", product, anchor, most=1.0)

Ratios are taken within a round, of things measured right after one another: the machine may be
slow, or busy with something else, as long as it is so for both.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
PEAK = Path(__file__).resolve().parent / "peak.py"
MEGABYTE = 1e6
ANCHORS = "ROUTING_ACTION_ANCHORS"
"""The variable that names the folder of installed anchors."""
Measured = TypeVar("Measured")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a command took: seconds on the wall, CPU seconds of its whole tree, its code.

    `own_cpu` are the CPU seconds of the command's own process, without its children; `peak_bytes`
    is the most memory that it held (VmHWM), and `tree_bytes` the most that any one process of the
    tree held.
    """

    wall: float
    cpu: float
    code: int
    peak_bytes: int = 0
    tree_bytes: int = 0
    own_cpu: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    `value` is in `unit` ("x" for a ratio); `spread` the lowest and highest of the rounds. `most`
    or `least` is the goal's bound; a row without one is there to be known. `missing` says why
    there is no value.
    """

    goal: int
    what: str
    value: float | None = None
    spread: tuple[float, float] | None = None
    unit: str = "x"
    most: float | None = None
    least: float | None = None
    missing: str = ""

    @classmethod
    def of_ratios(
        cls,
        goal: int,
        what: str,
        product: Sequence[float],
        anchor: Sequence[float],
        *,
        most: float | None = None,
        least: float | None = None,
    ) -> Row:
        """A row of the ratios of the rounds: their median, and their spread."""
        ratios = [ours / theirs for ours, theirs in zip(product, anchor, strict=True)]
        return cls.of_values(goal, what, ratios, "x", most=most, least=least)

    @classmethod
    def of_values(
        cls,
        goal: int,
        what: str,
        values: Sequence[float],
        unit: str,
        *,
        most: float | None = None,
        least: float | None = None,
    ) -> Row:
        """A row of values that are no ratios, such as megabytes."""
        spread = (min(values), max(values))
        return cls(goal, what, statistics.median(values), spread, unit, most, least)

    @property
    def is_met(self) -> bool | None:
        """Whether the value keeps within the bound; None without a value or a bound."""
        if self.value is None or (self.most is None and self.least is None):
            return None
        return (self.most is None or self.value <= self.most) and (
            self.least is None or self.value >= self.least
        )

    @property
    def verdict(self) -> str:
        """`met`, `MISSED`, `not measured`, or nothing where there is no bound."""
        if self.value is None:
            return "not measured"
        met = self.is_met
        return "" if met is None else "met" if met else "MISSED"


def take_turns(
    rounds: int, calls: Sequence[Callable[[], Measured]], *, warm_up: bool = True
) -> list[list[Measured]]:
    """What each call gives in each round, by call; one unmeasured round warms the caches.

    Every other round goes backwards, so that none always follows the same one.
    """
    results: list[list[Measured]] = [[] for _ in calls]
    order = list(range(len(calls)))
    for number in range(-1 if warm_up else 0, rounds):
        for place in order if number % 2 else reversed(order):
            measured = calls[place]()
            if number >= 0:
                results[place].append(measured)
    return results


def run_measured(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: Path | None = None,
    codes: Sequence[int] = (0,),
    watch_peak: bool = False,
) -> Usage:
    """Run a command to its end, its output thrown away or in a file, and say what it took.

    With `watch_peak` its memory is looked at while it runs, some fifty times a second. SystemExit
    with its last words where it exits with another code than `codes`.
    """
    with (
        tempfile.TemporaryFile() as errors,
        (stdout or Path(os.devnull)).open("wb") as output,
    ):
        begun = time.perf_counter()
        process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=errors
        )
        peak = PeakWatch(process.pid) if watch_peak else None
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        own = read_cpu(Path(f"/proc/{process.pid}/stat"))
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        code = process.returncode = os.waitstatus_to_exitcode(status)
        if code not in codes:
            errors.seek(0)
            last = errors.read()[-2000:].decode("utf-8", "replace")
            raise SystemExit(f"{argv[0]} exited with {code}:\n{last}")
    cpu = used.ru_utime + used.ru_stime
    return Usage(wall, cpu, code, peak.stop() if peak else 0, used.ru_maxrss * 1024, own)


class PeakWatch:
    """The most memory that a process holds (VmHWM), looked at in a thread of its own."""

    def __init__(self, pid: int) -> None:
        self._status = Path(f"/proc/{pid}/status")
        self._peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> int:
        """Bytes."""
        self._ended.set()
        self._thread.join()
        return self._peak

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            with contextlib.suppress(OSError):
                self._peak = max(self._peak, read_peak(self._status))


def read_peak(status: Path) -> int:
    """The most memory that a process held so far, in bytes; 0 for one that is gone."""
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text("ascii", "replace"))
    return int(found[1]) * 1024 if found else 0


def read_cpu(stat: Path) -> float:
    """CPU seconds of a process, its threads with it and its children not: proc(5), stat."""
    fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def anchor_folder() -> Path:
    """Where anchors that must be installed are put; run.py removes it unless it was named."""
    return Path(os.environ[ANCHORS])


def run_product(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    codes: Sequence[int] = (0,),
) -> Usage:
    """`routing-action ARGUMENTS`, with the peak memory of its own process."""
    with tempfile.NamedTemporaryFile() as report:
        argv = [sys.executable, "-P", str(PEAK), report.name, *arguments]
        used = run_measured(argv, cwd=cwd, env=env or product_environment(), codes=codes)
        peak = int(Path(report.name).read_text("ascii"))
    return Usage(used.wall, used.cpu, used.code, peak, used.tree_bytes, used.own_cpu)


def product_environment(**variables: str) -> dict[str, str]:
    """The caller's environment without what makes Python slower or a run different."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "COVERAGE", "AGENT_", "MAX_CONCURRENCY", "GITHUB_"))
    }
    return {**kept, "CI": "true", **variables}


def show_table(rows: Sequence[Row]) -> str:
    """The rows as a table for a terminal."""
    cells = [("goal", "what", "measured", "spread", "bound", "")]
    cells += [
        (str(row.goal), row.what, _value(row), _spread(row), _bound(row), row.verdict)
        for row in rows
    ]
    widths = [max(len(line[place]) for line in cells) for place in range(len(cells[0]))]
    lines = []
    for goal, what, *numbers, verdict in cells:
        padded = (number.rjust(width) for number, width in zip(numbers, widths[2:-1], strict=True))
        lines.append(
            f"{goal.rjust(widths[0])}  {what.ljust(widths[1])}  {'  '.join(padded)}  {verdict}"
        )
    notes = [f"goal {row.goal}, {row.what}: {row.missing}" for row in rows if row.missing]
    return "\n".join(line.rstrip() for line in (*lines, *notes))


def _value(row: Row) -> str:
    return "-" if row.value is None else f"{_number(row.value)} {row.unit}"


def _spread(row: Row) -> str:
    if row.spread is None:
        return ""
    low, high = map(_number, row.spread)
    return f"{low} to {high}" if low != high else ""


def _bound(row: Row) -> str:
    if row.most is not None:
        return f"<= {row.most:g} {row.unit}"
    return "" if row.least is None else f">= {row.least:g} {row.unit}"


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.0f}"
