"""B5: how soon a process is gone once its end was decided, whatever it does about it.

These are milliseconds, not ratios: the bounds are what a person, or a batch, waits for. Each agent
says when it has printed the line that decides (or that it ends, and left a child), and the kernel
says when the process is gone; between the two lie the reading and the decision too.
"""

from __future__ import annotations

import os
import select
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Row
from benchmarks.transcripts import split_run
from benchmarks.units import Bench

TERM_GRACE, DRAIN = 5000, 2000
"""Milliseconds that the product gives a process after SIGTERM, and its children to close a pipe."""
_KINDS = {
    "hang": ("early stop decided to process gone", 0, 50),
    "deaf": ("an agent that ignores SIGTERM: after the grace", TERM_GRACE, 50),
    "escape": ("an escaped child that holds the output: after the drain", DRAIN, 200),
}


def measure(rounds: int, small: bool) -> Iterator[Row]:
    """The rows of B5; each value is the median of a batch."""
    survivors = 0
    for kind, (what, given, most) in _KINDS.items():
        values = []
        for _ in range(rounds):
            units = 1 if small or kind != "hang" else 10
            waited, left = _run(kind, units)
            values.append(waited - given)
            survivors += left
        yield Row("B5", what, values, "ms", most=most)
    yield Row("B5", "processes left after their batch", [survivors], "", most=0)


def _run(kind: str, units: int) -> tuple[float, int]:
    """Milliseconds until a process was gone, and how many still lived when the batch had ended."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        opening, ending = split_run("claude")
        transcript = folder / "transcript"
        transcript.write_bytes(b"".join([*opening, *(ending if kind == "escape" else [])]))
        fifo = folder / "fifo"
        os.mkfifo(fifo)
        bench = Bench.make(folder / "repo", units, kind, transcript, fifo)
        watch = _Watch(fifo, units)
        options = () if kind == "escape" else ("--stop-early",)
        bench.run("--workspace", "shared", *options)
        return watch.finish()


class _Watch(threading.Thread):
    """Reads which process is to end, and waits for that, unit by unit."""

    def __init__(self, fifo: Path, units: int) -> None:
        super().__init__(daemon=True)
        self._fifo, self._units = fifo, units
        self._waited: list[float] = []
        self._current: int | None = None
        self.start()

    def run(self) -> None:
        """Until all units were seen."""
        for _ in range(self._units):
            with self._fifo.open(encoding="ascii") as file:
                pid, began = file.read().split()
            self._current = int(pid)
            try:
                process = os.pidfd_open(self._current)
            except ProcessLookupError:
                pass
            else:
                select.select([process], [], [])
                os.close(process)
            self._waited.append((time.monotonic() - float(began)) * 1000)
            self._current = None

    def finish(self) -> tuple[float, int]:
        """The median of the milliseconds; 1 if a process lived on, which is killed."""
        self.join(timeout=0.2)
        left = self._current
        if left is not None:
            os.kill(left, signal.SIGKILL)
            self.join()
        return statistics.median(self._waited), int(left is not None)
