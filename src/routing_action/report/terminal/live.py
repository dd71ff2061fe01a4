"""The live view of a run on a terminal: hears of its units, and redraws a block of lines.

Never more often than it is ticked, and only where something changed. A terminal that is gone, is
stopped (Ctrl-S) or belongs to another job for now is left alone; the run never waits for it.

rich draws the lines. Its own `Live` does not keep the block: it hides the cursor for as long as it
shows anything, and does not take away lines that a narrower terminal has wrapped.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import threading
from collections.abc import Callable, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from routing_action.report.terminal.progress import Progress
from routing_action.report.terminal.progress_view import (
    ViewLook,
    ViewSize,
    render_outcome,
    render_progress,
)

_FALLBACK = ViewSize(80, 24)

# Control sequences of ECMA-48, and the private modes of xterm's "ctlseqs": synchronised output
# (2026), no cursor (25), no wrapping at the right edge (7). They are set within one write only, so
# that whatever ends the process leaves a terminal that works.
_BEGIN = "\x1b[?2026h\x1b[?25l\x1b[?7l\r"
_END = "\x1b[?7h\x1b[?25h\x1b[?2026l"
_CLEAR_LINE = "\x1b[K"
_CLEAR_ROW = "\x1b[2K"
_CLEAR_BELOW = "\x1b[J"


class Terminal:
    """A stream that is a terminal: its size, and whether it takes output just now."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.gone = False

    def size(self) -> ViewSize:
        """The size by now, in cells; 80 x 24 where the terminal does not say."""
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


class TerminalBlock:
    """Lines at the end of a terminal's text, redrawn in place.

    The cursor is at the beginning of the line below them between two writes. `write` takes the
    text of one whole step, which a terminal shows at once.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._shown: tuple[tuple[str, int], ...] = ()
        self._columns = 0

    def draw(self, lines: Sequence[tuple[str, int]], columns: int) -> None:
        """Show lines, each with its width without sequences, in place of the last ones.

        `columns` is the terminal's width by now.
        """
        rows = self._rows(columns)
        # What a narrower terminal wrapped has to go first: it would stay joined to its next line.
        start = _up(rows) if columns == self._columns else _wipe(rows)
        body = "".join(f"{text}{_CLEAR_LINE}\n" for text, _ in lines)
        self._write(f"{_BEGIN}{start}{body}{_CLEAR_BELOW}{_END}")
        self._shown, self._columns = tuple(lines), columns

    def say(self, text: str, columns: int) -> None:
        """Leave whole lines above the block for good."""
        lines = self._shown
        self.clear(columns)
        self._write(text)
        if lines:
            self.draw(lines, columns)

    def clear(self, columns: int) -> None:
        """Take the block away; what was above it is the end of the terminal's text again."""
        if self._shown:
            self._write(f"{_BEGIN}{_wipe(self._rows(columns))}{_END}")
        self._shown = ()

    def forget(self) -> None:
        """Leave the block as it is, since others have written below it; draw a new one."""
        self._shown = ()

    def _rows(self, columns: int) -> int:
        """The rows that the block takes. A terminal that became narrower has wrapped its lines."""
        return sum(max(-(-width // columns), 1) for _, width in self._shown)


def _up(rows: int) -> str:
    return f"\x1b[{rows}A" if rows else ""


def _wipe(rows: int) -> str:
    """Clear so many rows above the cursor, and this one, and go to the first.

    Row by row: some terminals push what they clear as a whole into their history.
    """
    return f"{_CLEAR_ROW}{_up(1)}" * rows + _CLEAR_ROW


class LiveView(Progress):
    """The progress of one batch, shown; an observer of its units."""

    def __init__(
        self,
        terminal: Terminal,
        clock: Callable[[], float],
        lanes: int,
        look: ViewLook,
        *,
        interrupts: Callable[[], int] = lambda: 0,
        leaves_outcome: bool = True,
    ) -> None:
        """`interrupts` says how often the batch was interrupted so far.

        `leaves_outcome`: a last line with the totals stays, as nothing else will show them.
        """
        super().__init__(clock, lanes)
        self.above = _Above(self._say)
        self._terminal = terminal
        self._look = look
        self._interrupts = interrupts
        self._leaves_outcome = leaves_outcome
        self._block = TerminalBlock(terminal.write)
        self._painter = Console(
            file=terminal.stream, force_terminal=True, legacy_windows=False, highlight=False,
            markup=False, emoji=False,
        )  # fmt: skip
        self._lock = threading.RLock()  # warnings can come from any thread
        self._drawn: object = None
        self._closed = False

    def note(self, text: str) -> None:
        """Leave a line above the view."""
        self._say(f"routing-action: {text}\n")

    def tick(self) -> None:
        """Draw where something is new: a unit, the size, or the second that is shown."""
        if interrupts := self._interrupts():
            self.stop(hurried=interrupts > 1)
        size = self._terminal.size()
        state = (size, int(self.elapsed), self.done, self.queued, self.total, interrupts)
        if state != self._drawn and self._terminal.is_ready():
            self._drawn = state
            self._draw(render_progress(self, size, self._look), size)

    def resume(self) -> None:
        """The process had been stopped, and its shell wrote below the view: begin a new one."""
        with self._lock:
            self._block.forget()
        self._drawn = None

    def close(self) -> None:
        """Take the view away; where nothing else will show the outcome, a line of it stays."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self.above.close()
            size = self._terminal.size()
            self._block.clear(size.width)
            if self._leaves_outcome:
                self._draw(render_outcome(self, size), size)
                self._block.forget()

    def _say(self, text: str) -> None:
        """Leave whole lines above the view for good."""
        with self._lock:
            self._block.say(text, self._terminal.size().width)

    def _draw(self, lines: Sequence[Text], size: ViewSize) -> None:
        with self._painter.capture() as painted:
            for line in lines:
                self._painter.print(line, no_wrap=True, overflow="ignore", crop=False)
        widths = [line.cell_len for line in lines]
        with self._lock:
            self._block.draw(list(zip(painted.get().split("\n"), widths, strict=False)), size.width)


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
