"""Takes the middle out of the long strings of a giant JSON line, while the line comes.

What a tool printed can be one string of a hundred megabytes. The line stays a record, with its ids
and flags, and with the beginning and the end of that text, where its exit code may stand.
"""

from __future__ import annotations

import re

HEAD_BYTES = 1024 * 1024
"""More than the longest text that a reader looks at."""
TAIL_BYTES = 64 * 1024
SEAM = rb"\n[...]\n"
"""What stands for the middle, in JSON's escapes: no word comes about where the ends meet."""

_LONGEST_ESCAPE = 6
_MOST_TAIL = 4 * TAIL_BYTES
# What stands between strings, with short ones: an object may have a million of them.
_STRUCTURE = re.compile(rb'(?:[^"]++|"[^"\\]{0,64}+")*+')
# Text of a string, as far as it is there, without the beginning of an escape at its end.
_TEXT = re.compile(rb'(?:[^"\\]++|\\[^u]|\\u[0-9a-fA-F]{4})*+')
# After it no escape is unfinished.
_PLAIN = re.compile(rb"[^\\]{%d}" % _LONGEST_ESCAPE)
_BROKEN_LETTER = re.compile(rb"[\xc0-\xff][\x80-\xbf]{0,3}\Z")
_LETTER_REST = bytes(range(0x80, 0xC0))
_FEW = 64


class Condenser:
    """Takes one line piece by piece and gives it without the middles of its long strings.

    `limit`: bytes of the result; a line that is longer even so is cut there, and is no record.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._escape = b""
        self._in_string = False
        self._room = 0
        self._cut = False
        self._tail = b""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the line."""
        data, position = self._escape + piece, 0
        self._escape = b""
        while position < len(data) and len(self._kept) < self._limit:
            if self._in_string:
                position = self._read_text(data, position)
            else:
                position = self._read_structure(data, position)

    def finish(self) -> bytes:
        """The condensed line."""
        self._end_text()
        self._kept += self._escape
        return bytes(memoryview(self._kept)[: self._limit])

    def _read_structure(self, data: bytes, position: int) -> int:
        """Up to and into the next string that is not short."""
        match = _STRUCTURE.match(data, position)
        end = match.end() if match else position
        self._kept += memoryview(data)[position : end + 1]
        self._in_string, self._room = end < len(data), HEAD_BYTES
        return end + 1

    def _read_text(self, data: bytes, position: int) -> int:
        """Up to the quote that ends the string; half an escape waits for the next piece."""
        quote = data.find(b'"', position)
        while quote >= 0 and _is_escaped(data, position, quote):
            quote = data.find(b'"', quote + 1)
        if quote >= 0:
            self._add_text(data[position:quote])
            self._end_text()
            self._kept += b'"'
            self._in_string = False
            return quote + 1
        end = len(data)
        if _is_escaped(data, position, end):
            end -= 1
            self._escape = b"\\"
        self._add_text(data[position:end])
        return len(data)

    def _add_text(self, text: bytes) -> None:
        if not self._cut and len(text) <= self._room:
            self._kept += text
            self._room -= len(text)
            return
        if not self._cut:
            self._cut = True
            # The last piece may have ended inside of an escape, which is to be whole.
            end = _end_of_text(text, 0, max(self._room, _LONGEST_ESCAPE))
            self._kept += _BROKEN_LETTER.sub(b"", text[:end]) + SEAM
            text = text[end:]
        self._tail += text
        if len(self._tail) > _MOST_TAIL:
            self._tail = _last(self._tail)

    def _end_text(self) -> None:
        self._kept += _last(self._tail).lstrip(_LETTER_REST)
        self._tail, self._cut = b"", False


def _is_escaped(data: bytes, start: int, place: int) -> bool:
    """True where an odd number of backslashes stands before a place."""
    before = data[max(start, place - _FEW) : place]
    slashes = len(before) - len(before.rstrip(b"\\"))
    if slashes == _FEW:
        before = data[start:place]
        slashes = len(before) - len(before.rstrip(b"\\"))
    return slashes % 2 == 1


def _last(text: bytes) -> bytes:
    """The end of a text, from where no escape is broken."""
    start = len(text) - TAIL_BYTES
    if start <= 0:
        return text
    plain = _PLAIN.search(text, start, start + _FEW)
    if plain:
        return text[plain.end() :]
    whole = _end_of_text(text, 0, start)
    return text[whole if start - whole < _LONGEST_ESCAPE else start :]


def _end_of_text(data: bytes, start: int, end: int) -> int:
    match = _TEXT.match(data, start, end)
    return match.end() if match else start
