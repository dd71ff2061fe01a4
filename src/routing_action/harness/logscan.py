"""Finds what an agent wrote to its session logs while a unit ran: the log fallback's bytes.

It judges nothing, and never raises over what an agent did to its logs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from routing_action.harness.log_targets import LogTarget
from routing_action.harness.log_walk import (
    DiskFileSystem,
    LogFileSystem,
    LogWalk,
    Seen,
    read_lines,
    seen_of,
)

MOST_FILES = 60
MOST_BYTES = 300_000


class LogLines(NamedTuple):
    """The whole lines, each with its newline, that a file gained."""

    path: str
    data: bytes


class _Known(NamedTuple):
    """A file as it was last seen, and up to where its bytes are settled."""

    seen: Seen
    offset: int


class LogScanner:
    """Remembers the logs of one agent, and gives each unit only what was written in its time.

    One snapshot serves a whole batch; after each unit the offsets move on (design.md, "Evidence",
    item 10; performance.md, finding 6). It is for units that run one after the other: of those
    that run at once nobody can tell who wrote a line into a shared folder.
    """

    def __init__(
        self,
        targets: Iterable[LogTarget],
        *,
        max_files: int = MOST_FILES,
        max_bytes: int = MOST_BYTES,
        file_system: LogFileSystem | None = None,
    ) -> None:
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._disk = file_system or DiskFileSystem()
        self._walk = LogWalk(targets, self._disk)
        self._known: dict[str, _Known] | None = None
        self._waiting: set[str] = set()

    def snapshot(self) -> None:
        """Remember the logs as they are; further calls do nothing, so that there is only one."""
        if self._known is None:
            self._known = {
                path: _Known(seen, seen.size) for path, seen in self._walk.walk().items()
            }

    def new_lines(self, *, final: bool = True) -> list[LogLines]:
        """The whole lines written since the last call, or the snapshot; the newest file first.

        At most `max_files` files and `max_bytes` bytes; what is beyond them is never given.
        A last line without its newline is not given. With `final` (a unit has ended) it never
        will be: its rest, written later, belongs to no unit. Otherwise it waits for the next
        call. The first call without a snapshot takes one, and gives nothing.
        """
        if self._known is None:
            self.snapshot()
            return []
        closed = frozenset(self._walk.blind)
        current = self._walk.walk()
        starts = self._starts(self._known, current, closed)
        found: list[LogLines] = []
        budget = self._max_bytes
        for count, path in enumerate(sorted(starts, key=current.__getitem__, reverse=True)):
            limit = budget if count < self._max_files else 0
            data, self._known[path] = self._read(path, current[path], starts[path], limit, final)
            if data:
                found.append(LogLines(path, data))
                budget -= len(data)
        return found

    def _starts(
        self, known: dict[str, _Known], current: dict[str, Seen], closed: frozenset[str]
    ) -> dict[str, int]:
        """Where the new bytes of each changed file begin.

        A file in a folder that could not be listed before is not new: it is taken as settled.
        """
        changed = [
            path
            for path, seen in current.items()
            if path in self._waiting or path not in known or known[path].seen != seen
        ]
        before = _by_inode(known, {current[path].inode for path in changed})
        starts = {path: _start(path, known, before, current) for path in changed}
        for path in changed:
            if path not in known and _lies_in(path, closed):
                starts[path] = current[path].size
        return starts

    def _read(
        self, path: str, seen: Seen, start: int, limit: int, final: bool
    ) -> tuple[bytes, _Known]:
        """A changed file's new lines within the limit, and what to remember of it."""
        self._waiting.discard(path)
        if limit <= 0 or seen.size <= start:
            return b"", _Known(seen, seen.size)
        try:
            descriptor = self._disk.open(path)
        except OSError:
            return b"", _Known(seen, seen.size)
        try:
            status = os.fstat(descriptor)
            now = seen_of(status)
            if not stat.S_ISREG(status.st_mode):
                return b"", _Known(seen, seen.size)
            if now.inode != seen.inode or now.size < start:  # replaced or cut since the walk
                start = 0
            data, tail = read_lines(descriptor, start, now.size, limit)
        except OSError:
            return b"", _Known(seen, seen.size)
        finally:
            os.close(descriptor)
        if final or tail >= now.size:
            return data, _Known(now, now.size)
        self._waiting.add(path)
        return data, _Known(now, tail)


def _by_inode(known: dict[str, _Known], inodes: set[int]) -> dict[int, str]:
    """Under which path each of the inodes was known."""
    return {entry.seen.inode: path for path, entry in known.items() if entry.seen.inode in inodes}


def _start(
    path: str, known: dict[str, _Known], before: dict[int, str], current: dict[str, Seen]
) -> int:
    """The offset of a file that grew or was renamed; 0 for a new, a cut or a replaced one.

    Known by its inode: a rotated log is the same file under another name. Inodes are used again,
    so a file whose old name is gone is the same only where nothing else changed.
    """
    seen = current[path]
    entry = known.get(path)
    if entry is not None and entry.seen.inode == seen.inode:
        return entry.offset if seen.size >= entry.seen.size else 0
    old_path = before.get(seen.inode, "")
    old = known.get(old_path)
    if old is None or not seen.inode or seen.size < old.seen.size:
        return 0
    return old.offset if old_path in current or old.seen == seen else 0


def _lies_in(path: str, folders: frozenset[str]) -> bool:
    return any(path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
