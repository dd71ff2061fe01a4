"""Reads SKILL.md files as their authors wrote them: name, description, and what is wrong.

It reports, never raises. Limits come from the Agent Skills specification (name at most 64
characters of a-z, 0-9 and -, description at most 1024).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from routing_action.corpus.frontmatter import FENCE, Value, parse_fields
from routing_action.corpus.identity import KnownSkill, SkillIndex

MAX_NAME = 64
MAX_DESCRIPTION = 1024
_MAX_BYTES = 2**20

CONFLICT = "conflict-marker"
"""The rule about a merge conflict that nobody resolved."""

_NAME = re.compile(r"[a-z0-9-]+")
_PLAIN = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:[ \t]+(?P<value>[^\s\"'>|\[{&*!].*)")
_SECOND_KEY = re.compile(r":(?:\s|$)")
_MISSING = Value("", 0)


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


def index_skills(files: Iterable[SkillFile], plugin: str = "") -> SkillIndex:
    """The skills of some files, by every name that they go by."""
    return SkillIndex(known_skill(file, plugin) for file in files)


def known_skill(file: SkillFile, plugin: str = "", place: str = "") -> KnownSkill:
    """A skill as the names in its file tell it."""
    description = " ".join(file.description.split())
    return KnownSkill(file.folder, file.name, plugin, place or file.folder, description)


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
        cause = "starts with a byte order mark, so some agents do not see the frontmatter"
        problems.append(Problem("frontmatter-bom", 1, cause))
    if "\ufffd" in text:
        problems.append(Problem("skill-not-utf8", 1, "is not UTF-8 text"))
    lines = text.removeprefix("\ufeff").splitlines()
    problems += _check_conflicts(lines)
    if not lines or lines[0].rstrip() != FENCE:
        problems.append(
            Problem("frontmatter-missing", 1, "has no frontmatter: the first line must be ---")
        )
        return SkillFile(folder, path, problems=tuple(problems))
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        problems.append(
            Problem("frontmatter-open", 1, "has no closing fence: end the frontmatter with ---")
        )
        end = next((at for at, line in enumerate(lines[1:], 1) if line.startswith("#")), len(lines))
    problems += _check_yaml(lines[:end])
    fields = parse_fields(lines[:end])  # with the fence, so that lines count from it
    name = fields.get("name", _MISSING)
    description = fields.get("description", _MISSING)
    problems += (*_check_name(name, folder), *_check_text(description))
    return SkillFile(folder, path, name.text, description.text, tuple(problems))


def _check_conflicts(lines: Iterable[str]) -> Iterator[Problem]:
    """The first side of a conflict whose second one follows; in a code block it is an example."""
    in_code, opened = False, 0
    for number, line in enumerate(lines, 1):
        in_code ^= line.lstrip().startswith(("```", "~~~"))
        if not in_code and line.startswith("<<<<<<< "):
            opened = opened or number
        elif not in_code and opened and line.startswith(">>>>>>> "):
            yield Problem(CONFLICT, opened, "holds an unresolved merge conflict")
            return


def _check_yaml(lines: Iterable[str]) -> Iterator[Problem]:
    """A plain value with a colon in it, which YAML takes for a second key."""
    for number, line in enumerate(lines, 1):
        match = _PLAIN.match(line)
        if match and _SECOND_KEY.search(match["value"].partition(" #")[0]):
            yield Problem(
                "frontmatter-yaml",
                number,
                f"the {match['key']} is no valid YAML, since a colon stands in it: put it between "
                "quotes, or agents may not see the skill",
            )


def _check_name(value: Value, folder: str) -> Iterator[Problem]:
    name, line = value.text, value.line + 1
    if not name:
        yield Problem("skill-name", line, "the frontmatter has no name")
        return
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        yield Problem(
            "skill-name",
            line,
            f"the name {name[:80]!r} is not of 1 to {MAX_NAME} characters a-z, 0-9 and -",
        )
    if name != folder:
        yield Problem(
            "skill-name-differs",
            line,
            f"the name {name[:80]!r} is not that of its folder, {folder!r}; agents differ in which "
            "of the two they use",
        )


def _check_text(value: Value) -> Iterator[Problem]:
    line, length = value.line + 1, len(value.text)
    if not length:
        yield Problem("skill-description", line, "the frontmatter has no description")
    elif length > MAX_DESCRIPTION:
        yield Problem(
            "skill-description",
            line,
            f"the description has {length} characters; agents cut it, or drop the skill, after "
            f"{MAX_DESCRIPTION}",
        )
