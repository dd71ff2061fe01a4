"""Finds batches that died: those whose journal has no end and that no process holds.

It only reads, and passes over what is no journal of ours.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from routing_action.errors import DocumentError, UsageError
from routing_action.results.journal import JOURNAL_FILE, Journal
from routing_action.results.journal_records import Recovered

MOST_BATCHES = 50
"""How many batches are looked at, the newest first."""
MOST_BYTES = 64 * 2**20
"""A longer journal is not read for this; `--resume` reads it."""


def find_dead_units(root: Path) -> frozenset[str]:
    """The unit_run_ids of every batch below an artifacts root that was killed."""
    dead = (_read_dead(path) for path in _journals(root))
    return frozenset(marker for one in dead if one is not None for marker in one.markers)


def describe_killed(root: Path, own: Path) -> str:
    """Says that the newest other batch below an artifacts root was killed, and how it goes on.

    "" where it was not.
    """
    newest = next((path for path in _journals(root) if path.parent != own), None)
    dead = _read_dead(newest) if newest is not None else None
    if newest is None or dead is None:
        return ""
    ended, planned = len(dead.rows), sum(map(len, dead.rounds))
    return (
        f"the batch before this one was killed when {ended} of {planned} units had ended; "
        f"`run --resume {shlex.quote(str(newest.parent))}` goes on with it"
    )


def _journals(root: Path) -> list[Path]:
    """The journals of the newest batches, without those that ended in order."""
    try:
        with os.scandir(root) as entries:
            folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
            folders.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
    except OSError:
        return []
    return [Path(entry.path) / JOURNAL_FILE for entry in folders[: -MOST_BATCHES - 1 : -1]]


def _read_dead(path: Path) -> Recovered | None:
    """The journal of a batch that was killed; None where it was not, or has no journal of ours."""
    if _has_end(path):
        return None
    try:
        journal = Journal.reopen(path)
    except (DocumentError, UsageError):  # none there, or its batch is running
        return None
    try:
        recovered = journal.look()
    except DocumentError:
        return None
    finally:
        journal.close()
    return recovered if recovered.done is None else None


def _has_end(path: Path) -> bool:
    """Whether the last line is an end record, told without reading the rest.

    True also for what is not to be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        size = os.fstat(descriptor).st_size
        if size > MOST_BYTES:
            return True
        tail = os.pread(descriptor, 1024, max(0, size - 1024))
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return b'\n{"kind":"done",' in tail and tail.rindex(b'\n{"kind":"done",') == (
        tail.rstrip(b"\n").rfind(b"\n")
    )
