"""Units run side by side, keep their order, and lose nothing."""

from __future__ import annotations

import asyncio

import pytest

from routing_action.harness.scheduler import run_units


def test_at_most_so_many_run_at_once_and_results_keep_their_places() -> None:
    """Whatever finishes first, the list stands in the units' order."""
    running = peak = 0
    results: list[int | None] = [None] * 9

    async def work(unit: int) -> int:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.001 * (9 - unit))
        running -= 1
        return unit * 10

    asyncio.run(run_units(range(9), work, 3, asyncio.Event(), results))
    assert results == [n * 10 for n in range(9)]
    assert peak == 3


def test_a_cancelled_batch_starts_no_further_unit() -> None:
    """What had ended stays; the rest was never started."""
    results: list[int | None] = [None] * 5

    async def main() -> None:
        cancel = asyncio.Event()

        async def work(unit: int) -> int:
            if unit == 1:
                cancel.set()
            return unit

        await run_units(range(5), work, 1, cancel, results)

    asyncio.run(main())
    assert results == [0, 1, None, None, None]


def test_an_error_ends_the_batch_and_keeps_what_had_ended() -> None:
    """A full disk in one unit stops the others and is raised."""
    results: list[int | None] = [None] * 4
    stopped = False

    async def work(unit: int) -> int:
        nonlocal stopped
        if unit == 0:
            return unit
        if unit == 1:
            raise OSError("no space")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped = True
            raise
        return unit

    with pytest.raises(OSError, match="no space"):
        asyncio.run(run_units(range(4), work, 2, asyncio.Event(), results))
    assert results[0] == 0
    assert stopped
