"""Keeps a block of lines at the end of a terminal's text, and redraws it in place.

Knows the control sequences (ECMA-48, and the private modes of xterm's "ctlseqs"), not what the
lines say. The cursor is hidden and wrapping switched off within one write only, so that whatever
ends the process leaves a terminal that works.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Synchronised output (2026), no cursor (25), no wrapping at the right edge (7).
_BEGIN = "\x1b[?2026h\x1b[?25l\x1b[?7l\r"
_END = "\x1b[?7h\x1b[?25h\x1b[?2026l"
_CLEAR_LINE = "\x1b[K"
_CLEAR_ROW = "\x1b[2K"
_CLEAR_BELOW = "\x1b[J"


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line as it is written, with its sequences, and its width in cells without them."""

    text: str
    width: int


class TerminalBlock:
    """The block; the cursor stands at the beginning of the line below it between two writes.

    `write` takes the text of one whole step, which a terminal shows at once.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._shown: tuple[BlockLine, ...] = ()
        self._columns = 0

    def draw(self, lines: Sequence[BlockLine], columns: int) -> None:
        """Show the lines in place of the last ones; `columns` is the terminal's width by now."""
        rows = self._rows(columns)
        # What a narrower terminal wrapped has to go first: it would stay joined to its next line.
        start = _up(rows) if columns == self._columns else _wipe(rows)
        body = "".join(f"{line.text}{_CLEAR_LINE}\n" for line in lines)
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
        """Let the block stand as it is, since others have written below it; draw a new one."""
        self._shown = ()

    def _rows(self, columns: int) -> int:
        """The rows that the block takes. A terminal that became narrower has wrapped its lines."""
        return sum(max(-(-line.width // columns), 1) for line in self._shown)


def _up(rows: int) -> str:
    return f"\x1b[{rows}A" if rows else ""


def _wipe(rows: int) -> str:
    """Clear so many rows above the cursor, and this one, and go to the first.

    Row by row: some terminals push what they clear as a whole into their history.
    """
    return f"{_CLEAR_ROW}{_up(1)}" * rows + _CLEAR_ROW
