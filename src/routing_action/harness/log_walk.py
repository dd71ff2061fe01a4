"""Walks the folders of an agent's session logs, and reads whole lines of a file's new part.

Agents write these folders and files while they are read: links are not followed, and what
vanishes or cannot be read is passed over.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from routing_action.harness.log_targets import LogTarget


class LogFileSystem(Protocol):
    """The questions that a scan asks of a disk; a test counts them."""

    def scandir(self, path: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """List a folder."""
        ...

    def stat(self, path: str) -> os.stat_result:
        """A path's own status, not that of what a link names."""
        ...

    def open(self, path: str) -> int:
        """A descriptor for reading; never through a link, never waiting for a writer."""
        ...


class DiskFileSystem:
    """The real one."""

    def scandir(self, path: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """List a folder."""
        return os.scandir(path)

    def stat(self, path: str) -> os.stat_result:
        """A path's own status."""
        return Path(path).lstat()

    def open(self, path: str) -> int:
        """A descriptor for reading."""
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


class Seen(NamedTuple):
    """What a walk found of a file: mtime in nanoseconds, bytes, inode number (0: unknown)."""

    modified: int
    size: int
    inode: int


class LogWalk:
    """Walks the targets; `blind` are folders that could not be listed the last time."""

    def __init__(self, targets: Iterable[LogTarget], disk: LogFileSystem) -> None:
        self._targets = tuple(targets)
        self._disk = disk
        self.blind: set[str] = set()

    def walk(self) -> dict[str, Seen]:
        """Every file that a target names, by its path."""
        return {path: seen for target in self._targets for path, seen in self._files(target)}

    def _files(self, target: LogTarget) -> Iterator[tuple[str, Seen]]:
        waiting = [(target.root, 0)]
        while waiting:
            folder, depth = waiting.pop()
            entries = self._list(folder)
            if entries is None:
                yield from self._single_file(target)
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if depth < target.depth:
                        waiting.append((entry.path, depth + 1))
                elif entry.is_file(follow_symlinks=False) and target.matches(entry.path):
                    yield from _status(entry)

    def _list(self, folder: str) -> list[os.DirEntry[str]] | None:
        """A folder's entries; none where it is gone or closed to us, None where it is a file."""
        try:
            with self._disk.scandir(folder) as entries:
                listed = list(entries)
        except NotADirectoryError:
            return None
        except FileNotFoundError:
            return []
        except OSError:
            self.blind.add(folder)
            return []
        self.blind.discard(folder)
        return listed

    def _single_file(self, target: LogTarget) -> Iterator[tuple[str, Seen]]:
        """The target's root, where it is a file and not a folder that just became one."""
        try:
            status = self._disk.stat(target.root)
        except OSError:
            return
        if stat.S_ISREG(status.st_mode) and not target.pattern:
            yield target.root, seen_of(status)


def seen_of(status: os.stat_result) -> Seen:
    """The part of a status that tells whether a file changed."""
    return Seen(status.st_mtime_ns, status.st_size, status.st_ino)


def _status(entry: os.DirEntry[str]) -> Iterator[tuple[str, Seen]]:
    try:
        yield entry.path, seen_of(entry.stat(follow_symlinks=False))
    except OSError:  # it vanished
        return


def read_lines(descriptor: int, offset: int, size: int, budget: int) -> tuple[bytes, int]:
    """The whole lines from `offset` to `size`, and where the unfinished last line begins.

    Of more than `budget` bytes the last are taken. Where the reading starts inside a line (the
    byte before is no newline), the rest of that line is passed over.
    """
    start = max(offset, size - budget)
    lead = 1 if start else 0
    raw = _read_all(descriptor, start - lead, size - start + lead)
    end = start - lead + len(raw)
    first = lead if raw.startswith(b"\n") or not lead else raw.find(b"\n") + 1
    if lead and not first:
        return b"", end
    last = raw.rfind(b"\n") + 1
    if last <= first:
        return b"", end - len(raw) + first
    return raw[first:last], end - len(raw) + last


def _read_all(descriptor: int, start: int, length: int) -> bytes:
    """The bytes of a range; fewer where the file was cut meanwhile."""
    blocks: list[bytes] = []
    while length > 0 and (block := os.pread(descriptor, length, start)):
        blocks.append(block)
        start += len(block)
        length -= len(block)
    return b"".join(blocks)
