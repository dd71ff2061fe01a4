"""Goal 8: how soon a process is gone once that was decided, whatever it does about it.

These are milliseconds, not ratios: the bounds are what a person, or a batch, waits for.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path

from benchmarks.measure import Row
from routing_action.run.output.capture import MemorySink
from routing_action.run.process.process import (
    MARKER_VARIABLE,
    ProcessLimits,
    ProcessResult,
    run_process,
)

REPEATS = 10
TERM_GRACE = 0.25
DRAIN_GRACE = 0.2
SLEEPER = ("sleep", "1000")
IGNORE_TERM = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(1000)
"""
DEAF = (sys.executable, "-I", "-S", "-c", IGNORE_TERM)
# A grandchild in a session of its own keeps the output open after its parent has gone.
ESCAPED = ("sh", "-c", "setsid sleep 1000 & echo ready")


class ReadySink(MemorySink):
    """Tells when the first output has come."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = asyncio.Event()

    def write(self, chunk: bytes) -> None:
        """Keep it, and tell."""
        super().write(chunk)
        self.ready.set()


def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
    """The rows of goal 8; each value is a median of ten in a round."""
    stops, deaf, escaped = [], [], []
    left = 0
    for _ in range(rounds):
        stops.append(_median(lambda: _stop(SLEEPER, wait_for_output=False)))
        deaf.append(_median(lambda: _stop(DEAF, wait_for_output=True)) - TERM_GRACE * 1000)
        times = [asyncio.run(_escape()) for _ in range(REPEATS)]
        escaped.append(statistics.median(ms for ms, _ in times) - DRAIN_GRACE * 1000)
        left += sum(count for _, count in times)
    yield Row.of_values(goal, "early stop decided to process gone", stops, "ms", most=20)
    yield Row.of_values(goal, "agent that ignores SIGTERM: after the grace", deaf, "ms", most=20)
    yield Row.of_values(
        goal, "escaped grandchild holds the output: after the drain", escaped, "ms", most=100
    )
    yield Row.of_values(goal, "escaped grandchildren left", [float(left)], "", most=0)


def _median(measure: Callable[[], Coroutine[None, None, float]]) -> float:
    return statistics.median(asyncio.run(measure()) for _ in range(REPEATS))


async def _stop(argv: Sequence[str], *, wait_for_output: bool) -> float:
    """Milliseconds from the decision to the end of `run_process`, after which nothing is left."""
    cancel, output = asyncio.Event(), ReadySink()
    running = asyncio.ensure_future(_run(argv, output, str(uuid.uuid4()), cancel))
    if wait_for_output:
        await output.ready.wait()
    else:
        await asyncio.sleep(0.1)
    begun = time.perf_counter()
    cancel.set()
    await running
    return (time.perf_counter() - begun) * 1000


async def _escape() -> tuple[float, int]:
    """Milliseconds from the end of the process to that of the run, and what is left then."""
    output, marker = ReadySink(), str(uuid.uuid4())
    running = asyncio.ensure_future(_run(ESCAPED, output, marker, asyncio.Event()))
    await output.ready.wait()
    begun = time.perf_counter()
    await running
    return (time.perf_counter() - begun) * 1000, _count_marked(marker)


async def _run(
    argv: Sequence[str], output: MemorySink, marker: str, cancel: asyncio.Event
) -> ProcessResult:
    return await run_process(
        argv,
        cwd="/",
        env={"PATH": os.environ["PATH"]},
        stdout=output,
        stderr=MemorySink(),
        limits=ProcessLimits(
            wall_seconds=100, term_grace_seconds=TERM_GRACE, drain_seconds=DRAIN_GRACE
        ),
        marker=marker,
        cancel=cancel,
    )


def _count_marked(marker: str) -> int:
    """Living processes that bear the marker, counted without the code that is measured."""
    entry, count = f"{MARKER_VARIABLE}={marker}".encode(), 0
    for folder in Path("/proc").iterdir():
        try:
            count += folder.name.isdecimal() and entry in (folder / "environ").read_bytes()
        except OSError:
            continue
    return count
