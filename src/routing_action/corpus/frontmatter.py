"""The one reader of frontmatter: of a SKILL.md's own lines, and of what a command printed of it.

It is tolerant, as agents are: it takes the YAML that frontmatter uses in practice (plain, quoted,
folded and literal values), and finds nothing rather than to raise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

FENCE = "---"
_SPAN = 60
"""Lines of a printed block that are read."""

_KEY = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*)|$)")
_PRINTED_KEY = re.compile(r"[\"']?(?P<key>[A-Za-z][\w-]*)[\"']?\s*:\s*(?P<value>.*)")
_BLOCK = re.compile(r"(?P<style>[>|])[+-]?\d?[+-]?(?:[ \t]+#.*)?$")
# An open quote ends with the value: an agent's YAML reader would reject it, ours only reads.
_QUOTED = re.compile(r""""(?P<double>(?:\\.|[^"\\])*)"?|'(?P<single>(?:''|[^'])*)'?""")
_ESCAPED = re.compile(r"\\(.)")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_NUMBERED = re.compile(r"^\s*\d+(?:\s*[│|:→]\s?|\t|\s{1,2}|(?=$))")


@dataclass(frozen=True, slots=True)
class Value:
    """The text of a top-level key on one line, and the line of its key, counted from 0."""

    text: str
    line: int


def parse_fields(lines: Sequence[str], key: re.Pattern[str] = _KEY) -> dict[str, Value]:
    """The top-level keys, lowered, with their values; the first of a key counts."""
    found: dict[str, Value] = {}
    at = 0
    while at < len(lines):
        match = key.match(lines[at])
        start, at = at, at + 1
        if not match:
            continue
        more: list[str] = []
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t"):
            more.append(lines[at].strip())
            at += 1
        found.setdefault(match["key"].casefold(), Value(_join(match["value"] or "", more), start))
    return found


def _join(first: str, more: Sequence[str]) -> str:
    """A value of one or more lines, its quotes, comments and block signs taken off."""
    first = first.strip()
    if _BLOCK.match(first):
        first = ""
    words = " ".join(part for part in (first, *more) if part)
    match = _QUOTED.match(words)
    if match is None:
        return words.partition(" #")[0].strip()
    if match["double"] is not None:
        return _ESCAPED.sub(r"\1", match["double"])
    return match["single"].replace("''", "'")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The skill names that printed frontmatter declares, and whether any block opens at all."""

    names: frozenset[str]
    opens: bool


def find_frontmatter(output: str) -> Frontmatter:
    """Read every frontmatter block in the output, plain or with line numbers before its lines."""
    lines = [_bare(line) for line in _ANSI.sub("", output).split("\n")]
    if "---$" in lines or "---^M$" in lines:  # cat -A marks the end of each line
        lines = [line.removesuffix("$").removesuffix("^M") for line in lines]
    names: set[str] = set()
    opens = False
    for index, line in enumerate(lines):
        if not line.rstrip().endswith(FENCE):
            continue
        fields, closed = _printed_block(lines[index + 1 : index + 1 + _SPAN])
        if line.rstrip() != FENCE and not closed:  # the file before had no final newline
            continue
        opens = opens or "name" in fields or "description" in fields
        if "name" in fields and fields["name"].text:
            names.add(fields["name"].text)
    return Frontmatter(frozenset(names), opens)


def _bare(line: str) -> str:
    """A line without BOM, carriage return, and the number that a pager may put before it."""
    line = line.rstrip("\r").removeprefix("\ufeff")
    return line if line.startswith(FENCE) else _NUMBERED.sub("", line, count=1).lstrip("\ufeff")


def _printed_block(lines: Sequence[str]) -> tuple[dict[str, Value], bool]:
    """The fields up to the closing fence, and whether there is one.

    Neither where the first line is no key.
    """
    ends = (at for at, line in enumerate(lines) if line.rstrip() in (FENCE, "..."))
    end = next(ends, None)
    lines = lines[:end]
    said = (line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    first = next(said, None)
    if first is not None and not _PRINTED_KEY.match(first):
        return {}, False
    return parse_fields(lines, _PRINTED_KEY), end is not None
