"""Handles what the queue holds: several deliveries at once, each again until it is done."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from routing_action.bot.server.app import advise
from routing_action.bot.server.queue.deliveries import Kept, Queue
from routing_action.errors import RoutingActionError
from routing_action.github.failures import ApiError

MOST_ATTEMPTS = 6
LEASE_SECONDS = 120.0
FORGET_SECONDS = 7 * 86_400.0
"""GitHub sends a delivery again for three days at most."""

_PAUSE_SECONDS = 0.25
_FIRST_RETRY_SECONDS = 5.0
_LONGEST_RETRY_SECONDS = 900.0
_BEAT_SECONDS = 20.0
_LIMITED = (403, 429)

_log = logging.getLogger("routing_action.bot")

Handle = Callable[[Kept], None]
"""Does what a delivery asks for, in a thread; raises where it could not."""


class Workers:
    """Take, handle and finish deliveries, fairly between installations.

    `count` hears of each delivery that ended, by a word (`done`, `again`, `dead`), its event and
    the seconds that it took.
    """

    def __init__(
        self,
        queue: Queue,
        handle: Handle,
        *,
        name: str,
        size: int,
        count: Callable[[str, str, float], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`name` is of this process alone; `size` is how many deliveries are handled at once."""
        self._queue = queue
        self._handle = handle
        self._name = name
        self._size = size
        # No installation has all workers, however long its deliveries take.
        self._most_each = max(1, size // 2)
        self._count = count
        self._clock = clock
        self._held: set[str] = set()
        self._ends = asyncio.Event()
        # Their own threads: what waits for GitHub does not hold up what is put into the queue.
        self._threads = ThreadPoolExecutor(size, "handle")

    async def run(self, grace_seconds: float) -> bool:
        """Work until `stop`; True where all that was begun has ended within the grace.

        What has not is given back; its threads still run until the process ends.
        """
        beat = asyncio.create_task(self._beat())
        loops = [asyncio.create_task(self._loop()) for _ in range(self._size)]
        await self._ends.wait()
        _, late = await asyncio.wait(loops, timeout=grace_seconds)
        beat.cancel()
        for one in late:
            one.cancel()
        await asyncio.gather(*loops, beat, return_exceptions=True)
        self._threads.shutdown(wait=False, cancel_futures=True)
        if late:
            count = await asyncio.to_thread(self._queue.give_back, self._name)
            _log.warning("gave back %d deliveries that had not ended", count)
        return not late

    def stop(self) -> None:
        """Begin nothing new."""
        self._ends.set()

    async def _beat(self) -> None:
        """Say what we hold, and take over what others have let go of."""
        while True:
            try:
                await asyncio.to_thread(self._tidy, self._clock(), tuple(self._held))
            except Exception:
                _log.exception("the queue does not answer")
            await asyncio.sleep(_BEAT_SECONDS)

    def _tidy(self, now: float, held: tuple[str, ...]) -> None:
        self._queue.extend(held, now)
        self._queue.recover(now - LEASE_SECONDS, now, MOST_ATTEMPTS)
        self._queue.forget(now - FORGET_SECONDS)

    async def _loop(self) -> None:
        while not self._ends.is_set():
            try:
                if not await self._work():
                    await self._wait(_PAUSE_SECONDS)
            except Exception:
                # The delivery stays ours until its lease ends; then it is handled once more.
                _log.exception("the queue does not answer")
                await self._wait(_FIRST_RETRY_SECONDS)

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._ends.wait(), seconds)
        except TimeoutError:
            return

    async def _work(self) -> bool:
        """Handle one delivery; False where there is none."""
        take = self._queue.take
        kept = await asyncio.to_thread(take, self._name, self._clock(), self._most_each)
        if kept is None:
            return False
        started = self._clock()
        self._held.add(kept.delivery.id)
        try:
            word = await self._handle_and_tell(kept)
        finally:
            self._held.discard(kept.delivery.id)
        self._count(word, kept.delivery.event, self._clock() - started)
        return True

    async def _handle_and_tell(self, kept: Kept) -> str:
        delivery = kept.delivery
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._threads, self._handle, kept)
        except Exception as error:
            word = await asyncio.to_thread(self._fail, kept, error)
            is_bug = not isinstance(error, RoutingActionError)
            cause = "" if is_bug else f": {_say(error, word)}"
            told = {"delivery": delivery.id, "event": delivery.event, "attempt": kept.attempts}
            _log.warning("not handled (%s)%s", word, cause, exc_info=is_bug, extra=told)
            return word
        await asyncio.to_thread(self._queue.finish, delivery.id)
        return "done"

    def _fail(self, kept: Kept, error: Exception) -> str:
        """Try again later, or give it up."""
        now, delivery = self._clock(), kept.delivery
        pause = min(_FIRST_RETRY_SECONDS * 3 ** (kept.attempts - 1), _LONGEST_RETRY_SECONDS)
        if isinstance(error, ApiError) and error.retry_after:
            pause = max(pause, error.retry_after)
            if error.status in _LIMITED:
                self._queue.pause(delivery.installation, now + error.retry_after)
        again = None if kept.attempts >= MOST_ATTEMPTS else now + pause
        word = "dead" if again is None else "again"
        told = f"{type(error).__name__}: {_say(error, word)}"
        self._queue.fail(delivery.id, self._name, told, now, again_at=again)
        return word


def _say(error: Exception, word: str) -> str:
    """Cause and remedy for who runs the server."""
    if not isinstance(error, RoutingActionError):
        return str(error)
    remedy = advise(error, is_dead=word == "dead")
    return "; ".join(filter(None, (error.cause, remedy)))
