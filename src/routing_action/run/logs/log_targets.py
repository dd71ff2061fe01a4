"""Names the log files that a provider's globs stand for; it lists nothing.

`*` and `?` stay within a path component, `**` stands for any number of folders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import methodcaller
from pathlib import Path

_WILD = re.compile(r"[*?]")
_WILDCARDS = {"*": "[^/]*", "?": "[^/]"}
_DEEPEST = 64


@dataclass(frozen=True)
class LogTarget:
    """A folder (or one file) to look at, and the glob that a file below it must match.

    An empty pattern means everything below the folder, or the file that `root` itself is.
    """

    root: str
    pattern: str = ""

    def names(self, folder: str) -> Callable[[str], object]:
        """Says which names of files right below a folder the glob stands for.

        The folder is named as it is when walked from the root.
        """
        head, name = self._parts
        below = folder[len(self.root.rstrip("/")) + 1 :]
        return name if head(f"{below}/" if below else "") else _no_name

    @cached_property
    def _parts(self) -> tuple[Callable[[str], object], Callable[[str], object]]:
        """What matches the folders of the glob, each with its slash, and what matches the name."""
        *folders, last = (self.pattern or "**").split("/")
        if last == "**":
            folders.append("**")
        head = re.compile("".join(_component(part, is_last=False) for part in folders), re.DOTALL)
        return head.fullmatch, _name_matcher(last)

    @property
    def depth(self) -> int:
        """How many levels of folders below the root can hold a match."""
        parts = self.pattern.split("/")
        return _DEEPEST if not self.pattern or "**" in parts else len(parts) - 1


def make_targets(globs: Iterable[str], home: Path) -> tuple[LogTarget, ...]:
    """Targets of globs that are relative to a home, or absolute; a plain folder is taken whole.

    The folder to look at goes as deep as the glob has no wildcard, so that no scan walks a home.
    """
    return tuple(_make_target(glob, home) for glob in globs)


def _make_target(glob: str, home: Path) -> LogTarget:
    parts = [part for part in glob.split("/") if part not in ("", ".")]
    plain = next((at for at, part in enumerate(parts) if _WILD.search(part)), len(parts))
    start = Path("/") if glob.startswith("/") else home
    return LogTarget(str(start.joinpath(*parts[:plain])), "/".join(parts[plain:]))


def _component(part: str, is_last: bool) -> str:
    if part == "**":
        return ".*" if is_last else "(?:[^/]+/)*"
    wild = "".join(_WILDCARDS.get(character) or re.escape(character) for character in part)
    return wild if is_last else f"{wild}/"


def _name_matcher(part: str) -> Callable[[str], object]:
    """For one component; most are all names, or all names with an ending."""
    ending = part.lstrip("*")
    if not _WILD.search(ending) and part.count("*") == len(part) - len(ending) > 0:
        return methodcaller("endswith", ending)  # asked of each file: no call of Python's own
    return re.compile(_component(part, is_last=True), re.DOTALL).fullmatch


def _no_name(_name: str) -> object:
    return None
