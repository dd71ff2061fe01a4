"""Finds what an agent wrote to its session logs; it judges nothing.

It never raises over what an agent did to its logs: links are not followed, and what vanishes or
cannot be read is passed over.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, NamedTuple

from routing_action.files.plain_files import open_regular, read_tail

MOST_FILES = 60
MOST_BYTES = 300_000
TAIL_BYTES = 2**18
MOST_TAILS = 50


class LogLines(NamedTuple):
    """The whole lines, each with its newline, that a file gained."""

    path: str
    data: bytes


class _Seen(NamedTuple):
    """What tells whether a file changed, the newest first in order."""

    modified_ns: int
    size: int
    inode: int


class SessionLogs:
    """Remembers the logs of one agent, and gives each unit only what was written in its time.

    One snapshot serves a whole batch; after each unit the offsets move on. It is for units that
    run one after the other: of those that run at once nobody can tell who wrote a line into a
    shared folder.
    """

    def __init__(
        self,
        globs: Iterable[str],
        home: Path,
        *,
        max_files: int = MOST_FILES,
        max_bytes: int = MOST_BYTES,
    ) -> None:
        """Take the snapshot. Globs may be relative to the home; a plain folder is taken whole."""
        self._globs = tuple(globs)
        self._home = home
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._closed: set[str] = set()
        self._known = self._look()

    def new_lines(self) -> list[LogLines]:
        """The whole lines written since the last call, or the snapshot; the newest file first.

        At most `max_files` files and `max_bytes` bytes; what is beyond them is never given, nor
        is a line that was not finished by now.
        """
        closed = frozenset(self._closed)
        now = self._look()
        changed = {path: seen for path, seen in now.items() if seen != self._known.get(path)}
        paths = {seen.inode: path for path, seen in self._known.items()} if changed else {}
        starts = {
            path: _find_start(path, now, self._known, paths)
            for path in changed
            # What comes in sight with a folder that could not be listed before may be old.
            if path in self._known or not closed.intersection(map(str, Path(path).parents))
        }
        self._known.update(now)  # what is gone stays known: a log may come back
        found: list[LogLines] = []
        room = self._max_bytes
        for path in sorted(starts, key=changed.__getitem__, reverse=True)[: self._max_files]:
            data = self._read(path, changed[path], starts[path], room)
            if data:
                found.append(LogLines(path, data))
                room -= len(data)
        return found

    def _look(self) -> dict[str, _Seen]:
        """All logs by path; notes the folders that could not be listed."""
        self._closed = set()
        found: dict[str, _Seen] = {}
        for path in _find_files(self._globs, self._home, self._closed):
            with suppress(OSError):
                status = os.lstat(path)
                if stat.S_ISREG(status.st_mode):
                    found[path] = _seen(status)
        return found

    def _read(self, path: str, seen: _Seen, start: int, room: int) -> bytes:
        """A changed file's new lines; of more than there is room for, the last ones."""
        if room <= 0 or seen.size <= start:
            return b""
        try:
            with open_regular(path) as file:
                now = self._known[path] = _seen(os.fstat(file.fileno()))
                if now.inode != seen.inode or now.size < start:  # replaced or cut since the look
                    start = 0
                return _whole_lines(file, max(start, now.size - room), now.size)
        except OSError:
            return b""


def read_log_tails(home: Path, globs: Iterable[str]) -> Iterator[bytes]:
    """The last `TAIL_BYTES` of up to `MOST_TAILS` logs below a home, ordered by path."""
    for path in sorted(set(_find_files(globs, home, set())))[:MOST_TAILS]:
        data = read_tail(path, TAIL_BYTES)
        if data:
            yield data


def _find_files(globs: Iterable[str], home: Path, closed: set[str]) -> Iterator[str]:
    """What globs name that is no folder; `closed` takes the folders that could not be listed.

    `*` and `?` stay within a path component, `**` stands for any number of folders.
    """
    for glob in globs:
        parts = [part for part in glob.split("/") if part not in ("", ".")]
        plain = list(takewhile(lambda part: not {"*", "?"}.intersection(part), parts))
        root = str(Path("/" if glob.startswith("/") else home, *plain))
        rest = parts[len(plain) :]
        if not rest:
            yield root  # it may be a file itself
        yield from _find_below(root, rest or ["**"], closed)


def _find_below(root: str, parts: list[str], closed: set[str]) -> Iterator[str]:
    waiting = [(root, parts)]
    while waiting:
        folder, (part, *rest) = waiting.pop()
        deeper = ["**", *rest] if part == "**" else rest
        if part == "**" and rest:
            waiting.append((folder, rest))
        for path, is_folder in _list(folder, part, closed):
            if not is_folder and not rest:
                yield path
            elif is_folder and deeper:
                waiting.append((path, deeper))


def _list(folder: str, name: str, closed: set[str]) -> list[tuple[str, bool]]:
    """What a folder holds of that name, each with whether it is a folder; links are none."""
    pattern = name.replace("[", "[[]")
    try:
        with os.scandir(folder) as entries:
            return [
                (entry.path, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if fnmatchcase(entry.name, pattern)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        closed.add(folder)
        return []


def _find_start(
    path: str, now: dict[str, _Seen], known: dict[str, _Seen], paths: dict[int, str]
) -> int:
    """The offset of a file that grew or was renamed; 0 for a new, a cut or a replaced one.

    Known by its inode: a rotated log is the same file under another name. Inodes are used again,
    so a file whose old name is gone is the same only where nothing else changed.
    """
    seen, old_path = now[path], path
    if path not in known or known[path].inode != seen.inode:
        old_path = paths.get(seen.inode, "")
    old = known.get(old_path)
    if old is None or seen.size < old.size or (old != seen and old_path not in now):
        return 0
    return old.size


def _seen(status: os.stat_result) -> _Seen:
    return _Seen(status.st_mtime_ns, status.st_size, status.st_ino)


def _whole_lines(file: BinaryIO, start: int, end: int) -> bytes:
    """The lines that begin at `start` or later, and end by `end`."""
    lead = 1 if start else 0  # the byte before tells whether a line begins at the start
    file.seek(start - lead)
    data = file.read(end - start + lead)
    first = data.find(b"\n") + 1 if lead else 0
    return b"" if lead and not first else data[first : data.rfind(b"\n") + 1]
