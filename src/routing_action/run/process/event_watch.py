"""Calls back once an asyncio event is set; all who wait for the same event share one task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_watches: dict[asyncio.Event, EventWatch] = {}


class EventWatch:
    """The task that waits for an event, and who is to be told."""

    def __init__(self, event: asyncio.Event, loop: asyncio.AbstractEventLoop) -> None:
        self._event = event
        self._loop = loop
        self._actions: dict[object, Callable[[], object]] = {}
        self._task = loop.create_task(event.wait())
        self._task.add_done_callback(self._tell)

    @property
    def is_useless(self) -> bool:
        """Whether its task has ended, or was lost with its event loop."""
        return self._task.done() or self._loop.is_closed()

    def add(self, action: Callable[[], object]) -> Callable[[], None]:
        """Tell one more; gives what takes that back."""
        key = object()
        self._actions[key] = action
        return lambda: self._remove(key)

    def _remove(self, key: object) -> None:
        self._actions.pop(key, None)
        if self._actions:
            return
        if _watches.get(self._event) is self:
            del _watches[self._event]
        if not self._loop.is_closed():
            self._task.cancel()

    def _tell(self, _task: asyncio.Task[bool]) -> None:
        """The event is set, or the loop is being shut down, which ends what was waited for too."""
        for action in list(self._actions.values()):
            action()


def call_when_set(event: asyncio.Event, action: Callable[[], object]) -> Callable[[], None]:
    """Call `action` once the event is set, in the running loop; gives what stops it again."""
    watch = _watches.get(event)
    if watch is None or watch.is_useless:
        watch = _watches[event] = EventWatch(event, asyncio.get_running_loop())
    return watch.add(action)
