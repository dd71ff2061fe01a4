"""Writes files in one step; a reader sees the old text or the new, never a part."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from routing_action.errors import HarnessError


def write_atomically(path: Path, text: str) -> None:
    """Replace a file by a text."""
    with stream_atomically(path) as file:
        file.write(text)


@contextlib.contextmanager
def stream_atomically(path: Path) -> Iterator[TextIO]:
    """Replace a file by what is written within; nothing is replaced where that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise unwritable(path, error) from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def unwritable(path: Path, error: OSError, other: str = "name another place") -> HarnessError:
    """The error for a place that cannot be written; `other` says how another one is named."""
    is_file = isinstance(error, FileExistsError | NotADirectoryError)
    remedy = "a file is where a folder must be: " if is_file else "free space there, or "
    return HarnessError(f"{path}: cannot be written: {error.strerror}", remedy=f"{remedy}{other}")
