"""Runs units side by side, at most so many at once; the results keep the units' order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Unit = TypeVar("Unit")
Result = TypeVar("Result")


async def run_units(
    units: Sequence[Unit],
    worker: Callable[[Unit], Awaitable[Result]],
    max_parallel: int,
    cancel: asyncio.Event,
    results: list[Result | None],
) -> None:
    """Run `worker` on every unit, started in order, at most `max_parallel` at once.

    `results` has a place for each unit, filled as it ends; None stays where the batch was
    cancelled before a unit started. A worker's error ends the batch: the other workers are
    cancelled and waited for, then it is raised; what had ended stays in `results`.
    """
    waiting = iter(range(len(units)))

    async def lane() -> None:
        for index in waiting:
            if cancel.is_set():
                return
            results[index] = await worker(units[index])

    lanes = [asyncio.ensure_future(lane()) for _ in range(min(max_parallel, len(units)))]
    try:
        await asyncio.gather(*lanes)
    except BaseException:
        cancel.set()
        for task in lanes:
            task.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)
        raise
