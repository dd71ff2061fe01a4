"""Finds what an agent wrote to its session logs while a unit ran: the log fallback's bytes.

It judges nothing, and never raises over what an agent did to its logs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from routing_action.evidence.gc_pause import no_collector
from routing_action.run.logs.log_table import LogTable, Look, Seen, split_path
from routing_action.run.logs.log_targets import LogTarget
from routing_action.run.logs.log_walk import (
    DiskFileSystem,
    LogFileSystem,
    LogWalk,
    read_lines,
    seen_of,
)

MOST_FILES = 60
MOST_BYTES = 300_000
_SIZE, _INODE = 1, 2


class LogLines(NamedTuple):
    """The whole lines, each with its newline, that a file gained."""

    path: str
    data: bytes


class LogScanner:
    """Remembers the logs of one agent, and gives each unit only what was written in its time.

    One snapshot serves a whole batch; after each unit the offsets move on. It is for units that
    run one after the other: of those that run at once nobody can tell who wrote a line into a
    shared folder.
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
        self._known: LogTable | None = None
        self._tails: dict[str, int] = {}

    @no_collector()
    def snapshot(self) -> None:
        """Remember the logs as they are; further calls do nothing, so that there is only one."""
        if self._known is None:
            self._known = LogTable()
            self._walk.walk(self._known.add)

    @no_collector()
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
        look = Look(self._known)
        self._walk.walk(look.take)
        changed = self._changed(self._known, look)
        starts = self._starts(self._known, changed, look, closed)
        self._tails.clear()
        self._known.update(look.differing)
        found: list[LogLines] = []
        budget = self._max_bytes
        newest = sorted(starts, key=changed.__getitem__, reverse=True)[: self._max_files]
        for path in newest:
            data, tail = self._read(path, changed[path], starts[path], budget)
            if tail is not None and not final:
                self._tails[path] = tail
            if data:
                found.append(LogLines(path, data))
                budget -= len(data)
        return found

    def _changed(self, known: LogTable, look: Look) -> dict[str, Seen]:
        """Each file that changed, or of which an unfinished line waits."""
        waiting = {path: seen for path in self._tails if (seen := look.get(path)) is not None}
        return {**waiting, **look.changed()}

    def _starts(
        self, known: LogTable, changed: dict[str, Seen], look: Look, closed: frozenset[str]
    ) -> dict[str, int]:
        """Where the new bytes of each changed file begin.

        A file in a folder that could not be listed before is not new: it is taken as settled.
        """
        moved = {
            seen[_INODE]
            for path, seen in changed.items()
            if (old := known.get(path)) is None or old[_INODE] != seen[_INODE]
        }
        before: dict[int, str] = {}
        if moved:
            before = {seen[_INODE]: path for path, seen in known.items() if seen[_INODE] in moved}
        return {
            path: self._start(path, seen, known, before, look)
            for path, seen in changed.items()
            if known.get(path) is not None or not _lies_in(path, closed)
        }

    def _start(
        self, path: str, seen: Seen, known: LogTable, before: dict[int, str], look: Look
    ) -> int:
        """The offset of a file that grew or was renamed; 0 for a new, a cut or a replaced one.

        Known by its inode: a rotated log is the same file under another name. Inodes are used
        again, so a file whose old name is gone is the same only where nothing else changed.
        """
        old_path, old = path, known.get(path)
        if old is None or old[_INODE] != seen[_INODE]:
            old_path = before.get(seen[_INODE], "")
            old = known.get(old_path)
        if old is None or not seen[_INODE] or seen[_SIZE] < old[_SIZE]:
            return 0
        if old != seen and look.get(old_path) is None:
            return 0
        return self._tails.get(old_path, old[_SIZE])

    def _read(self, path: str, seen: Seen, start: int, limit: int) -> tuple[bytes, int | None]:
        """A changed file's new lines within the limit, and where its unfinished line begins."""
        if limit <= 0 or seen[_SIZE] <= start:
            return b"", None
        try:
            descriptor = self._disk.open(path)
        except OSError:
            return b"", None
        try:
            return self._read_open(path, descriptor, seen, start, limit)
        except OSError:
            return b"", None
        finally:
            os.close(descriptor)

    def _read_open(
        self, path: str, descriptor: int, seen: Seen, start: int, limit: int
    ) -> tuple[bytes, int | None]:
        status = os.fstat(descriptor)
        if self._known is None or not stat.S_ISREG(status.st_mode):
            return b"", None
        now = seen_of(status)
        folder, name = split_path(path)
        self._known.add(folder, {name: now})
        if now[_INODE] != seen[_INODE] or now[_SIZE] < start:  # replaced or cut since the walk
            start = 0
        data, tail = read_lines(descriptor, start, now[_SIZE], limit)
        return data, tail if tail < now[_SIZE] else None


def _lies_in(path: str, folders: frozenset[str]) -> bool:
    return any(path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
