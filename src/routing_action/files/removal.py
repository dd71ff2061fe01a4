"""Removes folders that agents have written to, whatever they left there.

It never follows a symbolic link, never raises over what cannot be removed, and reports it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

_PASSES = 3
_MOST_FAILURES = 20
_PLAIN_LEVELS = 12
_QUICK_SECONDS = 0.01
_QUICK_ENTRIES = 500
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HAS_DIR_FD = {os.open, os.unlink, os.rmdir, os.rename, os.stat} <= os.supports_dir_fd


@dataclass(frozen=True, slots=True)
class Removal:
    """What became of a folder: `failures` says what is still there and why; empty means gone."""

    path: Path
    failures: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True where nothing of the folder is left."""
        return not self.failures


def remove_tree(path: Path) -> Removal:
    """Remove a folder with all that is below it; one that is not there is removed already.

    A link is unlinked, never followed. Read-only entries, folders without permissions and trees
    of any depth go too: each folder is first moved up to the top, so that no path grows long.
    Folders that a straggler still fills are tried three times.
    """
    failures: list[str] = []
    for _ in range(_PASSES):
        failures.clear()
        try:
            _remove_once(path, failures)
        except FileNotFoundError:
            return Removal(path)
        except (OSError, RecursionError) as error:
            failures.append(f"{path}: {_why(error)}")
        if not failures:
            return Removal(path)
    return Removal(path, tuple(failures[:_MOST_FAILURES]))


def remove_quickly(path: Path) -> bool:
    """Remove a folder that is small and gives no trouble, without holding up the caller.

    False where that takes more than about ten milliseconds, or anything is in the way: then
    `remove_tree` removes what is left.
    """
    if not _HAS_DIR_FD:
        return False
    end = time.monotonic() + _QUICK_SECONDS
    try:
        parent = os.open(path.parent, _FOLDER_FLAGS)
    except OSError:
        return False
    try:
        return _remove_plainly(path.name, parent, _PLAIN_LEVELS, end)
    finally:
        os.close(parent)


def _remove_once(path: Path, failures: list[str]) -> None:
    if not stat.S_ISDIR(path.lstat().st_mode):
        path.unlink()
        return
    if not _HAS_DIR_FD:
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            failures.append(f"{path}: could not be removed")
        return
    with _opened(str(path), None) as top:
        _empty(top, path, failures)
    if not failures:
        path.rmdir()


def _empty(top: int, path: Path, failures: list[str]) -> None:
    """Empty an open folder: its files go, its folders are emptied one after the other."""
    prefix = f".{secrets.token_hex(6)}-"
    moved = 0
    waiting = _clear(top, path, failures)
    while waiting:
        name = waiting.pop()
        if _remove_plainly(name, top, _PLAIN_LEVELS):
            continue
        try:
            with _opened(name, top) as folder:
                for child in _clear(folder, path / name, failures):
                    moved += 1
                    _move_up(child, folder, f"{prefix}{moved}", top)
                    waiting.append(f"{prefix}{moved}")
            os.rmdir(name, dir_fd=top)
        except OSError as error:
            failures.append(f"{path / name}: {_why(error)}")


def _remove_plainly(name: str, parent: int, levels: int, end: float | None = None) -> bool:
    """Remove a folder that gives no trouble and is not deep, which nearly all are.

    False where anything was in the way; part of it may be gone by then. With an `end` (of the
    monotonic clock) also where that has come, or where a folder holds very much.
    """
    if end is not None and time.monotonic() > end:
        return False
    with suppress(OSError):
        os.rmdir(name, dir_fd=parent)  # many are empty
        return True
    most = None if end is None else _QUICK_ENTRIES  # more than that: the folder is not empty then
    try:
        folder = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
        try:
            with os.scandir(folder) as entries:
                names = [
                    (entry.name, entry.is_dir(follow_symlinks=False))
                    for entry in islice(entries, most)
                ]
            for child, is_folder in names:
                if not is_folder:
                    os.unlink(child, dir_fd=folder)
                elif not levels or not _remove_plainly(child, folder, levels - 1, end):
                    return False
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _clear(folder: int, shown: Path, failures: list[str]) -> list[str]:
    """Unlink all entries that are no folders; give the names of the folders."""
    folders: list[str] = []
    with os.scandir(folder) as entries:
        names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in names:
        if is_folder:
            folders.append(name)
            continue
        try:
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            failures.append(f"{shown / name}: {_why(error)}")
    return folders


def _move_up(name: str, folder: int, new_name: str, top: int) -> None:
    """Move a folder to the top; one that its owner may not write is made writable first."""
    try:
        os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=top)
    except PermissionError:
        _unlock(name, folder)
        os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=top)


@contextmanager
def _opened(name: str, parent: int | None) -> Iterator[int]:
    """A folder's descriptor, never through a link; its owner may read, write and search it."""
    try:
        folder = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    except PermissionError:
        _unlock(name, parent)
        folder = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    try:
        with suppress(OSError):
            os.fchmod(folder, stat.S_IRWXU)
        yield folder
    finally:
        os.close(folder)


def _unlock(name: str, parent: int | None) -> None:
    """Give the owner all rights on a folder that cannot be opened, without following a link."""
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", 0)
    if not hasattr(os, "O_PATH"):
        os.chmod(name, stat.S_IRWXU, dir_fd=parent, follow_symlinks=False)
        return
    handle = os.open(name, flags, dir_fd=parent)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(stat.S_IRWXU)
    finally:
        os.close(handle)


def _why(error: BaseException) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
