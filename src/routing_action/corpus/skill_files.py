"""Reads SKILL.md files as their authors wrote them: frontmatter, its lines, and what is wrong.

The reader is tolerant, as agents are: it takes the YAML that frontmatter uses in practice (plain,
quoted, folded and literal values) and reports, never raises, where there is none. Limits come from
the Agent Skills specification (name at most 64 characters of a-z, 0-9 and -, description at most
1024).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MAX_NAME = 64
MAX_DESCRIPTION = 1024
_MAX_BYTES = 2**20

_FENCE = "---"
_KEY = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*)|$)")
_BLOCK = re.compile(r"(?P<style>[>|])[+-]?\d?[+-]?(?:[ \t]+#.*)?$")
# An open quote ends with the value: an agent's YAML reader would refuse it, ours only reads.
_QUOTED = re.compile(r""""(?P<double>(?:\\.|[^"\\])*)"?|'(?P<single>(?:''|[^'])*)'?""")
_ESCAPED = re.compile(r"\\(.)")
_NAME = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a SKILL.md; `rule` is its short name, lines count from 1."""

    rule: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A skill as its file declares it; `folder` is the name that agents know it by."""

    folder: str
    path: Path
    name: str = ""
    description: str = ""
    problems: tuple[Problem, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    line: int


def read_skill_file(folder: str, path: Path) -> SkillFile:
    """Read one SKILL.md; what cannot be read is a problem of its own."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES)
    except OSError as error:
        problem = Problem("skill-unreadable", 1, f"cannot be read: {error.strerror}")
        return SkillFile(folder, path, problems=(problem,))
    return parse_skill_file(folder, path, data)


def parse_skill_file(folder: str, path: Path, data: bytes) -> SkillFile:
    """Read a SKILL.md's bytes."""
    text = data.decode("utf-8", "replace")
    problems: list[Problem] = []
    if text.startswith("\ufeff"):
        problems.append(
            Problem(
                "frontmatter-bom",
                1,
                "starts with a byte order mark, so some agents do not see the frontmatter",
            )
        )
    if "\ufffd" in text:
        problems.append(Problem("skill-not-utf8", 1, "is not UTF-8 text"))
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        problems.append(
            Problem("frontmatter-missing", 1, "has no frontmatter: the first line must be ---")
        )
        return SkillFile(folder, path, problems=tuple(problems))
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        problems.append(
            Problem("frontmatter-open", 1, "has no closing fence: end the frontmatter with ---")
        )
        end = next((at for at, line in enumerate(lines[1:], 1) if line.startswith("#")), len(lines))
    values = _parse_values(lines[1:end])
    problems += (*_check_name(values.get("name"), folder), *_check_text(values.get("description")))
    return SkillFile(
        folder, path, _text(values.get("name")), _text(values.get("description")), tuple(problems)
    )


def _text(value: _Value | None) -> str:
    return value.text if value else ""


def _parse_values(lines: Sequence[str]) -> dict[str, _Value]:
    """The top-level keys, lowered, with their values on one line; the first of a key counts."""
    found: dict[str, _Value] = {}
    at = 0
    while at < len(lines):
        match = _KEY.match(lines[at])
        start, at = at, at + 1
        if not match:
            continue
        more: list[str] = []
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t"):
            more.append(lines[at].strip())
            at += 1
        text = _join(match["value"] or "", more)
        # The fence is line 1, so the first line of the block is line 2.
        found.setdefault(match["key"].casefold(), _Value(text, start + 2))
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


def _check_name(value: _Value | None, folder: str) -> Iterator[Problem]:
    if value is None or not value.text:
        yield Problem("skill-name", value.line if value else 1, "the frontmatter has no name")
        return
    name = value.text
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        yield Problem(
            "skill-name",
            value.line,
            f"the name {name[:80]!r} is not of 1 to {MAX_NAME} characters a-z, 0-9 and -",
        )
    if name != folder:
        yield Problem(
            "skill-name-differs",
            value.line,
            f"the name {name[:80]!r} is not that of its folder, {folder!r}; agents differ in which "
            "of the two they use",
        )


def _check_text(value: _Value | None) -> Iterator[Problem]:
    if value is None or not value.text:
        line = value.line if value else 1
        yield Problem("skill-description", line, "the frontmatter has no description")
    elif len(value.text) > MAX_DESCRIPTION:
        yield Problem(
            "skill-description",
            value.line,
            f"the description has {len(value.text)} characters; agents cut it, or drop the skill, "
            f"after {MAX_DESCRIPTION}",
        )
