"""Remembers what a folder holds, and names what somebody changed in it since."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from routing_action.files.plain_files import open_regular
from routing_action.run.workspace.visible_files import shown

Seal: TypeAlias = Mapping[str, bytes]
"""What stands at each path below a folder; folders alone count for nothing."""


def seal_file(content: bytes, *, is_program: bool = False) -> bytes:
    """What stands for a regular file: its SHA-256, and whether its owner can execute it."""
    return (b"x" if is_program else b"-") + hashlib.sha256(content).digest()


def seal_link(target: str) -> bytes:
    """What stands for a symbolic link."""
    return b"l" + os.fsencode(target)


def seal_tree(root: Path) -> Seal:
    """All files and links below a folder, by their paths; what cannot be read is kept as such."""
    return dict(_walk(str(root)))


def find_change(root: Path, seal: Seal) -> str:
    """The first path, in their order, that was changed, added or removed; "" where none was."""
    now = seal_tree(root)
    for path in sorted(now.keys() | seal.keys()):
        if now.get(path) != seal.get(path):
            what = "changed" if path in now and path in seal else "added"
            return f"{shown(path)} was {what if path in now else 'removed'}"
    return ""


def _walk(root: str) -> Iterator[tuple[str, bytes]]:
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(f"{root}/{prefix}") as entries:
                listed = list(entries)
        except OSError:
            yield prefix, b"?"
            continue
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name, _stand_in(entry)


def _stand_in(entry: os.DirEntry[str]) -> bytes:
    try:
        if entry.is_symlink():
            return seal_link(os.readlink(entry.path))  # noqa: PTH115 - thousands of files
        with open_regular(entry.path) as file:
            is_program = bool(os.fstat(file.fileno()).st_mode & stat.S_IXUSR)
            return seal_file(file.read(), is_program=is_program)
    except OSError:
        return b"?"
