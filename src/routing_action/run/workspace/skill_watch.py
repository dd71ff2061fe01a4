"""Remembers which skills providers find in a tree that others may change, while it is as it was.

The agents of `--workspace shared` work in the user's own tree, one after the other and at once, so
an answer is looked at again for each unit: by the stamps of all that it was made from.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from routing_action.evidence.reader_protocol import Provider
from routing_action.run.workspace.staging import SKILL_FILE, StagedSkills, staged_skills

_SETTLED_NS = 3_000_000_000
"""Nanoseconds since the last change from which on the next change has another stamp for sure."""

_Stamp: TypeAlias = tuple[int, int, int] | None
"""Device, inode and time of change (ctime, which nobody can set); None where nothing is there."""


class SkillWatch:
    """Gives what `staged_skills` gives, of one tree."""

    def __init__(self, tree: Path, known_folders: Callable[[], Iterable[str]]) -> None:
        self._tree = tree
        self._known_folders = known_folders
        self._kept: dict[str, tuple[dict[str, _Stamp], StagedSkills]] = {}

    def find(self, provider: Provider) -> StagedSkills:
        """The skills that the provider finds by now."""
        kept = self._kept.get(provider.name)
        if kept is not None and all(_stamp(path) == stamp for path, stamp in kept[0].items()):
            return kept[1]
        stamps = _stamps_of(self._tree, provider.skill_folders)  # before what they stand for
        found = staged_skills(self._tree, provider, self._known_folders())
        self._kept.pop(provider.name, None)
        # Where nothing was found, the folders of the other providers matter too.
        if stamps is not None and found.skills:
            self._kept[provider.name] = stamps, found
        return found


def _stamps_of(tree: Path, folders: Iterable[str]) -> dict[str, _Stamp] | None:
    """The stamps of the skill folders, of the folders above and of all that lies in them.

    A folder's stamp stands for the names in it. None where an answer cannot be kept: where a link
    leads elsewhere, or where the last change is so young that the next could bear its stamp.
    """
    paths: dict[str, None] = {}
    for folder in folders:
        path = str(tree)
        for part in folder.split("/"):
            path = f"{path}/{part}"
            paths[path] = None
        for name in _names_in(path):
            paths[f"{path}/{name}"] = paths[f"{path}/{name}/{SKILL_FILE}"] = None
    oldest_young = time.time_ns() - _SETTLED_NS
    stamps: dict[str, _Stamp] = {}
    for path in paths:
        status = _status(path)
        if status is not None and (
            stat.S_ISLNK(status.st_mode) or status.st_ctime_ns > oldest_young
        ):
            return None
        stamps[path] = _stamp_from(status)
    return stamps


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _stamp(path: str) -> _Stamp:
    return _stamp_from(_status(path))


def _stamp_from(status: os.stat_result | None) -> _Stamp:
    return status and (status.st_dev, status.st_ino, status.st_ctime_ns)
