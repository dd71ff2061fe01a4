"""Which SKILL.md files a command proved to have shown: the frontmatter must be in its output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from routing_action.domain.naming import fold, is_skill_file, skill_folder, split_path
from routing_action.providers.frontmatter import find_frontmatter
from routing_action.providers.shell_reads import CommandReads, reads_of

_ALIAS = re.compile(r"r\d+")
_UNREADABLE = re.compile(r"['’\"]?:? (?:No such file|Permission denied|Is a dir)")
_MOST = 1_000
"""Files of one command, and errors in its output, that are looked at: the work stays bounded."""


@dataclass(frozen=True, slots=True)
class ShownFiles:
    """What a command printed: other `files`, and SKILL.md files with whether that is proven."""

    files: tuple[str, ...]
    skills: tuple[tuple[str, bool], ...]


def shown_files(command: str, cwd: str, output: str) -> ShownFiles:
    """Judge a command that exited well by what it names and by what it printed."""
    if not output.strip():
        return ShownFiles((), ())
    reads = reads_of(command, cwd)
    reported = _reported_heads(output)
    named = islice(dict.fromkeys(reads.files), _MOST)
    shown = [path for path in named if not any(head.endswith(path) for head in reported)]
    skills = [path for path in shown if is_skill_file(path)]
    proven = _proven_reads(skills, reads, output, single=len(shown) == 1)
    return ShownFiles(
        files=tuple(path for path in shown if path not in skills),
        skills=tuple((path, path in proven) for path in skills),
    )


def in_a_skills_root(path: str, *, roots_known: bool) -> bool:
    """True below a folder named `skills`, a staged root, or a root alias of codex' catalogue."""
    parts = [fold(part) for part in split_path(path)]
    alias = len(parts) == len(("r1", "name", "SKILL.md")) and _ALIAS.fullmatch(parts[0])
    return "skills" in parts[:-2] or bool(alias) or (roots_known and len(parts) > 1)


def _proven_reads(skills: list[str], reads: CommandReads, output: str, *, single: bool) -> set[str]:
    """The SKILL.md paths whose frontmatter the output shows.

    The frontmatter must name the skill; where the command printed a `single` file, one that
    opens is enough, since it can be no other file's.
    """
    if not skills:
        return set()
    shown = find_frontmatter(output)
    spoken = find_frontmatter("\n".join(reads.spoken).replace("\\n", "\n"))
    names = {name.casefold() for name in shown.names - spoken.names}
    alone = single and shown.opens and not spoken.opens
    return {path for path in skills if alone or fold(skill_folder(path)[-1]) in names}


def _reported_heads(output: str) -> list[str]:
    """What stands before each message that a file could not be read: it ends in the path."""
    found = islice(_UNREADABLE.finditer(output), _MOST)
    return [output[max(0, match.start() - _MOST) : match.start()] for match in found]
