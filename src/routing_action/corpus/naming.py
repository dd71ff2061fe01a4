"""How tokens, skill names and paths are compared: whole, case-insensitive, separators normalised.

A skill token is a skill's name, bare (`widget-testing`) or qualified by its plugin
(`acme:widget-testing`). A file token names a file by the end of its path
(`widget-testing/SKILL.md`). Nothing here reads a disk.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

SKILL_FILE = "skill.md"

_FILE_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_SEPARATORS = re.compile(r"[/\\]+")
_JOINTS = re.compile(r"[\s_-]+")
_VERSION = re.compile(
    r"v?\d+(?:\.\d+)*(?:[-+.][\w.-]+)?|[0-9a-f]{7,40}|local|latest|unknown", re.IGNORECASE
)


def is_file_token(token: str) -> bool:
    """True where a token names a file: it has a separator, or an ending such as `.md`."""
    return "/" in token or "\\" in token or bool(_FILE_ENDING.search(token))


def split_path(path: str) -> tuple[str, ...]:
    """The components of a path: both separators alike, `.` dropped and `a/..` folded."""
    parts: list[str] = []
    for part in _SEPARATORS.split(path.strip().strip("\"'")):
        if part in ("", "."):
            continue
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return tuple(parts)


def fold(text: str) -> str:
    """The form in which names are compared: in one case, and with composed characters (NFC)."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def skill_key(name: str) -> str:
    """The form that a skill's name and its display form share: `Pair Programming` and others."""
    return _JOINTS.sub("-", fold(name).strip())


def skill_folder(path: str) -> tuple[str, ...]:
    """The components of the skill's own folder: the path itself, or the parent of SKILL.md."""
    parts = split_path(path)
    return parts[:-1] if parts and fold(parts[-1]) == SKILL_FILE else parts


def is_skill_file(path: str) -> bool:
    """True where the path's last component is exactly SKILL.md, in any case."""
    parts = split_path(path)
    return bool(parts) and fold(parts[-1]) == SKILL_FILE


def bare_name(token: str) -> str:
    """The skill that a token speaks of: without its plugin, of a file the folder that it is in."""
    parts = skill_folder(token) if is_skill_file(token) else split_path(token)
    return (parts[-1].rpartition(":")[2] or parts[-1]) if parts else ""


def plugin_of(path: str) -> str:
    """The plugin that a skill's base directory lies in, or "" where none can be told.

    Known layouts: `plugins/cache/MARKET/PLUGIN/VERSION/skills/SKILL` (codex, claude) and
    `PLUGIN/skills/SKILL`, where a version folder may stand between. A dotted folder such as
    `.claude` is a home or a repository folder, no plugin.
    """
    folder = skill_folder(path)
    lowered = [fold(part) for part in folder]
    for index in range(len(lowered) - 4):
        if lowered[index : index + 2] == ["plugins", "cache"]:
            return folder[index + 3]
    if "skills" not in lowered[:-1]:
        return ""
    above = len(lowered) - 2 - lowered[-2::-1].index("skills") - 1
    if above >= 1 and _VERSION.fullmatch(folder[above]):
        above -= 1
    return folder[above] if above >= 0 and not folder[above].startswith((".", "~", "$")) else ""


def same_skill(called: str, token: str) -> bool:
    """True where a call of `called` is a call of `token`.

    A bare token matches a qualified call; a qualified token matches only itself. A name and its
    display form (`pair-programming`, `Pair Programming`) are the same.
    """
    called, token = skill_key(called), skill_key(token)
    if not called or not token:
        return False
    return called == token or (":" not in token and called.rpartition(":")[2] == token)


def path_is_skill(path: str, token: str) -> bool:
    """True where the path's own folder is the skill's; a qualified token needs its plugin too."""
    plugin, _, name = token.rpartition(":")
    folder = skill_folder(path)
    if not folder or fold(folder[-1]) != fold(name):
        return False
    return not plugin or fold(plugin_of(path)) == fold(plugin)


def path_is_file(path: str, token: str) -> bool:
    """True where the path ends in the file token, at a component boundary."""
    wanted = [fold(part) for part in split_path(token)]
    parts = [fold(part) for part in split_path(path)]
    return bool(wanted) and parts[-len(wanted) :] == wanted


@lru_cache(maxsize=4096)
def _whole_word(token: str) -> re.Pattern[str]:
    """A token that stands for itself: not part of a longer name, `foo` in `my-foo` is none."""
    plain = re.escape(unicodedata.normalize("NFC", token))
    return re.compile(rf"(?<![\w-])(?<!\w\.){plain}(?![\w-]|[.:]\w)", re.IGNORECASE)


def names_token(text: str, token: str) -> bool:
    """True where free text names the token whole.

    For a skill token a path component counts only as a skill's own folder (below a `skills`
    folder, or right before SKILL.md): a checkout folder of the same name proves nothing.
    """
    if not token:
        return False
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if is_file_token(token):
        whole = _whole_word("/".join(split_path(token)))
        return whole.search(_SEPARATORS.sub("/", text)) is not None
    return any(_stands_as_skill(text, *m.span()) for m in _whole_word(token).finditer(text))


_BEFORE = re.compile(r"(?:^|[/\\])skills(?:[/\\]\.?[\w-]+)?[/\\]+$", re.IGNORECASE)
_AFTER = re.compile(r"[/\\]+SKILL\.md(?![\w.-])", re.IGNORECASE)


def _stands_as_skill(text: str, start: int, end: int) -> bool:
    """True unless the match is a path component that is not a skill's folder."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if before not in ("/", "\\") and after not in ("/", "\\"):
        return True
    head = text[max(0, start - 200) : start]
    word_start = max(head.rfind(c) for c in " \t\n\"'`=(") + 1
    return bool(_BEFORE.search(head[word_start:]) or _AFTER.match(text, end))
