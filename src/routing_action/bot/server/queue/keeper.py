"""Writes deliveries to the queue: all that wait in one step, which costs one sync of the disk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from routing_action.bot.server.queue.deliveries import Delivery, Queue

_KEEP_SECONDS = 0.8
"""GitHub is answered within a second, whatever the disk does."""
_MOST_AT_ONCE = 200
_MOST_WAITING = 5000

_Waiting: TypeAlias = tuple[Delivery, "asyncio.Future[None]"]


class Keeper:
    """`run` writes what `keep` waits for."""

    def __init__(
        self,
        queue: Queue,
        clock: Callable[[], float] = time.time,
        keep_seconds: float = _KEEP_SECONDS,
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._keep_seconds = keep_seconds
        self._waiting: asyncio.Queue[_Waiting] = asyncio.Queue(_MOST_WAITING)
        # Its own thread: nothing else delays it.
        self._thread = ThreadPoolExecutor(1, "keep")

    async def keep(self, delivery: Delivery) -> None:
        """Return once the delivery is on disk.

        Raises TimeoutError where that takes too long, when it may still get there; QueueFull where
        too many wait; and what the database raises.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((delivery, done))
        await asyncio.wait_for(done, self._keep_seconds)

    async def run(self) -> None:
        """Write until cancelled; a step that fails is told to whoever waits for it."""
        loop = asyncio.get_running_loop()
        while True:
            batch = [await self._waiting.get()]
            while len(batch) < _MOST_AT_ONCE and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            listed = [one for one, _ in batch]
            try:
                await loop.run_in_executor(self._thread, self._queue.put, listed, self._clock())
            except Exception as error:
                _tell(batch, error)
            else:
                _tell(batch, None)


def _tell(batch: Sequence[_Waiting], error: Exception | None) -> None:
    for _, done in batch:
        if done.done():
            continue  # whoever waited has gone
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
