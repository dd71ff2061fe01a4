"""Sees to it that nobody but a unit's own agent changes what its verdict depends on.

Units run as the same user, so one can write to another's folders: what cannot be prevented is
noticed. docs/explanation/isolation.md, 'Units that run side by side', says what is not.
"""

from __future__ import annotations

import asyncio
import mmap
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
_STEERING = frozenset({Influence.SKILL, Influence.INSTRUCTIONS, Influence.SETTINGS})
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
        if self.workspace is not None:
            root = self.workspace
            steering = [
                root / path for path in self.sealed[root] if find_influence(path, {}) in _STEERING
            ]
            self._steering = Watch(lambda: steering)  # first, so that no moment is between
        for folder, seal in self.sealed.items():
            if change := find_change(folder, seal):
                return f"{change} in {folder}, before the agent was started"
        return self._watched()

    def end(self, output: Path, *, alone: bool) -> str:
        """Once the unit has ended: what somebody else changed meanwhile, "" where nobody did.

        What the agent changes in its own workspace is its work. If units ran beside it, a change
        is its own only where its `output` names the file, with the folder that holds it.
        """
        changed = self._steering.list_changes() if self._steering and not alone else []
        for path in changed:
            if not _is_named("/".join(PurePosixPath(path).parts[-2:]), output):
                return (
                    f"{path} was changed while other units ran, and the agent's output does not "
                    "name it"
                )
        return self._watched()

    def _watched(self) -> str:
        return next((change for one in self.watches if (change := one.find_change())), "")


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
    ) -> AsyncIterator[None]:
        """Around a unit's process; `output` is where its standard output stands afterwards.

        HarnessError where its files or its program were changed by anybody else: then nothing
        that this batch measures from now on can be believed.
        """
        self._running[unit_run_id] = key
        if len(self._running) > 1:
            self._beside.update(self._running)
        try:
            self._refuse(await asyncio.to_thread(custody.begin), unit_run_id, output)
            yield
            alone = unit_run_id not in self._beside
            change = await asyncio.to_thread(custody.end, output, alone=alone)
            self._refuse(change, unit_run_id, output)
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
