"""Walks the folders of an agent's session logs, and reads whole lines of a file's new part.

Agents write these folders and files while they are read: links are not followed, and what
vanishes or cannot be read is passed over.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from routing_action.evidence.gc_pause import no_collector
from routing_action.run.logs.log_table import Seen, split_path
from routing_action.run.logs.log_targets import LogTarget


class LogFileSystem(Protocol):
    """The questions that a scan asks of a disk; a test counts them."""

    def scandir(self, path: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """List a folder; an entry's status can be asked for as long as it is open."""
        ...

    def stat(self, path: str) -> os.stat_result:
        """A path's own status, not that of what a link names."""
        ...

    def open(self, path: str) -> int:
        """A descriptor for reading; never through a link, never waiting for a writer."""
        ...


class DiskFileSystem:
    """The real one."""

    @contextmanager
    def scandir(self, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        """List a folder; by its descriptor, so that no entry's path is looked up from the top."""
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with os.scandir(folder) as entries:
                yield entries
        finally:
            os.close(folder)

    def stat(self, path: str) -> os.stat_result:
        """A path's own status."""
        return Path(path).lstat()

    def open(self, path: str) -> int:
        """A descriptor for reading."""
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


class LogWalk:
    """Walks the targets; `blind` are folders that could not be listed the last time."""

    def __init__(self, targets: Iterable[LogTarget], disk: LogFileSystem) -> None:
        self._targets = tuple(targets)
        self._disk = disk
        self.blind: set[str] = set()

    def walk(self, take: Callable[[str, dict[str, Seen]], None]) -> None:
        """Hand on the files that the targets name, a folder's at a time, if it holds any.

        The folder comes with its last slash. It comes again where targets share it.
        """
        with no_collector():
            for target in self._targets:
                self._walk_target(target, take)

    def _walk_target(self, target: LogTarget, take: Callable[[str, dict[str, Seen]], None]) -> None:
        waiting = [(target.root, target.depth)]
        while waiting:
            folder, depth = waiting.pop()
            try:
                with self._disk.scandir(folder) as entries:
                    files, folders = _list(entries, target.names(folder))
            except NotADirectoryError:
                self._take_single(target, take)
                continue
            except FileNotFoundError:
                continue
            except OSError:
                self.blind.add(folder)
                continue
            self.blind.discard(folder)
            prefix = f"{folder.rstrip('/')}/"
            if files:
                take(prefix, files)
            waiting += [(prefix + name, depth - 1) for name in folders if depth]

    def _take_single(self, target: LogTarget, take: Callable[[str, dict[str, Seen]], None]) -> None:
        """The target's root, where it is a file and not a folder that just became one."""
        try:
            status = self._disk.stat(target.root)
        except OSError:
            return
        if stat.S_ISREG(status.st_mode) and not target.pattern:
            folder, name = split_path(target.root)
            take(folder, {name: seen_of(status)})


def seen_of(status: os.stat_result) -> Seen:
    """The part of a status that tells whether a file changed."""
    return status.st_mtime_ns, status.st_size, status.st_ino


def _list(
    entries: Iterable[os.DirEntry[str]], names: Callable[[str], object]
) -> tuple[dict[str, Seen], list[str]]:
    """The files of a folder that are named so, and its folders. Links are neither."""
    listed = list(entries)
    files = [one for one in listed if names(one.name) and one.is_file(follow_symlinks=False)]
    folders = []
    if len(files) < len(listed):
        folders = [one.name for one in listed if one.is_dir(follow_symlinks=False)]
    try:
        found = [one.stat(follow_symlinks=False) for one in files]
    except OSError:  # one vanished
        return dict(_look_singly(files)), folders
    return {
        one.name: (status.st_mtime_ns, status.st_size, status.st_ino)
        for one, status in zip(files, found, strict=True)
    }, folders


def _look_singly(files: Iterable[os.DirEntry[str]]) -> Iterator[tuple[str, Seen]]:
    for one in files:
        with suppress(OSError):
            yield one.name, seen_of(one.stat(follow_symlinks=False))


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
