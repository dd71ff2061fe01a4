"""Plain text in blocks: what is no record is counted, and the beginning of it kept compactly."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from routing_action.agents.reading.proofs import TEXT_LIMIT
from routing_action.agents.reading.standard_error import clean_text
from routing_action.evidence.transcript import split_lines

HELD_BYTES = 8 * 2**20
BLANK = b" \t\r\x00\xef\xbb\xbf"
"""A line of these alone says nothing."""

# What `decode_record` passes over before an object.
_OPENING = rb"[ \t\r\x0b\x0c]*+(?:\xef\xbb\xbf)?[ \t\r\x0b\x0c]*+\{"
_FIRST_RECORD = re.compile(_OPENING)
_LATER_RECORD = re.compile(rb"\n" + _OPENING)
_FIRST_BLANK = re.compile(rb"[%s]*+\n" % BLANK)
_LATER_BLANK = re.compile(rb"\n[%s]*+(?=\n)" % BLANK)


def may_hold_records(block: bytes) -> bool:
    """False only where no line of a block can be a JSON object."""
    if b"{" not in block:
        return False
    return bool(_FIRST_RECORD.match(block) or _LATER_RECORD.search(block))


def count_newlines(block: bytes) -> int:
    """Taking them out looks for them with memchr(3), which is faster than `count`."""
    return len(block) - len(block.replace(b"\n", b""))


def count_lines(block: bytes) -> tuple[int, int]:
    """How many lines a block has, and how many of them are not blank."""
    rest = block[block.rfind(b"\n") + 1 :]
    count = count_newlines(block) + bool(rest)
    blank = len(_LATER_BLANK.findall(block)) + bool(_FIRST_BLANK.match(block))
    return count, count - blank - bool(rest and not rest.strip(BLANK))


class HeldText:
    """The first lines of text, with their numbers, until so many bytes of them are kept."""

    def __init__(self) -> None:
        """Start with none."""
        self._size = 0
        self._text = bytearray()
        self._runs = array("Q")  # pairs: the number of a line, and how many follow it

    @property
    def is_full(self) -> bool:
        """True where no more is kept."""
        return self._size >= HELD_BYTES

    def add(self, number: int, line: bytes) -> None:
        """Keep a line, without colours and cut to a bounded length, unless there is enough."""
        if self.is_full:
            return
        self._size += min(len(line), TEXT_LIMIT)
        self._text += clean_text(line)[:TEXT_LIMIT].encode()
        self._text += b"\n"
        runs = self._runs
        if runs and runs[-2] + runs[-1] == number:
            runs[-1] += 1
        else:
            runs.extend((number, 1))

    def add_block(self, number: int, block: bytes) -> None:
        """Keep the lines of a block that are not blank; the first line has the number."""
        for place, line in enumerate(split_lines(block)):
            if line.strip(BLANK):
                self.add(number + place, line)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """The lines in order, each with its number."""
        start = 0
        for first, count in zip(self._runs[::2], self._runs[1::2], strict=True):
            for number in range(first, first + count):
                end = self._text.find(b"\n", start)
                yield number, self._text[start:end].decode()
                start = end + 1
