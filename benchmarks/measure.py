"""What the benchmarks share: measured commands, rounds that take turns, and the table.

A benchmark is a module with `measure(rounds, small) -> Iterator[Row]`. Ratios are taken within a
round, of things that were measured right after one another: the machine may be slow, or busy with
something else, as long as it is so for both.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent
MEGABYTE = 1e6
Measured = TypeVar("Measured")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a command took: seconds on the wall, CPU seconds, and the most memory it held (VmHWM).

    `own_cpu` and `peak_bytes` are of the command's own process, without its children.
    """

    wall: float
    own_cpu: float
    peak_bytes: int

    @property
    def megabytes(self) -> float:
        """The memory, in units of 10**6 bytes."""
        return self.peak_bytes / MEGABYTE


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a value of each round, of which the median is held against the bound.

    `most` or `least` is the bound. A row without values was not measured, and counts as missed.
    """

    goal: str
    what: str
    values: Sequence[float] = ()
    unit: str = "x"
    most: float = math.inf
    least: float = -math.inf

    @property
    def is_met(self) -> bool:
        """Whether the median keeps within the bound."""
        return bool(self.values) and self.least <= statistics.median(self.values) <= self.most

    @property
    def cells(self) -> tuple[str, ...]:
        """Goal, what, median, spread, bound, verdict."""
        bound = f"<= {self.most:.3g}" if self.most < math.inf else f">= {self.least:.3g}"
        bound = f"{bound} {self.unit}"
        if not self.values:
            return self.goal, self.what, "-", "-", bound, "NOT MEASURED"
        median = f"{statistics.median(self.values):.3g} {self.unit}"
        spread = f"{min(self.values):.3g} to {max(self.values):.3g}"
        return self.goal, self.what, median, spread, bound, "met" if self.is_met else "MISSED"


def show_table(rows: Sequence[Row]) -> str:
    """The rows as a table for a terminal."""
    lines = [
        ("goal", "what", "measured", "spread", "bound", "verdict"),
        *(row.cells for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines
    )
    return "\n".join("  ".join(line).rstrip() for line in padded)


def divide(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """The ratio of each round."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def take_turns(rounds: int, *calls: Callable[[], Measured]) -> list[list[Measured]]:
    """What each call gives in each round, by call; every other round goes backwards."""
    results: list[list[Measured]] = [[] for _ in calls]
    order = list(range(len(calls)))
    for _ in range(rounds):
        for place in order:
            results[place].append(calls[place]())
        order.reverse()
    return results


def run_measured(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    codes: Sequence[int] = (0,),
) -> Usage:
    """Run a command to its end and say what it took; its output is thrown away.

    SystemExit with its last words where it exits with another code than `codes`.
    """
    with tempfile.TemporaryFile() as errors:
        begun = time.perf_counter()
        env, null = env or plain_environment(), subprocess.DEVNULL
        process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=null, stdout=null, stderr=errors)
        with _watched_peak(process.pid) as peaks:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall = time.perf_counter() - begun
        own_cpu = _read_cpu(process.pid)
        if process.wait() not in codes:
            errors.seek(0)
            last = errors.read()[-2000:].decode("utf-8", "replace")
            raise SystemExit(f"{' '.join(argv)[:200]} exited with {process.returncode}:\n{last}")
    return Usage(wall, own_cpu, max(peaks, default=0))


def run_product(
    *arguments: str | Path, cwd: Path, codes: Sequence[int] = (0,), **variables: str
) -> Usage:
    """`routing-action ARGUMENTS`; the variables are added to a plain environment."""
    argv = [sys.executable, "-P", "-m", "routing_action", *map(str, arguments)]
    return run_measured(argv, cwd=cwd, env=plain_environment(**variables), codes=codes)


def plain_environment(**variables: str) -> dict[str, str]:
    """The caller's environment without what makes Python slower or a run different."""
    dropped = ("PYTHON", "COVERAGE", "AGENT_", "MAX_CONCURRENCY", "GITHUB_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "CI": "true", **variables}


@contextlib.contextmanager
def _watched_peak(pid: int) -> Iterator[list[int]]:
    """The most memory that a process held (VmHWM), in bytes, looked at fifty times a second."""
    peaks: list[int] = []
    ended = threading.Event()
    status = Path(f"/proc/{pid}/status")

    def watch() -> None:
        while not ended.wait(0.02):
            found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text("utf-8", "replace"))
            peaks.append(int(found[1]) * 1024 if found else 0)

    thread = threading.Thread(target=watch)
    thread.start()
    yield peaks
    ended.set()
    thread.join()


def _read_cpu(pid: int) -> float:
    """CPU seconds of a process without its children: proc(5), stat."""
    stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
