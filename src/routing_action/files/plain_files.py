"""Reads a part of a file that an agent, or anybody else, can have put there in place of a file."""

from __future__ import annotations

import os
import stat


def read_head(path: str | os.PathLike[str], size: int) -> bytes:
    """Up to `size` bytes from the start; nothing of a link, a pipe, or what cannot be read."""
    return _read(path, size, from_end=False)


def read_tail(path: str | os.PathLike[str], size: int) -> bytes:
    """Up to `size` bytes before the end, under the same rules."""
    return _read(path, size, from_end=True)


def _read(path: str | os.PathLike[str], size: int, *, from_end: bool) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return b""
        return os.pread(file, size, max(0, status.st_size - size) if from_end else 0)
    except OSError:
        return b""
    finally:
        os.close(file)
