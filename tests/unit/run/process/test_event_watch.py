"""Who waits for an event is told once, and costs no task of its own."""

from __future__ import annotations

import asyncio
from functools import partial

from routing_action.run.process.event_watch import call_when_set


def test_all_are_told_with_one_task() -> None:
    """Whoever was taken back is not; nothing is left once the last one was."""

    async def main() -> list[str]:
        event, told = asyncio.Event(), list[str]()
        before = len(asyncio.all_tasks())
        stops = [call_when_set(event, partial(told.append, name)) for name in "abc"]
        assert len(asyncio.all_tasks()) == before + 1
        stops[1]()
        stops[1]()
        event.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for stop in stops:
            stop()
        assert len(asyncio.all_tasks()) == before
        return told

    assert asyncio.run(main()) == ["a", "c"]


def test_an_event_that_is_set_already_is_told_of_too() -> None:
    """Also where an earlier task has told it before."""

    async def main() -> list[str]:
        event, told = asyncio.Event(), list[str]()
        event.set()
        stops = []
        for name in "ab":
            stops.append(call_when_set(event, partial(told.append, name)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        for stop in stops:
            stop()
        return told

    assert asyncio.run(main()) == ["a", "b"]


def test_an_event_outlives_its_loop() -> None:
    """The next loop has a task of its own; what was left of the first is taken back in silence."""
    event, told = asyncio.Event(), list[str]()
    first = asyncio.new_event_loop()

    async def wait() -> object:
        return call_when_set(event, lambda: told.append("first"))

    stop = first.run_until_complete(wait())
    for task in asyncio.all_tasks(first):
        task.cancel()
    first.run_until_complete(asyncio.sleep(0))
    first.run_until_complete(asyncio.sleep(0))
    first.close()
    assert told == ["first"]

    async def main() -> None:
        stop_second = call_when_set(event, lambda: told.append("second"))
        event.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        stop_second()

    asyncio.run(main())
    assert callable(stop)
    stop()
    assert told == ["first", "second"]
