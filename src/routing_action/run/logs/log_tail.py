"""Reads the end of session logs in an agent's own home, which the agent can have filled at will."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from routing_action.files.plain_files import read_tail

TAIL_BYTES = 2**18
MOST_FILES = 50


def read_log_tails(home: Path, globs: Iterable[str]) -> Iterator[bytes]:
    """The last `TAIL_BYTES` of up to `MOST_FILES` logs below a home, in the order of their paths.

    Links are not followed; what is no regular file, or cannot be read, is passed over.
    """
    home = home.resolve()
    found = sorted(path for pattern in globs for path in _find(home, pattern))
    for path in found[:MOST_FILES]:
        data = read_tail(path, TAIL_BYTES)
        if data:
            yield data


def _find(home: Path, pattern: str) -> list[Path]:
    try:
        return [path for path in home.glob(pattern) if path.parent.resolve() == path.parent]
    except OSError:
        return []
