"""How long a process may take, and how much time it gets to end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """How long a process may take, in seconds.

    `wall_seconds` in all. `idle_seconds` without a byte on stdout or stderr (None: for ever).
    `terminal_grace_seconds` to exit after its terminal event; later output starts it anew.
    `term_grace_seconds` between SIGTERM and SIGKILL, `cancel_grace_seconds` where the batch was
    interrupted: whoever does that may kill us ten seconds later (GitHub does). `drain_seconds` for
    others to close the output pipes once the process is gone.
    """

    wall_seconds: float
    idle_seconds: float | None = None
    terminal_grace_seconds: float = 5.0
    term_grace_seconds: float = 5.0
    drain_seconds: float = 2.0
    cancel_grace_seconds: float = 2.0

    @property
    def ending_seconds(self) -> float:
        """How long it takes at most to end a process that does not want to end."""
        settling = 3 * _SETTLE_SECONDS
        return self.term_grace_seconds + self.drain_seconds + _SWEEP_SECONDS + settling
