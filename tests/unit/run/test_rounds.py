"""Units run side by side and lose nothing; which ones are tried again."""

from __future__ import annotations

import asyncio

import pytest

from routing_action.corpus.baseline import Status
from routing_action.corpus.case import Case
from routing_action.corpus.units import Unit, build_units
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy, Reading
from routing_action.run.rounds import (
    in_order,
    is_retried,
    pause_seconds,
    run_units,
)
from tests.support.result_rows import make_row

THROTTLED = Reading(throttled=True)
INFRA = Status.INFRA_ERROR
CASES = [Case(case_id=name, prompt="p") for name in ("red", "green", "known", "late", "new")]
UNITS = build_units(CASES, ["claude"], trials=1)
ROWS = [
    make_row(1, case_id="red", status=Status.INFRA_ERROR),
    make_row(2, case_id="green"),
    make_row(3, case_id="known", status=Status.FAIL),
    make_row(4, case_id="late", timed_out=True),
    make_row(5, case_id="new", status=Status.FAIL),
]


def units_of(agents: str) -> list[Unit]:
    """One unit for each letter, which is its agent."""
    return [Unit(index, agent, CASES[0]) for index, agent in enumerate(agents)]


def test_at_most_so_many_run_at_once_and_each_runs_once() -> None:
    """Whatever finishes first."""
    running = peak = 0
    ended: list[int] = []

    async def work(unit: Unit) -> None:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.001 * (9 - unit.index))
        running -= 1
        ended.append(unit.index)

    asyncio.run(run_units(units_of("x" * 9), work, 3, {}, asyncio.Event()))
    assert sorted(ended) == list(range(9))
    assert peak == 3


def test_a_cancelled_batch_starts_no_further_unit() -> None:
    """The rest was never started."""
    started: list[int] = []

    async def main() -> None:
        cancel = asyncio.Event()

        async def work(unit: Unit) -> None:
            started.append(unit.index)
            if unit.index == 1:
                cancel.set()

        await run_units(units_of("x" * 5), work, 1, {}, cancel)

    asyncio.run(main())
    assert started == [0, 1]


def test_an_error_ends_the_batch_and_keeps_what_had_ended() -> None:
    """A full disk in one unit stops the others and is raised."""
    ended: list[int] = []
    cancel = asyncio.Event()
    stopped = False

    async def work(unit: Unit) -> None:
        nonlocal stopped
        if unit.index == 1:
            await asyncio.sleep(0.01)
            raise OSError("no space")
        if unit.index > 1:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                stopped = True
                raise
        ended.append(unit.index)

    with pytest.raises(OSError, match="no space"):
        asyncio.run(run_units(units_of("xxxx"), work, 2, {}, cancel))
    assert ended == [0]
    assert stopped
    assert cancel.is_set()


def order_of(agents: str, parallel: int, room: dict[str, int]) -> tuple[list[int], int]:
    """In which order units started, and how many of agent `a` ran at once at most."""
    started: list[int] = []
    running = peak = 0

    async def work(unit: Unit) -> None:
        nonlocal running, peak
        started.append(unit.index)
        running += unit.agent == "a"
        peak = max(peak, running)
        await asyncio.sleep(0.02 if unit.agent == "a" else 0.001)
        running -= unit.agent == "a"

    asyncio.run(run_units(units_of(agents), work, parallel, room, asyncio.Event()))
    return started, peak


def test_a_full_lane_holds_up_no_other() -> None:
    """While the one slow agent that may run does, every other slot works off the rest."""
    started, peak = order_of("aaabbbc", 3, {"a": 1})
    assert peak == 1
    assert started[:5] == [0, 3, 4, 5, 6]
    assert sorted(started) == list(range(7))


def test_units_start_in_order_where_every_lane_has_room() -> None:
    """Lanes that do not bind change nothing."""
    assert order_of("abab", 1, {"a": 9})[0] == [0, 1, 2, 3]


@pytest.mark.parametrize("room", [0, -1])
def test_a_lane_without_any_room_still_runs_its_units(room: int) -> None:
    """No default and no mistake of ours makes a unit wait for ever."""
    started, peak = order_of("aa", 4, {"a": room})
    assert (started, peak) == ([0, 1], 1)


# ---- throttling


@pytest.mark.parametrize("outcome", [Outcome.RATE_LIMIT, Outcome.SERVER_ERROR])
def test_a_throttled_run_that_measured_nothing_is_tried_again(outcome: Outcome) -> None:
    """A rate limit, or a service that is overloaded."""
    assert is_retried(INFRA, outcome, THROTTLED, EndedBy.EXIT)
    assert is_retried(INFRA, outcome, THROTTLED, EndedBy.TERMINAL_GRACE)


@pytest.mark.parametrize("status", [Status.PASS, Status.FAIL])
def test_a_verdict_that_was_measured_is_never_tried_again(status: Status) -> None:
    """A proven load or a disallowed hit stands, though the API failed afterwards."""
    assert not is_retried(status, Outcome.RATE_LIMIT, THROTTLED, EndedBy.EXIT)


@pytest.mark.parametrize(
    "outcome", [one for one in Outcome if one not in (Outcome.RATE_LIMIT, Outcome.SERVER_ERROR)]
)
def test_no_other_outcome_is_tried_again(outcome: Outcome) -> None:
    """Quota and credentials do not come back, and a crash is a finding."""
    assert not is_retried(INFRA, outcome, THROTTLED, EndedBy.EXIT)


def test_a_server_error_of_its_own_is_not_tried_again() -> None:
    """A 500 asks for nothing."""
    assert not is_retried(INFRA, Outcome.SERVER_ERROR, Reading(), EndedBy.EXIT)


@pytest.mark.parametrize(
    "ended_by", [EndedBy.WALL_DEADLINE, EndedBy.IDLE_DEADLINE, EndedBy.CANCELLED]
)
def test_a_run_that_used_all_of_its_time_is_not_tried_again(ended_by: EndedBy) -> None:
    """The CLI was trying again itself until then."""
    assert not is_retried(INFRA, Outcome.RATE_LIMIT, THROTTLED, ended_by)


def test_pauses_grow_and_are_bounded() -> None:
    """5 seconds, then twice as long each time, at most two minutes."""
    assert [pause_seconds(n, None) for n in range(7)] == [5, 10, 20, 40, 80, 120, 120]
    assert pause_seconds(10**9, None) == 120


@pytest.mark.parametrize(("stated", "pause"), [(0.0, 0.0), (30.0, 30.0), (120.0, 120.0)])
def test_a_wait_that_the_service_asks_for_is_kept_to(stated: float, pause: float) -> None:
    """Neither shorter nor longer, whichever retry it is."""
    assert pause_seconds(0, stated) == pause_seconds(3, stated) == pause


def test_a_wait_of_more_than_two_minutes_is_not_worth_it() -> None:
    """Coming back earlier would only be throttled again."""
    assert pause_seconds(0, 120.5) is None


def test_rows_stand_in_order_whatever_round_they_came_from() -> None:
    """Trials of a pair stand side by side."""
    later = make_row(9, case_id="red", trial=2)
    assert [(row.case_id, row.trial) for row in in_order([*ROWS, later], UNITS)][:3] == [
        ("red", 1),
        ("red", 2),
        ("green", 1),
    ]
