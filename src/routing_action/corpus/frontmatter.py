"""Finds the frontmatter of SKILL.md files in what a command printed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_NUMBERED = re.compile(r"^\s*\d+(?:\s*[│|:→]\s?|\t|\s{1,2}|(?=$))")
_KEY = re.compile(r"[\"']?(?P<key>[A-Za-z][\w-]*)[\"']?\s*:\s*(?P<value>.*)")
_SPAN = 60


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The skill names that frontmatter blocks declare, and whether any block opens at all."""

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
        if not line.rstrip().endswith("---"):
            continue
        keys, closed = _block(lines[index + 1 : index + 1 + _SPAN])
        if line.rstrip() != "---" and not closed:  # the file before had no final newline
            continue
        opens = opens or "name" in keys or "description" in keys
        if keys.get("name"):
            names.add(keys["name"])
    return Frontmatter(frozenset(names), opens)


def _bare(line: str) -> str:
    """A line without BOM, carriage return, and the number that a pager may put before it."""
    line = line.rstrip("\r").removeprefix("\ufeff")
    return line if line.startswith("---") else _NUMBERED.sub("", line, count=1).lstrip("\ufeff")


def _block(lines: list[str]) -> tuple[dict[str, str], bool]:
    """Top-level keys up to the closing fence, and whether there is one.

    No keys where the first line is none.
    """
    keys: dict[str, str] = {}
    for line in lines:
        if line.rstrip() in ("---", "..."):
            return keys, True
        match = _KEY.match(line)
        if match:
            keys.setdefault(match["key"].casefold(), _scalar(match["value"]))
        elif not keys and line.strip() and not line.lstrip().startswith("#"):
            break
    return keys, False


def _scalar(value: str) -> str:
    """A plain or quoted YAML scalar without its comment."""
    text = value.strip()
    if text[:1] in ("'", '"'):
        return text[1:].partition(text[0])[0]
    return text.partition(" #")[0].strip()
