"""Knows which units run and ran, and ends the batch where one of them was tampered with."""

from __future__ import annotations

import asyncio
import mmap
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from routing_action.errors import HarnessError
from routing_action.run.workspace.custody import Custody

_NAMED = 8


class Witness:
    """Watches over the units of a batch while they run."""

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
            await self._look(key, unit_run_id, output, custody.begin)
            yield
            alone = unit_run_id not in self._beside
            await self._look(
                key,
                unit_run_id,
                output,
                lambda: custody.end(lambda name: is_named(name, output), alone=alone),
            )
        finally:
            del self._running[unit_run_id]
            self._ended.append(key)

    async def _look(
        self, key: str, unit_run_id: str, output: Path, look: Callable[[], str]
    ) -> None:
        change = await asyncio.to_thread(look)
        if not change:
            return
        beside = (one for name, one in self._running.items() if name != unit_run_id)
        others = ", ".join(dict.fromkeys((*beside, *reversed(self._ended)))) or "none"
        raise HarnessError(
            f"{key}: {change}; an agent must not change what another one is measured by "
            f"(units that ran beside or before it: {others})",
            remedy=f"see in {output.parent} what these did, correct that, and start a new batch",
        )


def is_named(text: str, output: Path) -> bool:
    """Whether an agent's output holds a text; False where it printed nothing."""
    try:
        with output.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content:
            return content.find(text.encode()) >= 0
    except (OSError, ValueError):  # an empty file cannot be mapped
        return False
