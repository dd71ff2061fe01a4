"""Where lines of plain text stand: in a fence, or alone; agents write between a CLI's lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"(?:[\s>*+-]|\d+[.)])*(`{3,}|~{3,})")
_ANNOUNCES = re.compile(
    r"\b(?:e\.?g|examples?|for instance|samples?|such|prints?|printed|shows?|shown|displays?|says?"
    r"|output|looks?|logs?|format|like|line)\b.*[:：]\W*$",
    re.IGNORECASE,
)

Line = tuple[int, str]
"""A line that is not blank, with its number."""


def fenced_lines(lines: Sequence[Line]) -> set[int]:
    """The numbers of the lines in a fence, and of those that open and close one."""
    found: set[int] = set()
    fence = ""
    for number, text in lines:
        mark = _FENCE.match(text)
        if fence or mark:
            found.add(number)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not text[mark.end() :].strip():
            fence = ""
    return found


def lone_lines(lines: Sequence[Line], last: int) -> set[int]:
    """The numbers of the lines that stand alone: between blank lines, and announced by none.

    Indented lines below one belong to it. `last` is the number of the output's last line; a line
    that no other follows is not known to stand alone.
    """
    found: set[int] = set()
    for place, (number, _) in enumerate(lines):
        before = lines[place - 1] if place else (-1, "")
        after = lines[place + 1] if place + 1 < len(lines) else (last + 1, "")
        is_ended = after[0] > number + 1 or after[1][:1] in (" ", "\t")
        is_announced = _ANNOUNCES.search(before[1])
        if before[0] != number - 1 and is_ended and number < last and not is_announced:
            found.add(number)
    return found
