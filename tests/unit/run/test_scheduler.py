"""Units run side by side, keep their order, and lose nothing."""

from __future__ import annotations

import asyncio

import pytest

from routing_action.run.scheduler import Lanes, run_units


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
            await asyncio.sleep(0.01)
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


def order_of(units: list[str], parallel: int, room: dict[str, int]) -> tuple[list[str], int]:
    """In which order units started, and how many of lane `a` ran at once at most."""
    started: list[str] = []
    running = peak = 0

    async def work(unit: str) -> None:
        nonlocal running, peak
        started.append(unit)
        running += unit[0] == "a"
        peak = max(peak, running)
        await asyncio.sleep(0.02 if unit[0] == "a" else 0.001)
        running -= unit[0] == "a"

    results: list[None] = [None] * len(units)
    lanes: Lanes[str] = Lanes(lambda unit: unit[0], room)
    asyncio.run(run_units(units, work, parallel, asyncio.Event(), results, lanes))
    return started, peak


def test_a_full_lane_holds_up_no_other() -> None:
    """While the one slow agent that may run does, every other slot works off the rest."""
    units = ["a1", "a2", "a3", "b1", "b2", "b3", "c1"]
    started, peak = order_of(units, 3, {"a": 1})
    assert peak == 1
    assert started[:5] == ["a1", "b1", "b2", "b3", "c1"]
    assert sorted(started) == units


def test_units_start_in_order_where_every_lane_has_room() -> None:
    """Lanes that do not bind change nothing."""
    units = ["a1", "b1", "a2", "b2"]
    assert order_of(units, 1, {"a": 9})[0] == units


@pytest.mark.parametrize("room", [0, -1])
def test_a_lane_without_any_room_still_runs_its_units(room: int) -> None:
    """No default and no mistake of ours makes a unit wait for ever."""
    started, peak = order_of(["a1", "a2"], 4, {"a": room})
    assert (started, peak) == (["a1", "a2"], 1)
