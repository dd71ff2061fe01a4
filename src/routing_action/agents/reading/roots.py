"""Tells whether a path that an agent named lies under the folder that the skills were staged in."""

from __future__ import annotations

import re

from routing_action.corpus.naming import fold, skill_folder, split_path
from routing_action.evidence.reader_protocol import ReadContext

_ALIAS = re.compile(r"r\d+")  # codex' short name of a root in its catalogue, such as r1
# Where a home path begins, below the unit's home; the variables are those of the providers.
_HOMES = {
    "~": "",
    "$home": "",
    "$codex_home": "/.codex",
    "$claude_config_dir": "/.claude",
    "$copilot_home": "/.copilot",
}


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
    return len(above) == 1 and not _is_rooted(path) and bool(_ALIAS.fullmatch(fold(above[0])))


def _resolve(path: str, context: ReadContext) -> str:
    plain = path.replace("\\", "/")
    head, _, rest = plain.partition("/")
    if fold(head) in _HOMES and context.home:
        return f"{context.home}{_HOMES[fold(head)]}/{rest}"
    if not _is_rooted(plain) and context.cwd:
        return f"{context.cwd}/{plain}"
    return plain


def _is_rooted(path: str) -> bool:
    return path.startswith(("/", "~", "$")) or path[1:2] == ":"


def _under(path: str, root: str, context: ReadContext) -> bool:
    parts = [fold(part) for part in split_path(path)]
    wanted = [fold(part) for part in split_path(root)]
    if path.startswith("/") or path[1:2] == ":":
        if not _is_rooted(root):
            return any(parts[at : at + len(wanted)] == wanted for at in range(len(parts)))
        return parts[: len(wanted)] == wanted
    if path.startswith(("~", "$")):
        return bool(parts) and parts[: len(wanted)] == wanted
    above = [fold(part) for part in skill_folder(path)[:-1]]
    if "skills" not in wanted:
        return "skills" in above and ".." not in parts
    needed = 2 if wanted[-2:-1] and wanted[-2].startswith(".") else 1
    return len(above) >= needed and wanted[-len(above) :] == above
