"""Work goes into a thread unless it is known to be quick."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from routing_action.run import pace
from routing_action.run.pace import Pace


def where() -> bool:
    """Whether this is the event loop's own thread."""
    return threading.current_thread() is threading.main_thread()


def busy() -> bool:
    end = time.thread_time() + 2 * pace._LIGHT_SECONDS
    while time.thread_time() < end:
        pass
    return where()


def places(*calls: tuple[str, Callable[[], bool]]) -> list[bool]:
    async def run() -> list[bool]:
        one = Pace()
        return [await one.do(kind, work) for kind, work in calls]

    return asyncio.run(run())


def test_light_work_is_done_at_once_from_the_second_time_on() -> None:
    """What it takes is known from the first time, for each kind of it."""
    assert places(("a", where), ("a", where), ("b", where), ("a", where)) == [
        False, True, False, True,
    ]  # fmt: skip


def test_heavy_work_stays_in_threads() -> None:
    """The other units are read meanwhile; it may get lighter, as after the first unit."""
    assert places(("a", busy), ("a", busy), ("a", where), ("a", where)) == [
        False, False, False, True,
    ]  # fmt: skip


def test_work_that_waits_goes_back_to_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow file system it takes no CPU time but long all the same."""
    monkeypatch.setattr(pace, "_DELAY_SECONDS", 0.0)

    assert places(*[("a", where)] * 6) == [False, True, True, True, False, False]


def test_an_error_is_the_caller_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """From both places."""

    def fail() -> bool:
        raise OSError(str(where()))

    for first, said in ((fail, "False"), (where, "True")):
        with pytest.raises(OSError, match=said):
            places(("a", first), ("a", fail))
