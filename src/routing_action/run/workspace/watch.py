"""Notices that files were touched, by what only the kernel writes of them.

A file's ctime cannot be set back (inode(7)), so what was changed and put back is noticed too.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from routing_action.files.plain_files import hash_file, read_head
from routing_action.run.workspace.visible_files import shown

_Stamp: TypeAlias = tuple[int, ...] | None

# What agent CLIs read in the folders above the one that they work in, and for the whole machine.
_INSTRUCTIONS = (
    *("AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"),
    ".claude/CLAUDE.md",
)
_MACHINE_WIDE = ("/etc/claude-code", "/etc/codex", "/etc/gemini-cli", "/etc/opencode")
_SCRIPTS = (".py", ".pyz", ".js", ".cjs", ".mjs", ".ts", ".rb", ".pl", ".php", ".sh", ".jar")
_MOST_FILES = 20_000
_MOST_SHEBANG = 256
_MOST_READ = 64 * 2**20


class Watch:
    """Files as they were when the watch began; those that `find` gives, at each look anew.

    With `by_content` a small file that was touched is the same as long as it says the same: a hard
    link to an interpreter touches it.
    """

    def __init__(
        self, find: Callable[[], Iterable[Path | str]], *, by_content: bool = False
    ) -> None:
        self._find = find
        self._by_content = by_content
        self._read: dict[str, tuple[_Stamp, str]] = {}
        self._then = self._look()

    def find_change(self) -> str:
        """The first path that was touched, appeared or is gone; "" where none was."""
        return next((f"{shown(path)} was changed" for path in self.list_changes()), "")

    def list_changes(self) -> list[str]:
        """All paths that were touched, appeared or are gone."""
        now, then = self._look(), self._then
        return [one for one in sorted(now.keys() | then.keys()) if now.get(one) != then.get(one)]

    def _look(self) -> dict[str, object]:
        return {str(path): self._state(str(path)) for path in self._find()}

    def _state(self, path: str) -> object:
        stamp = _stamp(path)
        if not self._by_content or stamp is None or stamp[3] > _MOST_READ:
            return stamp
        if path not in self._read or self._read[path][0] != stamp:
            place = Path(path)
            try:
                content = str(place.readlink()) if place.is_symlink() else hash_file(place)
            except OSError:
                content = ""
            self._read[path] = (stamp, content)
        return stamp[2], self._read[path][1]


def _stamp(path: Path | str) -> _Stamp:
    """What a change alters, whatever is done after it; None for what is not there."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_ctime_ns)


def watch_program(argv: Sequence[str], search: str | None) -> tuple[Watch, ...]:
    """Watches of what a command starts: program, script, interpreter, and its npm package.

    `search` is the agent's PATH. Files that are named relative to the workspace are part of that.
    """
    # What is not there yet is no program: an agent may be told where to write.
    words = [word for word in argv if not Path(word).is_absolute() or Path(word).exists()]
    package = [
        path for file in _program_files(words, search) for path in _package_files(Path(file))
    ]
    programs = Watch(lambda: _program_files(words, search), by_content=True)
    return programs, Watch(lambda: package)


def watch_instructions(folder: Path) -> Watch:
    """A watch of what all agents read that work below a folder; mostly, it is not there."""
    above = [place / name for place in (folder, *folder.parents) for name in _INSTRUCTIONS]
    return Watch(lambda: [*above, *(path for at in _MACHINE_WIDE for path in _files_below(at))])


def _program_files(argv: Sequence[str], search: str | None) -> Iterator[str]:
    """The program, what it starts by name (`env`, `npx`), and scripts; other files are data."""
    for word in argv:
        file = shutil.which(word, path=search) or (word if word.endswith(_SCRIPTS) else "")
        if os.path.isabs(file):  # noqa: PTH117 - one that is relative lies in the workspace
            yield from _with_target(file)
            for interpreter in _interpreters(file, search):
                yield from _with_target(interpreter)


def _with_target(path: str) -> tuple[str, str]:
    return path, os.path.realpath(path)


def _interpreters(script: str, search: str | None) -> Iterator[str]:
    """What runs a script: execve(2), 'Interpreter scripts'; with `env`, what that finds."""
    line = read_head(os.path.realpath(script), _MOST_SHEBANG).partition(b"\n")[0]
    if not line.startswith(b"#!"):
        return
    first, *rest = os.fsdecode(line[2:]).split() or [""]
    yield first
    if first.endswith("/env"):
        names = (word for word in rest if not word.startswith("-") and "=" not in word)
        yield shutil.which(next(names, ""), path=search) or ""


def _package_files(program: Path) -> Iterator[str]:
    """The files of the npm package that a program belongs to."""
    for folder in program.parents:
        if "node_modules" in folder.parts and (folder / "package.json").is_file():
            yield from _files_below(str(folder))
            return


def _files_below(folder: str) -> list[str]:
    found: list[str] = []
    for place, _, names in os.walk(folder):
        found += [f"{place}/{name}" for name in names]
        if len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]
