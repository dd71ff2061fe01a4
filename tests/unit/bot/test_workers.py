"""Workers of the bot's server: each delivery again until it is done, and an end that loses none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from routing_action.bot.server import worker
from routing_action.bot.server.queue.deliveries import Delivery, Kept, State
from routing_action.bot.server.queue.open_queue import open_queue
from routing_action.bot.server.queue.sql_queue import SqlQueue
from routing_action.bot.server.worker import LEASE_SECONDS, MOST_ATTEMPTS, Workers
from routing_action.github.failures import LATER, ApiError


class Clock:
    """A time that only tests move."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def queue(tmp_path: Path) -> SqlQueue:
    return open_queue(str(tmp_path / "q.db"))


def put(queue: SqlQueue, *ids: str, installation: int = 1) -> None:
    queue.put([Delivery(one, "push", installation, "o/r", b"{}") for one in ids], 1)


def work(
    queue: SqlQueue,
    handle: Callable[[Kept], None],
    until: Callable[[], bool],
    clock: Clock | None = None,
    size: int = 4,
) -> list[tuple[str, str]]:
    """What was counted, until something is so."""
    counted: list[tuple[str, str]] = []

    async def run() -> None:
        workers = Workers(
            queue,
            handle,
            name="w",
            size=size,
            count=lambda word, event, _: counted.append((word, event)),
            clock=clock or Clock(),
        )
        task = asyncio.create_task(workers.run(30))
        async with asyncio.timeout(60):
            while not until():
                await asyncio.sleep(0.01)
        workers.stop()
        assert await task

    asyncio.run(run())
    return counted


def states(queue: SqlQueue, state: State) -> list[str]:
    return sorted(one.delivery.id for one in queue.list(state, 99))


def test_each_delivery_is_handled_and_counted(queue: SqlQueue) -> None:
    """With its body."""
    put(queue, "a", "b", "c")
    seen: list[bytes] = []
    counted = work(
        queue,
        lambda kept: seen.append(kept.delivery.body),
        lambda: len(states(queue, State.DONE)) == 3,
    )
    assert seen == [b"{}"] * 3
    assert counted == [("done", "push")] * 3


def test_a_failure_is_tried_again_later_and_later_until_it_is_dead(
    queue: SqlQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last error is kept with it."""
    monkeypatch.setattr(worker, "_PAUSE_SECONDS", 0.01)
    put(queue, "a")
    clock, tried = Clock(), [0.0]

    def fail(kept: Kept) -> None:
        tried.append(clock.now)
        raise ApiError(f"no answer, attempt {kept.attempts}", status=0, remedy=LATER)

    def is_dead() -> bool:
        clock.now += 1
        return bool(states(queue, State.DEAD))

    counted = work(queue, fail, is_dead, clock)
    assert [word for word, _ in counted] == ["again"] * (MOST_ATTEMPTS - 1) + ["dead"]
    pauses = [after - before for before, after in pairwise(tried[1:])]
    assert all(pause >= 5 * 3**turn for turn, pause in enumerate(pauses))
    kept = queue.show("a")
    assert kept is not None
    assert kept.error == (
        f"ApiError: no answer, attempt {MOST_ATTEMPTS}; check DNS and proxy; "
        "let it be tried again with `routing-action bot deliveries retry ID`"
    )


@pytest.mark.parametrize(("status", "paused"), [(403, True), (429, True), (503, False)])
def test_a_wait_that_github_asks_for_is_kept(queue: SqlQueue, status: int, paused: bool) -> None:
    """A used-up limit holds up all of the installation, and no other one."""
    put(queue, "a")
    clock = Clock()

    def fail(_: Kept) -> None:
        raise ApiError("later", status=status, retry_after=300)

    work(queue, fail, lambda: any(one.error for one in queue.list(State.WAITING, 9)), clock)
    put(queue, "b")
    put(queue, "c", installation=2)
    early = {one.delivery.id for _ in range(3) if (one := queue.take("x", 1299, 9)) is not None}
    assert early == ({"c"} if paused else {"b", "c"})
    later = queue.take("x", 1300, 9)
    assert later is not None
    assert later.delivery.id == ("b" if paused else "a")


def test_a_bug_takes_no_worker_down(queue: SqlQueue) -> None:
    """Whatever is raised, the next delivery is handled."""
    put(queue, "a", "b")

    def handle(kept: Kept) -> None:
        if kept.delivery.id == "a":
            raise ZeroDivisionError("a bug")

    counted = work(queue, handle, lambda: states(queue, State.DONE) == ["b"], size=1)
    assert ("again", "push") in counted


def test_one_installation_never_has_all_workers(queue: SqlQueue) -> None:
    """While it waits for GitHub, others are served."""
    put(queue, *(f"n{one}" for one in range(8)))
    held, running = threading.Event(), []

    def handle(kept: Kept) -> None:
        running.append(kept.delivery.id)
        if kept.delivery.installation == 1:
            held.wait(30)

    def is_so() -> bool:
        if len(running) == 2:
            put(queue, "other", installation=2)
        if states(queue, State.DONE) == ["other"]:
            held.set()
        return len(states(queue, State.DONE)) == 9

    work(queue, handle, is_so, size=4)
    assert running[:3] == ["n0", "n1", "other"] or sorted(running[:2]) == ["n0", "n1"]
    assert "other" in running[:3]


def test_a_queue_that_does_not_answer_for_a_while_is_used_again(
    queue: SqlQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers outlive the database."""
    monkeypatch.setattr(worker, "_FIRST_RETRY_SECONDS", 0.01)
    put(queue, "a")
    taken, failures = queue.take, iter(range(3))

    def take(name: str, now: float, most_each: int) -> Kept | None:
        if next(failures, None) is not None:
            raise OSError("gone")
        return taken(name, now, most_each)

    monkeypatch.setattr(queue, "take", take)
    counted = work(queue, lambda _: None, lambda: states(queue, State.DONE) == ["a"])
    assert counted == [("done", "push")]


def test_what_others_let_go_of_is_taken_over(queue: SqlQueue) -> None:
    """Once nobody has been heard of for the time of a lease."""
    put(queue, "a")
    queue.take("gone", 1, 9)
    clock = Clock()
    clock.now = LEASE_SECONDS + 2
    work(queue, lambda _: None, lambda: states(queue, State.DONE) == ["a"], clock)
