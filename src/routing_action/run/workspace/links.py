"""Tells whether a symbolic link stays inside a folder, wherever that folder is copied to."""

from __future__ import annotations

from pathlib import Path

_MOST_LINKS = 40


def stays_inside(root: Path, link: str) -> bool:
    """True where following the link, and all links it leads over, never leaves the root.

    `link` is relative to the root with `/` between parts. A target that does not exist may be
    inside all the same. An absolute link leaves, even back into the root: in a copy it would
    still name the original. A loop counts as leaving.
    """
    position: list[str] = []
    waiting = list(reversed(link.split("/")))
    followed = 0
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not position:
                return False
            position.pop()
            continue
        target = _target(root.joinpath(*position, part))
        if target is None:
            position.append(part)
            continue
        followed += 1
        if followed > _MOST_LINKS or target.startswith("/"):
            return False
        waiting.extend(reversed(target.split("/")))
    return True


def _target(path: Path) -> str | None:
    """Where a link points to; None where the path is no link or not there."""
    try:
        return str(path.readlink())
    except OSError:
        return None
