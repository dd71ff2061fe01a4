"""Sees to it that nobody but a unit's own agent changes what its verdict depends on.

Units run as the same user, so one can write to another's folders: what cannot be prevented is
noticed. docs/explanation/isolation.md, 'Units that run side by side', says what is not.
"""

from __future__ import annotations

import asyncio
import mmap
import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from routing_action.corpus.influences import Influence, find_influence
from routing_action.errors import HarnessError
from routing_action.run.workspace.seal import Seal, find_change
from routing_action.run.workspace.watch import Watch

_NAMED = 8
_STEERING = frozenset({Influence.SKILL, Influence.INSTRUCTIONS})
"""Files that tell agents what to do."""


@dataclass(slots=True)
class Custody:
    """What a unit must find as it was made: `sealed` folders, and files that nobody may touch.

    `workspace` is the sealed folder that the agent works in; None where it has none of its own.
    """

    sealed: dict[Path, Seal] = field(default_factory=dict)
    workspace: Path | None = None
    watches: tuple[Watch, ...] = ()
    _steering: Watch | None = None

    def begin(self) -> str:
        """Right before the start: what was changed, "" where nothing was."""
        if self.workspace is not None:  # first, so that no moment is between
            root = str(self.workspace)
            settings = _list_files(root, frozenset({Influence.SETTINGS}))  # CLIs add some
            self._steering = Watch(lambda: [*settings, *_list_files(root, _STEERING)])
        for folder, seal in self.sealed.items():
            if change := find_change(folder, seal):
                return f"{change} in {folder}, before the agent was started"
        return self.find_change()

    def find_foreign(self, output: Path) -> str:
        """What steers the agent and was changed by a unit beside it; "" where nothing was.

        What the agent changes in its own workspace is its work: its `output` names the file.
        """
        for path in self._steering.list_changes() if self._steering else []:
            if not _is_named(PurePosixPath(path).name, output):
                return (
                    f"{path} was changed while other units ran, and the agent's output does not "
                    "name it; measure with --max-parallel 1"
                )
        return ""

    def find_change(self) -> str:
        """What nobody may touch and somebody did; "" where nobody did."""
        return next((change for one in self.watches if (change := one.find_change())), "")


def _list_files(root: str, influences: frozenset[Influence]) -> list[str]:
    """The files below a workspace that are of these kinds, whoever put them there."""
    found = []
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        paths = (f"{place}/{name}" for name in names)
        found += [path for path in paths if find_influence(path[len(root) + 1 :], {}) in influences]
    return found


def _is_named(text: str, output: Path) -> bool:
    """Whether an agent's output holds a text; False where it printed nothing."""
    try:
        with output.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content:
            return content.find(text.encode()) >= 0
    except (OSError, ValueError):  # an empty file cannot be mapped
        return False


class Witness:
    """Knows which units of a batch run and ran, and ends it where one was tampered with."""

    def __init__(self) -> None:
        """No unit has run yet."""
        self._running: dict[str, str] = {}
        self._beside: set[str] = set()
        self._ended: deque[str] = deque(maxlen=_NAMED)

    @asynccontextmanager
    async def over(
        self, unit_run_id: str, key: str, custody: Custody, output: Path
    ) -> AsyncIterator[list[str]]:
        """Around a unit's process; `output` is where its standard output stands afterwards.

        HarnessError where what all units share was changed: then nothing that this batch measures
        from now on can be believed. What is given holds afterwards what a unit beside this one
        changed in its workspace, so that this one says nothing.
        """
        foreign: list[str] = []
        self._running[unit_run_id] = key
        if len(self._running) > 1:
            self._beside.update(self._running)
        try:
            self._refuse(await asyncio.to_thread(custody.begin), unit_run_id, output)
            yield foreign
            self._refuse(await asyncio.to_thread(custody.find_change), unit_run_id, output)
            if unit_run_id in self._beside:
                found = await asyncio.to_thread(custody.find_foreign, output)
                foreign += [found] if found else []
        finally:
            del self._running[unit_run_id]
            self._ended.append(key)

    def _refuse(self, change: str, unit_run_id: str, output: Path) -> None:
        if not change:
            return
        beside = (one for name, one in self._running.items() if name != unit_run_id)
        others = ", ".join(dict.fromkeys((*beside, *reversed(self._ended)))) or "none"
        raise HarnessError(
            f"{self._running[unit_run_id]}: {change}; an agent must not change what another one is "
            f"measured by (units that ran beside or before it: {others})",
            remedy=f"see in {output.parent} what these did, correct that, and start a new batch",
        )
