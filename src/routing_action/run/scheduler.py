"""Runs units side by side, at most so many at once and in each lane; results keep their order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Unit = TypeVar("Unit")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Lanes(Generic[Unit]):
    """Which lane a unit runs in, and how many of a lane run at once; without a number: any."""

    lane_of: Callable[[Unit], str]
    room: Mapping[str, int] = field(default_factory=dict)


class _Queue:
    """The places of the units that wait, by lane."""

    def __init__(self, lanes: Sequence[str], room: Mapping[str, int]) -> None:
        self._waiting: dict[str, deque[int]] = {}
        for place, lane in enumerate(lanes):
            self._waiting.setdefault(lane, deque()).append(place)
        # A lane without any room would wait for ever.
        self._room = {lane: max(1, room.get(lane, len(lanes))) for lane in self._waiting}

    def take(self) -> tuple[int, str] | None:
        """The first unit whose lane has room; None where every lane is full or empty."""
        open_lanes = [lane for lane, places in self._waiting.items() if places and self._room[lane]]
        lane = min(open_lanes, key=lambda one: self._waiting[one][0], default=None)
        if lane is None:
            return None
        self._room[lane] -= 1
        return self._waiting[lane].popleft(), lane

    def give_back(self, lane: str) -> None:
        """A unit of the lane ended."""
        self._room[lane] += 1


class _Ended:
    """The tasks that have ended. `asyncio.wait` takes the longer the more tasks run."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()

    def note(self, task: asyncio.Task[None]) -> None:
        """Take a task that has just ended."""
        self._tasks.append(task)
        self._wake.set()

    async def take(self) -> list[asyncio.Task[None]]:
        """Those since the last call, at least one."""
        await self._wake.wait()
        self._wake.clear()
        tasks, self._tasks = self._tasks, []
        return tasks


async def run_units(
    units: Sequence[Unit],
    worker: Callable[[Unit], Awaitable[Result]],
    max_parallel: int,
    cancel: asyncio.Event,
    results: list[Result | None],
    lanes: Lanes[Unit] | None = None,
) -> None:
    """Run `worker` on every unit, at most `max_parallel` at once and within each lane's room.

    A free slot goes to the first waiting unit whose lane has room, so that a full lane holds up
    no other. `results` has a place for each unit, filled as it ends; None stays where the batch
    was cancelled before a unit started. A worker's error ends the batch: the other workers are
    cancelled and waited for, then it is raised; what had ended stays in `results`.
    """
    names = [lanes.lane_of(unit) if lanes else "" for unit in units]
    queue = _Queue(names, lanes.room if lanes else {})
    running: dict[asyncio.Task[None], str] = {}
    ended = _Ended()

    async def run_one(place: int) -> None:
        results[place] = await worker(units[place])

    try:
        while True:
            while len(running) < max_parallel and not cancel.is_set() and (unit := queue.take()):
                place, lane = unit
                task = asyncio.create_task(run_one(place))
                task.add_done_callback(ended.note)
                running[task] = lane
            if not running:
                return
            for task in await ended.take():
                queue.give_back(running.pop(task))
                task.result()
    except BaseException:
        cancel.set()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        raise
