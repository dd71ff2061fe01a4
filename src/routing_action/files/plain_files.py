"""Opens files that an agent, or anybody else, can have replaced by something else."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO

_BLOCK_BYTES = 1 << 20


def open_regular(path: Path | str) -> BinaryIO:
    """A regular file, to be read; never through a link, and never waiting for a pipe's writer.

    Raises OSError, also for what is no regular file.
    """
    # Windows has neither flag, nor named pipes among its files.
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if not careful and Path(path).is_symlink():
        raise OSError(f"{path} is a link")
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | careful))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{path} is no regular file")
    return file


def hash_file(path: Path | str) -> str:
    """The SHA-256 of a regular file, as hexadecimal digits; raises OSError like `open_regular`."""
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def read_head(path: Path | str, size: int) -> bytes:
    """Up to `size` bytes from the start; nothing of what is no file or cannot be read."""
    return _read(path, size, from_end=False)


def read_tail(path: Path | str, size: int) -> bytes:
    """Up to `size` bytes before the end, under the same rules."""
    return _read(path, size, from_end=True)


def _read(path: Path | str, size: int, *, from_end: bool) -> bytes:
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size) if from_end else 0)
            return file.read(size)
    except OSError:
        return b""
