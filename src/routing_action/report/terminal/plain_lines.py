"""Standard output and error on which no line is an order to GitHub's runner.

The runner obeys a line that begins with `::`, blanks aside, and `##[` wherever it stands in one
(actions/runner, ActionCommand.cs). Agents, cases and file names write much of what is printed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

# What can stand before an order: blanks, controls, marks of no width, colours and titles.
_IGNORED = (
    r"(?:[\x00-\x09\x0b\x0c\x0e-\x1a\x1c-\x20\x7f-\xa0\xad\u1680\u180e\u2000-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u3000\ufeff]|\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\r\n]*(?:\x07|\x1b\\)))*"
)
_ORDER = re.compile(rf"((?:(?<=[\r\n])|\A){_IGNORED}:)(?=:)")
_LONGEST_START = 4096


class PlainLines:
    """A stream that puts a blank into what would be an order, also across calls of `write`."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._line = ""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all else is the stream's own
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write a text; what its first line began with is known."""
        whole = self._line + text
        if "::" in whole:
            whole = _ORDER.sub(r"\1 ", whole)
        new = whole.replace("##[", "## [")[len(self._line) :]
        self.stream.write(new)
        line = re.split(r"[\r\n]", self._line + new)[-1]
        self._line = line if len(line) < _LONGEST_START else f".{line[-2:]}"
        return len(text)


@contextmanager
def plain_output() -> Iterator[None]:
    """Print nothing that the runner would obey, as long as the block lasts."""
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        stream if isinstance(stream, PlainLines) else cast("TextIO", PlainLines(stream))
        for stream in kept
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept


def give_order(text: str) -> None:
    """Print what the runner is to obey."""
    sys.stdout.flush()
    stream = getattr(sys.stdout, "stream", sys.stdout)
    stream.write(text)
    stream.flush()
