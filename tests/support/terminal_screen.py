"""A small terminal: as much of one as it takes to see what a program leaves on the screen.

Knows wrapping, carriage returns, cursor-up, the clearing of lines and of what is below, and
reflows long lines when it is resized, as terminals of today do.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+")


class Screen:
    """Rows of text, each with the mark whether it goes on in the next."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.cursor_hidden = False
        self.wraps = True
        self._rows: list[str] = [""]
        self._joined: list[bool] = [False]
        self._row = 0
        self._column = 0

    @property
    def lines(self) -> list[str]:
        """What is seen, without empty rows at the end."""
        rows = [row.rstrip() for row in self._rows]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def write(self, text: str) -> None:
        """Take what a program sends to its terminal."""
        for token in _TOKEN.finditer(text):
            if token[3]:
                self._control(token[1] + token[3], token[2])
            elif token[0] == "\r":
                self._column = 0
            elif token[0] == "\n":
                self._column = 0
                self._move(self._row + 1)
            else:
                self._put(token[0])

    def resize(self, columns: int) -> None:
        """Wrap every line anew; the cursor stays at its line (column 0 of an empty one)."""
        whole: list[str] = []
        current = 0
        for place, row in enumerate(self._rows):
            if place and self._joined[place - 1]:
                whole[-1] += row
            else:
                whole.append(row)
            if place == self._row:
                current = len(whole) - 1
        self.columns = columns
        self._rows, self._joined = [], []
        for place, line in enumerate(whole):
            if place == current:
                self._row = len(self._rows)
            parts = [line[at : at + columns] for at in range(0, len(line), columns)] or [""]
            self._rows += parts
            self._joined += [True] * (len(parts) - 1) + [False]

    def _control(self, name: str, number: str) -> None:
        if name == "A":
            self._row = max(self._row - int(number or 1), 0)
        elif name == "K":
            keep = 0 if number == "2" else self._column
            self._rows[self._row] = self._rows[self._row][:keep]
            self._joined[self._row] &= number != "2"
        elif name == "J":
            self._rows[self._row] = self._rows[self._row][: self._column]
            del self._rows[self._row + 1 :], self._joined[self._row + 1 :]
        elif name in {"?h", "?l"} and number == "25":
            self.cursor_hidden = name == "?l"
        elif name in {"?h", "?l"} and number == "7":
            self.wraps = name == "?h"

    def _put(self, text: str) -> None:
        while text:
            room = self.columns - self._column
            if room <= 0 and not self.wraps:
                return
            if room <= 0:
                self._joined[self._row] = True
                self._column = 0
                self._move(self._row + 1)
                continue
            part, text = text[:room], text[room:]
            row = self._rows[self._row].ljust(self._column)
            self._rows[self._row] = row[: self._column] + part + row[self._column + len(part) :]
            self._column += len(part)

    def _move(self, row: int) -> None:
        self._row = row
        while len(self._rows) <= row:
            self._rows.append("")
            self._joined.append(False)
