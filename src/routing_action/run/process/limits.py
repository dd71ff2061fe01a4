"""How long a process may take, and how much time it gets to end."""

from __future__ import annotations

import math
from dataclasses import dataclass

SETTLE_SECONDS = 0.1
"""How long members may take to end by themselves once the leader obeyed SIGTERM, and how long the
pipes may take to end once all that could hold them was killed."""

SWEEP_SECONDS = 2.0
"""How long a sweep goes on: a tree that forks while it is killed needs several rounds."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """How long a process may take, in seconds, and how much it may print.

    `wall_seconds` in all. `idle_seconds` without a byte on stdout or stderr (None: for ever).
    `terminal_grace_seconds` to exit after its terminal event; later output starts it anew.
    `term_grace_seconds` between SIGTERM and SIGKILL, `cancel_grace_seconds` where the batch was
    interrupted: whoever does that may kill us ten seconds later (GitHub does). `drain_seconds` for
    others to close the outputs once the process is gone. `output_bytes` is what both outputs may
    hold together; what comes after that is dropped.
    """

    wall_seconds: float
    idle_seconds: float | None = None
    terminal_grace_seconds: float = 5.0
    term_grace_seconds: float = 5.0
    drain_seconds: float = 2.0
    output_bytes: float = math.inf
    cancel_grace_seconds: float = 2.0

    @property
    def ending_seconds(self) -> float:
        """How long it takes at most, after an interrupt, to end what does not want to end."""
        settling = 3 * SETTLE_SECONDS
        return self.cancel_grace_seconds + self.drain_seconds + SWEEP_SECONDS + settling
