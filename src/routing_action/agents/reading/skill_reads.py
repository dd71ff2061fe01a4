"""Which SKILL.md files a command has shown, and whether a path lies where skills were staged.

A file was shown where the frontmatter is in the output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from routing_action.agents.provider import ReadContext
from routing_action.agents.shell.reads import CommandReads, is_rooted, reads_of
from routing_action.corpus.frontmatter import find_frontmatter
from routing_action.corpus.naming import fold, is_skill_file, skill_folder, split_path

_ALIAS = re.compile(r"r\d+")  # codex' short name of a root in its catalogue, such as r1
_UNREADABLE = re.compile(
    r"^(?:[\w./+-]{1,40}: [^\n]{0,600}"
    r"(?:No such file|Permission denied|Is a dir|annot open|n't read)"
    r"|[^\n]{0,80}(?:Cannot find path|FileNotFoundError))[^\n]{0,600}",
    re.MULTILINE,
)
_SILENCED = re.compile(r"2>|&>|\|\||-ErrorAction|ErrorActionPreference", re.IGNORECASE)
_MOST = 1_000
"""Files of one command, and errors in its output, that are looked at: the work stays bounded."""

# Where a home path begins, below the unit's home; the variables are those of the providers.
_HOMES = {
    "~": "",
    "$home": "",
    "$codex_home": "/.codex",
    "$claude_config_dir": "/.claude",
    "$copilot_home": "/.copilot",
}


@dataclass(frozen=True, slots=True)
class ShownFiles:
    """What a command printed: other `files`, and SKILL.md files with whether that is proven."""

    files: tuple[str, ...]
    skills: tuple[tuple[str, bool], ...]


def shown_files(command: str, cwd: str, output: str) -> ShownFiles:
    """Judge a command that exited well by what it names and by what it printed."""
    reads = reads_of(command, cwd)
    if not reads.files or not output.strip():
        return ShownFiles((), ())
    if output.strip() == "\n".join(reads.spoken).strip():
        return ShownFiles((), ())
    reported = _reported_lines(output)
    named = islice(dict.fromkeys(reads.files), _MOST)
    shown = [path for path in named if not _is_reported(path, reported)]
    skills = [path for path in shown if is_skill_file(path)]
    silenced = len(shown) > 1 and _SILENCED.search(command) is not None
    proven = _proven_reads(skills, reads, output, silenced=silenced)
    return ShownFiles(
        files=tuple(path for path in shown if path not in skills),
        skills=tuple((path, path in proven and path not in reads.late) for path in skills),
    )


def in_a_skills_root(path: str, *, roots_known: bool) -> bool:
    """True below a folder named `skills`, a staged root, or a root alias of codex' catalogue."""
    parts = [fold(part) for part in split_path(path)]
    alias = len(parts) == len(("r1", "name", "SKILL.md")) and _ALIAS.fullmatch(parts[0])
    return "skills" in parts[:-2] or bool(alias) or (roots_known and len(parts) > 1)


def _proven_reads(
    skills: list[str], reads: CommandReads, output: str, *, silenced: bool
) -> set[str]:
    """The SKILL.md paths whose frontmatter the output shows.

    The frontmatter names the skill; or the command reads one SKILL.md alone, and a frontmatter
    opens. The latter is not believed where the command hides its errors (`silenced`) and prints
    other files, one of which may have opened it.
    """
    if not skills:
        return set()
    shown = find_frontmatter(output)
    spoken = find_frontmatter("\n".join(reads.spoken).replace("\\n", "\n"))
    names = {name.casefold() for name in shown.names - spoken.names}
    alone = len(skills) == 1 and shown.opens and not spoken.opens and not silenced
    return {path for path in skills if alone or fold(skill_folder(path)[-1]) in names}


def _reported_lines(output: str) -> list[str]:
    """The lines that say that a file could not be read, in the words of the usual programs."""
    found = islice(_UNREADABLE.finditer(output), _MOST)
    return [match[0].replace("\\", "/") for match in found]


def _is_reported(path: str, lines: list[str]) -> bool:
    """True where a line names the path: its last two components, or its bare name alone."""
    if not lines:
        return False
    parts = split_path(path)
    name, tail = parts[-1] if parts else path, "/".join(parts[-2:])
    bare = re.compile(rf"(?<![\w/.-]){re.escape(name)}(?![\w.-])")
    return any(tail in line or bare.search(line) for line in lines)


# ---- where skills were staged


def lies_under(path: str, context: ReadContext) -> bool:
    """True where the path resolves under a staged root, or where no root is known.

    An absolute path must lie under a root. A relative one is joined to the working folder where
    that is known; else the folders above the skill must be the end of a root, or the root must
    be a whole workspace. A home path (`~`, `$HOME`) is expanded where the home is known.
    """
    if not context.skills_roots or _is_alias(path):
        return True
    full = _resolve(path, context)
    return any(_under(full, root, context) for root in context.skills_roots)


def _is_alias(path: str) -> bool:
    """True for codex' short form, `r1/NAME/SKILL.md`, whatever the working folder."""
    above = skill_folder(path)[:-1]
    return len(above) == 1 and not is_rooted(path) and bool(_ALIAS.fullmatch(fold(above[0])))


def _resolve(path: str, context: ReadContext) -> str:
    plain = path.replace("\\", "/")
    head, _, rest = plain.partition("/")
    if fold(head) in _HOMES and context.home:
        return f"{context.home}{_HOMES[fold(head)]}/{rest}"
    if not is_rooted(plain) and context.cwd:
        return f"{context.cwd}/{plain}"
    return plain


def _under(path: str, root: str, context: ReadContext) -> bool:
    parts = [fold(part) for part in split_path(path)]
    wanted = [fold(part) for part in split_path(root)]
    if path.startswith("/") or path[1:2] == ":":
        if not is_rooted(root):
            return any(parts[at : at + len(wanted)] == wanted for at in range(len(parts)))
        return parts[: len(wanted)] == wanted
    if path.startswith(("~", "$")):
        return bool(parts) and parts[: len(wanted)] == wanted
    above = [fold(part) for part in skill_folder(path)[:-1]]
    if "skills" not in wanted:
        return "skills" in above and ".." not in parts
    needed = 2 if wanted[-2:-1] and wanted[-2].startswith(".") else 1
    return len(above) >= needed and wanted[-len(above) :] == above
