"""Keeps what is known of an agent's session logs, by folder; it reads no disk.

A home can hold a hundred thousand logs, of which a unit touches a few. So a folder is compared as
a whole: that needs no path of any log, and no second table of them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

Seen: TypeAlias = tuple[int, int, int]
"""What a walk found of a file: mtime in nanoseconds, bytes, inode number (0: unknown)."""


def split_path(path: str) -> tuple[str, str]:
    """The folder with its last slash, and the name."""
    end = path.rfind("/") + 1
    return path[:end], path[end:]


class LogTable:
    """What was seen of logs; a folder's name ends in a slash."""

    def __init__(self) -> None:
        self._folders: dict[str, dict[str, Seen]] = {}

    def add(self, folder: str, files: dict[str, Seen]) -> None:
        """Take what was seen of a folder's files; what is known of its other files stays."""
        known = self._folders.setdefault(folder, files)
        if known is not files:
            known.update(files)

    def update(self, other: LogTable) -> None:
        """Take all that another table holds; it is not to be used any more."""
        for folder, files in other._folders.items():
            self.add(folder, files)

    def get(self, path: str) -> Seen | None:
        """What was seen of a file, None where it is not known."""
        folder, name = split_path(path)
        files = self._folders.get(folder)
        return files.get(name) if files else None

    def is_exactly(self, folder: str, files: dict[str, Seen]) -> bool:
        """Whether these are the files that are known of a folder, all of them and unchanged."""
        return self._folders.get(folder) == files

    def without(self, other: LogTable) -> Iterator[tuple[str, Seen]]:
        """The items that another table does not have, or has otherwise."""
        for folder, files in self._folders.items():
            known = other._folders.get(folder, {})
            for name, seen in files.items():
                if known.get(name) != seen:
                    yield folder + name, seen

    def items(self) -> Iterator[tuple[str, Seen]]:
        """Each path with what was seen of it."""
        for folder, files in self._folders.items():
            for name, seen in files.items():
                yield folder + name, seen


class Look:
    """A later walk, held against what was known before it; it holds only what differs."""

    def __init__(self, known: LogTable) -> None:
        self.differing = LogTable()
        self._known = known
        self._same: set[str] = set()

    def take(self, folder: str, files: dict[str, Seen]) -> None:
        """Take what the walk found in a folder."""
        if self._known.is_exactly(folder, files):
            self._same.add(folder)
        else:
            self.differing.add(folder, files)

    def get(self, path: str) -> Seen | None:
        """What the walk saw of a file, None where it is not there any more."""
        seen = self.differing.get(path)
        if seen is None and split_path(path)[0] in self._same:
            seen = self._known.get(path)
        return seen

    def changed(self) -> dict[str, Seen]:
        """Each file that is new or not as it was known."""
        return dict(self.differing.without(self._known))
