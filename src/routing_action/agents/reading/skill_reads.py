"""Which SKILL.md files a command has shown, and whether a path lies where skills were staged.

A file was shown where the frontmatter is in the output.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from routing_action.agents.provider import ReadContext
from routing_action.agents.shell.reads import CommandReads, is_rooted, reads_of
from routing_action.corpus.frontmatter import Frontmatter, find_frontmatter
from routing_action.corpus.identity import NO_SKILLS, KnownSkill, SkillIndex
from routing_action.corpus.naming import fold, is_skill_file, skill_folder, skill_key, split_path

_ALIAS = re.compile(r"r\d+")  # codex' short name of a root in its catalogue, such as r1
_UNREADABLE = re.compile(
    r"^(?:[\w./+-]{1,40}: [^\n]{0,600}"
    r"(?:No such file|Permission denied|Is a dir|annot open|n't read)"
    r"|[^\n]{0,80}(?:Cannot find path|FileNotFoundError))[^\n]{0,600}",
    re.MULTILINE,
)
_SILENCED = re.compile(r"2>|&>|\|\||-ErrorAction|ErrorActionPreference", re.IGNORECASE)
_SKILL_PATHS = re.compile(
    r"(?<![^\s'\"`,;|&()<>=\[\]])[^\s'\"`,;|&()<>={}\[\]$*?]{1,400}/SKILL\.md(?![\w.-])",
    re.IGNORECASE,
)
_ROOTS = re.compile(r"(?<![^\s'\"`,;|&()<>={}])[\w./~:-]{0,200}?\bskills(?=[/\s'\"`,;){]|$)")
_HEAD = 10_000
_FEW = 100
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
    declared: str = ""


def shown_files(
    command: str, cwd: str, output: str, skills_known: SkillIndex = NO_SKILLS
) -> ShownFiles:
    """Judge a command that exited well by what it names and by what it printed.

    `declared` is the name that the frontmatter of the only SKILL.md shows, where that is another
    one than its folder's.
    """
    reads = reads_of(command, cwd)
    if not output.strip() or output.strip() == "\n".join(reads.spoken).strip():
        return ShownFiles((), ())
    # The lines that say that a file could not be read, in the words of the usual programs.
    errors = islice(_UNREADABLE.finditer(output), _MOST)
    reported = [match[0].replace("\\", "/") for match in errors]
    named = islice(dict.fromkeys(reads.files), _MOST)
    shown = [path for path in named if not _is_reported(path, reported)]
    skills = [path for path in shown if is_skill_file(path)]
    silenced = len(shown) > 1 and _SILENCED.search(command) is not None
    names = _declared_names(reads, output)
    proven, alone = _proven_reads(skills, reads, names, silenced=silenced, known=skills_known)
    others = dict.fromkeys(_by_output(command, output, reads, names, skills_known))
    only = names.names if alone and len(names.names) == 1 else ()
    return ShownFiles(
        files=tuple(path for path in shown if path not in skills),
        skills=(
            *((path, path in proven and path not in reads.late) for path in skills),
            *((path, True) for path in others if path not in proven),
        ),
        declared="".join(only),
    )


def in_a_skills_root(path: str, *, roots_known: bool) -> bool:
    """True below a folder named `skills`, a staged root, or a root alias of codex' catalogue."""
    parts = [fold(part) for part in split_path(path)]
    alias = len(parts) == len(("r1", "name", "SKILL.md")) and _ALIAS.fullmatch(parts[0])
    return "skills" in parts[:-2] or bool(alias) or (roots_known and len(parts) > 1)


def _declared_names(reads: CommandReads, output: str) -> Frontmatter:
    """The frontmatter in the output that the command did not say itself."""
    shown = find_frontmatter(output)
    spoken = find_frontmatter("\n".join(reads.spoken).replace("\\n", "\n"))
    return Frontmatter(shown.names - spoken.names, shown.opens and not spoken.opens)


def _proven_reads(
    skills: list[str], reads: CommandReads, shown: Frontmatter, *, silenced: bool, known: SkillIndex
) -> tuple[set[str], bool]:
    """The SKILL.md paths whose frontmatter the output shows, and whether it is that of one alone.

    The frontmatter names the skill; or the command reads one SKILL.md alone, and a frontmatter
    opens. The latter is not believed where the command hides its errors (`silenced`) and prints
    other files, one of which may have opened it.
    """
    alone = len(skills) == 1 and shown.opens and not silenced
    return {path for path in skills if alone or _names_of(path, known) & _keys(shown)}, alone


def _keys(shown: Frontmatter) -> set[str]:
    return {skill_key(name) for name in shown.names}


def _names_of(path: str, known: SkillIndex) -> set[str]:
    """What the file at a path may call itself: its folder's name, or what the staged one does."""
    own = [name for one in known.at(path) for name in one.names]
    return {skill_key(name) for name in (*own, (skill_folder(path) or ("",))[-1])}


def _by_output(
    command: str, output: str, reads: CommandReads, shown: Frontmatter, known: SkillIndex
) -> Iterator[str]:
    """The SKILL.md paths that the output alone proves.

    The command names the file or the skill in another way than to a program that prints files, or
    the output begins a staged file.
    """
    named = [path for path in dict.fromkeys(reads.possible) if is_skill_file(path)]
    if reads.open_ended:
        text = "\n".join((command, *reads.decoded)).replace("\\", "/")
        named += [_in(reads.cwd, path) for path in _SKILL_PATHS.findall(text)]
        root = _ROOTS.search(text)
        folders = {one.folder for name in shown.names for one in known.named(name)} | shown.names
        named += [
            _in(reads.cwd, f"{root[0]}/{folder}/SKILL.md")
            for folder in sorted(folders)[:_FEW]
            if root
            and not any(skill_folder(path)[-1:] == (folder,) for path in named)
            and re.search(rf"(?<![\w-]){re.escape(folder)}(?![\w-])", text)
        ]
    written = set(reads.written)
    named = [path for path in named[:_MOST] if path not in written]
    found = [path for path in named if _names_of(path, known) & _keys(shown)]
    yield from found
    begins = output.lstrip("\ufeff \t\r\n").startswith("---")
    others = any(known.named(name) for name in shown.names)
    if not found and begins and len(set(named)) == 1 and shown.opens and not others:
        yield named[0]
    if reads.unknown and begins and not named:
        places = (_place(one) for one in known.skills if _is_beginning(output, one, shown))
        yield from (one for one in places if not any(path.endswith(one) for path in written))


def _is_beginning(output: str, skill: KnownSkill, shown: Frontmatter) -> bool:
    """True where an output begins with the staged file's own first lines."""
    names = {skill_key(name) for name in skill.names}
    head = " ".join(output[:_HEAD].split())
    return bool(names & _keys(shown)) and bool(skill.description) and skill.description[:60] in head


def _place(skill: KnownSkill) -> str:
    inside = "skills" in skill.place.split("/")[:-1]
    return f"{skill.place if inside else f'skills/{skill.folder}'}/SKILL.md"


def _in(cwd: str, path: str) -> str:
    return path if is_rooted(path) or not cwd else posixpath.join(cwd, path)


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
