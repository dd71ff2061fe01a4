"""Does work in a thread, or at once where it is so quick that a thread would cost more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

Done = TypeVar("Done")

_LIGHT_SECONDS = 0.005
"""CPU time of work that need not go into a thread; handing it over takes a millisecond or two."""
_DELAY_SECONDS = 0.03
_MOST_DELAYS = 3


class Pace:
    """Knows of each kind of work how long it took the last time in a thread.

    Where work that was light then holds up the event loop all the same, as on a slow file system,
    a few times, everything goes into threads from then on.
    """

    def __init__(self) -> None:
        """Start in threads."""
        self._is_light: dict[str, bool] = {}
        self._delays = 0

    async def do(self, kind: str, work: Callable[[], Done]) -> Done:
        """What the work gives; while it is in a thread the other units are read."""
        if not self._is_light.get(kind) or self._delays >= _MOST_DELAYS:
            return await asyncio.to_thread(self._measured, kind, work)
        begun = time.monotonic()
        try:
            return work()
        finally:
            self._delays += time.monotonic() - begun > _DELAY_SECONDS

    def _measured(self, kind: str, work: Callable[[], Done]) -> Done:
        begun = time.thread_time()
        done = work()
        self._is_light[kind] = time.thread_time() - begun < _LIGHT_SECONDS
        return done
