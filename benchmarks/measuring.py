"""Ratios of CPU time that stay steady on a machine that others use too, and memory.

Anchor and subject take turns in one process, in pairs; which of the two is first changes from pair
to pair. Each pair gives a ratio: what slows the machine down for seconds slows both down.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ratio:
    """Subject over anchor of each pair, with the median CPU seconds of both."""

    anchor: float
    subject: float
    ratios: tuple[float, ...]

    @property
    def median(self) -> float:
        """The ratio that is held against a goal."""
        return statistics.median(self.ratios)

    def __str__(self) -> str:
        """The median, the quartiles and the extremes."""
        low, _, high = statistics.quantiles(self.ratios, n=4, method="inclusive")
        return (
            f"ratio {self.median:.2f} (quartiles {low:.2f} to {high:.2f}, "
            f"extremes {min(self.ratios):.2f} to {max(self.ratios):.2f}, "
            f"{len(self.ratios)} pairs)"
        )


def measure_pairs(rounds: int, anchor: Callable[[], None], subject: Callable[[], None]) -> Ratio:
    """Run both in turns: once unmeasured, and then in `rounds` pairs, at least 2."""
    times: dict[Callable[[], None], list[float]] = {anchor: [], subject: []}
    turns = [anchor, subject]
    for _ in range(rounds + 1):
        for call in turns:
            gc.collect()
            started = time.process_time()
            call()
            times[call].append(time.process_time() - started)
        turns.reverse()
    anchors, subjects = times[anchor][1:], times[subject][1:]
    pairs = zip(subjects, anchors, strict=True)
    return Ratio(
        statistics.median(anchors),
        statistics.median(subjects),
        tuple(ours / theirs for ours, theirs in pairs),
    )


def read_status(name: str) -> int:
    """A field of this process's status, in bytes (Linux, proc(5)): VmRSS now, VmHWM at most."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (value,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(value) * 1024
