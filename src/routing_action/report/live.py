"""The live view of a run on a terminal: hears of its units, and redraws a block of lines.

Never more often than it is ticked, and only where something changed. A terminal that is gone, is
stopped (Ctrl-S) or belongs to another job for now is left alone; the run never waits for it.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from routing_action.report.progress import Progress
from routing_action.report.progress_view import (
    ViewLook,
    ViewSize,
    render_outcome,
    render_progress,
)
from routing_action.report.terminal_block import BlockLine, TerminalBlock
from routing_action.results.model import UnitResult
from routing_action.run.process.process import ProcessLimits

_FALLBACK = ViewSize(80, 24)


class Terminal:
    """A stream that is a terminal: its size, and whether it takes output just now."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.gone = False

    def size(self) -> ViewSize:
        """The size by now, in cells; 80 x 24 where the terminal does not tell it."""
        try:
            columns, lines = os.get_terminal_size(self.stream.fileno())
        except (OSError, ValueError):
            return _FALLBACK
        return ViewSize(columns or _FALLBACK.width, lines or _FALLBACK.height)

    def is_ready(self) -> bool:
        """False while it is stopped by its user, or we run in its background."""
        try:
            descriptor = self.stream.fileno()
            with contextlib.suppress(OSError):  # not our controlling terminal: it has no jobs
                if os.tcgetpgrp(descriptor) != os.getpgrp():
                    return False
            return bool(select.select([], [descriptor], [], 0)[1])
        except (OSError, ValueError):
            return False

    def write(self, text: str) -> None:
        """Write at once; where the terminal went away, this and all that follows is dropped."""
        if self.gone:
            return
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            self.gone = True


class LiveView:
    """The view of one batch; an observer of its units."""

    def __init__(
        self,
        terminal: Terminal,
        progress: Progress,
        look: ViewLook,
        *,
        interrupts: Callable[[], int] = lambda: 0,
        leaves_outcome: bool = True,
    ) -> None:
        """`leaves_outcome`: a last line with the totals stays, as nothing else will tell them."""
        self.above = _Above(self.say)
        self._terminal = terminal
        self._progress = progress
        self._look = look
        self._interrupts = interrupts
        self._leaves_outcome = leaves_outcome
        self._block = TerminalBlock(terminal.write)
        self._painter = Console(
            file=terminal.stream, force_terminal=True, legacy_windows=False, highlight=False,
            markup=False, emoji=False,
        )  # fmt: skip
        self._lock = threading.RLock()  # warnings can come from any thread
        self._drawn: tuple[ViewSize, int] | None = None
        self._changed = True
        self._closed = False

    # --- the observer's part

    def queue(self, unit_run_id: str, key: str) -> None:
        """A unit waits for its turn."""
        self._progress.queue(unit_run_id, key)
        self._changed = True

    def start(self, unit_run_id: str, key: str) -> None:
        """A unit runs."""
        self._progress.start(unit_run_id, key)
        self._changed = True

    def end(self, unit_run_id: str, key: str, row: UnitResult) -> None:
        """A unit came to its end."""
        self._progress.end(unit_run_id, key, row)
        self._changed = True

    def note(self, text: str) -> None:
        """Leave a line above the view."""
        self.say(f"routing-action: {text}\n")

    # --- drawing

    def say(self, text: str) -> None:
        """Leave whole lines above the view for good."""
        with self._lock:
            self._block.say(text, self._terminal.size().width)

    def tick(self) -> None:
        """Draw where something is new: a unit, the size, or the second that is shown."""
        if interrupts := self._interrupts():
            self._progress.stop(hurried=interrupts > 1)
        size = self._terminal.size()
        state = (size, int(self._progress.elapsed))
        if (self._changed or state != self._drawn) and self._terminal.is_ready():
            self._changed, self._drawn = False, state
            self._draw(render_progress(self._progress, size, self._look), size)

    def resume(self) -> None:
        """The process had been stopped, and its shell wrote below the view: begin a new one."""
        with self._lock:
            self._block.forget()
        self._changed = True

    def close(self) -> None:
        """Take the view away; where nothing else will tell the outcome, a line of it stays."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self.above.close()
            size = self._terminal.size()
            self._block.clear(size.width)
            if self._leaves_outcome:
                self._draw(render_outcome(self._progress, size), size)
                self._block.forget()

    def _draw(self, lines: Sequence[Text], size: ViewSize) -> None:
        with self._painter.capture() as painted:
            for line in lines:
                self._painter.print(
                    line, no_wrap=True, overflow="ignore", crop=False, soft_wrap=True
                )
        texts = painted.get().split("\n")
        with self._lock:
            self._block.draw(
                [BlockLine(text, line.cell_len) for text, line in zip(texts, lines, strict=False)],
                size.width,
            )


class _Above(io.TextIOBase):
    """Standard error while the view is shown: each whole line goes above it."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._pending = ""

    def writable(self) -> bool:
        """It takes text."""
        return True

    def write(self, text: str) -> int:
        """Take text; a line is shown once its newline is there."""
        whole, newline, self._pending = (self._pending + text).rpartition("\n")
        if newline:
            self._say(whole + newline)
        return len(text)

    def close(self) -> None:
        """Show what no newline ended."""
        if self._pending:
            self.write("\n")
        super().close()


def open_view(
    stream: TextIO, lanes: int, interrupts: Callable[[], int], outcome_follows: bool
) -> LiveView:
    """The view of a batch on a terminal; `outcome_follows` on it, as standard output is one too.

    `interrupts` says how often the batch was interrupted so far.
    """
    encoding = (stream.encoding or "").casefold()
    look = ViewLook(
        ascii_only=not encoding.startswith("utf"),
        ending_seconds=ProcessLimits(wall_seconds=0).ending_seconds,
    )
    return LiveView(
        Terminal(stream),
        Progress(time.monotonic, lanes),
        look,
        interrupts=interrupts,
        leaves_outcome=not outcome_follows,
    )
