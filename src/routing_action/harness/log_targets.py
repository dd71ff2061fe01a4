"""Names the log files that a provider's globs stand for; it lists nothing.

`*` and `?` stay within a path component, `**` stands for any number of folders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
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

    @cached_property
    def matches(self) -> Callable[[str], object]:
        """Says whether the glob names a path that was built from the root (None: it does not)."""
        head = re.escape(self.root.rstrip("/"))
        return re.compile(f"{head}/{_translate(self.pattern or '**')}", re.DOTALL).fullmatch

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


def _translate(pattern: str) -> str:
    """A regular expression for a glob of several components."""
    parts = pattern.split("/")
    last = len(parts) - 1
    return "".join(_component(part, at == last) for at, part in enumerate(parts))


def _component(part: str, is_last: bool) -> str:
    if part == "**":
        return ".*" if is_last else "(?:[^/]+/)*"
    wild = "".join(_WILDCARDS.get(character) or re.escape(character) for character in part)
    return wild if is_last else f"{wild}/"
