"""A batch's progress with a clock that the test moves."""

from __future__ import annotations

from typing import Any

from routing_action.report.terminal.progress import Progress
from tests.support.result_rows import make_row


class ProgressBench:
    """Tells a Progress what happens; units are named by their key."""

    def __init__(self, lanes: int = 4) -> None:
        self.now = 0.0
        self.progress = Progress(lambda: self.now, lanes)
        self._rows = 0

    def pass_time(self, seconds: float) -> None:
        """Let the clock go on."""
        self.now += seconds

    def queue(self, *keys: str) -> None:
        """Units wait for their turn."""
        for key in keys:
            self.progress.queue(key, key)

    def start(self, *keys: str) -> None:
        """Units run."""
        for key in keys:
            self.progress.start(key, key)

    def end(self, key: str, **row: Any) -> None:  # noqa: ANN401 - any field of a row
        """A unit ends; the row is a pass of no cost unless fields say otherwise."""
        self._rows += 1
        self.progress.end(key, key, make_row(self._rows, **row))
