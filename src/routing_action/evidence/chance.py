"""What chance alone does to trials that pass or fail; pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z_95 = 1.959963984540054
"""The standard normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True)
class Record:
    """How a pair did: `passes` of `trials` measured ones; none of both where nothing is known."""

    passes: int = 0
    trials: int = 0

    def __add__(self, other: Record) -> Record:
        """Both together."""
        return Record(self.passes + other.passes, self.trials + other.trials)


def wilson_interval(record: Record, z: float = Z_95) -> tuple[float, float]:
    """The interval of a pass rate, from 0 to 1; (0, 1) of no trials.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    JASA 22 (1927).
    """
    if not record.trials:
        return 0.0, 1.0
    n, share = record.trials, record.passes / record.trials
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low, high = (middle - spread) / scale, (middle + spread) / scale
    return (0.0 if record.passes == 0 else low), (1.0 if record.passes == n else high)
