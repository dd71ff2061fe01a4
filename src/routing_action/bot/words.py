"""Splits a command into words, each with its place, as people type on phones and keyboards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUOTES = {'"': '"', "“": "”", "„": "“”", "”": "”", "«": "»", "'": "'", "‘": "’", "‚": "‘’"}
_ESCAPED = re.compile(r"\\([\"'])")
"""What opens a quoted text, and what then closes it; phones turn `"` into others."""

_DASHES = "-‐‑‒–—―−"


@dataclass(frozen=True, slots=True)
class Word:
    """A word without its quotes; `column` counts characters of the line from 1.

    `name` is the name of an option such as `--agents`, "" for what is none.
    """

    text: str
    column: int
    name: str = ""


class UnclosedQuoteError(ValueError):
    """A quoted text has no end; `column` is where it begins."""

    def __init__(self, column: int) -> None:
        """Keep the place."""
        super().__init__(column)
        self.column = column


def split_words(line: str) -> tuple[Word, ...]:
    """The words of a line; UnclosedQuoteError where a quote is not closed.

    An apostrophe inside a word is a letter of it. `--name=value` is two words.
    """
    return tuple(_split(line))


def _split(line: str) -> Iterator[Word]:
    place = 0
    while place < len(line):
        if line[place].isspace():
            place += 1
            continue
        start, text = place, ""
        while place < len(line) and not line[place].isspace():
            end = place
            if line[place] in _QUOTES and (not text or text.endswith("=")):
                end = _find_end(line, place)
                text += _ESCAPED.sub(r"\1", line[place + 1 : end])
            else:
                text += line[place]
            place = end + 1
        if line[start] in _QUOTES:
            yield Word(text, start + 1)
        else:
            yield from _name_option(text, start + 1)


def _find_end(line: str, start: int) -> int:
    """Where the quoted text that begins at `start` is closed: before a blank, or at the end."""
    closing = _QUOTES[line[start]] + line[start]
    for place in range(start + 1, len(line)):
        is_last = place + 1 == len(line) or line[place + 1].isspace()
        if line[place] in closing and is_last and line[place - 1] != "\\":
            return place
    raise UnclosedQuoteError(start + 1)


def _name_option(text: str, column: int) -> Iterator[Word]:
    """An option's name, and the value that is joined to it; any dashes begin one."""
    bare = text.lstrip(_DASHES)
    # An em dash is what a phone makes of two hyphens.
    is_option = bool(bare) and bare[0].isalpha() and (text[:2] == "--" or text[0] in "–—―")
    if not is_option:
        yield Word(text, column)
        return
    name, joined, value = bare.partition("=")
    yield Word(text, column, name.lower())
    if joined:
        yield Word(value, column + len(text) - len(value))
