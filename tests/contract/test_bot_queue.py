"""The queue of deliveries: the same in a file and in PostgreSQL, whatever happens to its users."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routing_action.bot.server.queue.deliveries import Delivery, Kept, State
from routing_action.bot.server.queue.open_queue import claim_file, is_shared, open_queue
from routing_action.bot.server.queue.sql_queue import SqlQueue
from routing_action.errors import HarnessError
from tests.support.postgres import Postgres, run_postgres, why_not

EACH = 100


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    if reason := why_not():
        pytest.skip(reason)
    with run_postgres() as server:
        yield server


@dataclass
class Place:
    """Where a queue is kept."""

    address: str

    def open(self) -> SqlQueue:
        return open_queue(self.address)


@pytest.fixture(params=["a file", "PostgreSQL"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "a file":
        return Place(str(tmp_path / "a folder" / "the queue.db"))
    server: Postgres = request.getfixturevalue("postgres")
    return Place(server.new_address())


@pytest.fixture
def queue(place: Place) -> Iterator[SqlQueue]:
    made = place.open()
    yield made
    made.close()


def delivery(number: int | str, installation: int = 1, body: bytes = b"{}") -> Delivery:
    return Delivery(f"d{number}", "issue_comment", installation, "octo/demo", body)


def take(queue: SqlQueue, now: float = 100, worker: str = "w", most_each: int = EACH) -> Kept:
    kept = queue.take(worker, now, most_each)
    assert kept is not None
    return kept


# --- keeping ----------------------------------------------------------------------------------


def test_what_was_put_comes_back_as_it_was(queue: SqlQueue) -> None:
    """Body, event and address are kept to the byte, and the attempt is counted."""
    body = bytes(range(256)) + "ä\u2028".encode()
    one = Delivery("d1", "check_run", 2**62, "octo/de-mo", body)
    assert queue.put([one], 10.0) == 1
    assert take(queue) == Kept(one, State.TAKEN, 1, 10.0)
    assert queue.take("w", 100, EACH) is None


def test_the_same_delivery_counts_once(queue: SqlQueue) -> None:
    """Sent again while it waits, while it is worked on, and after it was handled."""
    assert queue.put([delivery(1), delivery(1)], 1) == 1
    assert queue.put([delivery(1), delivery(2)], 2) == 1
    take(queue)
    assert queue.put([delivery(1)], 3) == 0
    queue.finish("d1")
    assert queue.put([delivery(1)], 4) == 0
    assert take(queue).delivery.id == "d2"
    assert queue.take("w", 100, EACH) is None


def test_a_queue_is_there_after_it_was_closed(place: Place) -> None:
    """Another process sees what was put, and who opens it for a look changes nothing."""
    first = place.open()
    first.put([delivery(1), delivery(2)], 1)
    take(first)
    second = place.open()
    assert [one.delivery.id for one in second.list(State.TAKEN, 9)] == ["d1"]
    first.close()
    assert take(second).delivery.id == "d2"
    second.close()


def test_a_file_is_for_its_user_alone(tmp_path: Path) -> None:
    """Comments of private repositories are in it."""
    open_queue(str(tmp_path / "q.db")).close()
    assert (tmp_path / "q.db").stat().st_mode & 0o777 == 0o600


def test_one_server_holds_a_file(tmp_path: Path) -> None:
    """A second one is told to stop the first or to share a PostgreSQL."""
    with claim_file(tmp_path / "q.db"), pytest.raises(HarnessError, match="another server"):
        claim_file(tmp_path / "q.db")
    claim_file(tmp_path / "q.db").close()


@pytest.mark.parametrize("name", ["", "file/q.db"])
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, name: str) -> None:
    """A folder, or a folder that is a file."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(HarnessError, match="cannot be opened"):
        open_queue(str(tmp_path / name))


def test_a_database_that_is_not_there_is_told_without_its_address() -> None:
    """The address may hold a password."""
    with pytest.raises(HarnessError) as caught:
        open_queue("postgresql://u:hunter2@127.0.0.1:1/none")
    assert "hunter2" not in str(caught.value)
    assert is_shared("postgres://h/d")


# --- fairness ---------------------------------------------------------------------------------


def test_a_noisy_installation_waits_for_its_turn(queue: SqlQueue) -> None:
    """Fifty deliveries of one do not come before one each of two others."""
    queue.put([delivery(f"n{one:02}", 1) for one in range(50)], 1)
    queue.put([delivery("a", 2), delivery("b", 3)], 2)
    served = [take(queue, 100 + turn).delivery.installation for turn in range(5)]
    assert sorted(served[:3]) == [1, 2, 3]
    assert served[3:] == [1, 1]


def test_an_installation_never_has_all_workers(queue: SqlQueue) -> None:
    """What is at work counts, in whichever process, until it ends."""
    queue.put([delivery(one, 1) for one in range(4)], 1)
    take(queue, most_each=2)
    take(queue, worker="other", most_each=2)
    assert queue.take("w", 100, 2) is None
    queue.put([delivery("x", 2)], 2)
    assert take(queue, most_each=2).delivery.id == "dx"
    queue.finish("d0")
    assert take(queue, most_each=2).delivery.id == "d2"


def test_a_used_up_limit_pauses_its_installation_alone(queue: SqlQueue) -> None:
    """Until the time that GitHub asks for; an earlier time shortens nothing."""
    queue.put([delivery("a", 1), delivery("b", 2)], 1)
    queue.pause(1, 200)
    queue.pause(1, 150)
    assert take(queue, 100).delivery.id == "db"
    assert queue.take("w", 199, EACH) is None
    assert take(queue, 200).delivery.id == "da"


@pytest.mark.parametrize("seed", range(3))
def test_every_delivery_is_taken_by_one_worker(place: Place, seed: int) -> None:
    """Four workers with connections of their own share forty deliveries."""
    queues = [place.open() for _ in range(4)]
    queues[0].put([delivery(one, one % (seed + 2)) for one in range(40)], 1)

    def work(queue: SqlQueue) -> list[str]:
        found = []
        while (kept := queue.take(f"w{id(queue)}", 100, EACH)) is not None:
            found.append(kept.delivery.id)
            queue.finish(kept.delivery.id)
        return found

    with ThreadPoolExecutor(4) as pool:
        taken = [one for found in pool.map(work, queues) for one in found]
    for queue in queues:
        queue.close()
    assert sorted(taken) == sorted(f"d{one}" for one in range(40))


# --- failures ---------------------------------------------------------------------------------


def test_what_failed_waits_until_its_time(queue: SqlQueue) -> None:
    """And counts its attempts."""
    queue.put([delivery(1)], 1)
    take(queue)
    queue.fail("d1", "w", "no answer", 100, again_at=105)
    assert queue.take("w", 104, EACH) is None
    assert take(queue, 105).attempts == 2


@pytest.mark.parametrize("error", ["no answer", "a\0b \ud800 ä" * 900])
def test_what_was_given_up_is_listed_shown_and_tried_again(queue: SqlQueue, error: str) -> None:
    """With its error, whatever signs that holds; the body is shown of one alone."""
    queue.put([delivery(1, body=b'{"a":1}')], 1)
    take(queue)
    queue.fail("d1", "w", error, 100, again_at=None)
    assert queue.take("w", 999, EACH) is None
    (listed,) = queue.list(State.DEAD, 9)
    assert (listed.delivery.body, listed.attempts) == (b"", 1)
    assert listed.error[:1] == error[:1]
    shown = queue.show("d1")
    assert shown is not None
    assert shown.delivery.body == b'{"a":1}'
    assert queue.retry("d1", 200)
    assert take(queue, 200).attempts == 1
    assert not queue.retry("d1", 200)
    assert not queue.retry("none", 200)
    assert queue.show("none") is None


def test_a_worker_that_is_heard_of_keeps_its_work(queue: SqlQueue) -> None:
    """Only what was not extended is taken over; an end that comes too late changes nothing."""
    queue.put([delivery(1), delivery(2)], 1)
    take(queue, 100)
    take(queue, 100)
    queue.extend(["d2"], 150)
    assert queue.recover(120, 160, 9) == 1
    again = take(queue, 160, worker="other")
    assert (again.delivery.id, again.attempts) == ("d1", 2)
    queue.fail("d1", "w", "late", 170, again_at=171)
    assert queue.show("d1") == Kept(delivery(1), State.TAKEN, 2, 1, "the server ended while "
                                    "this was handled")  # fmt: skip


def test_a_delivery_that_ends_the_server_each_time_is_given_up(queue: SqlQueue) -> None:
    """It does not take the server down for ever."""
    queue.put([delivery(1)], 1)
    for turn in range(3):
        take(queue, 100 + turn)
        assert queue.recover(1000, 100 + turn, 3) == 1
    assert [one.delivery.id for one in queue.list(State.DEAD, 9)] == ["d1"]


def test_what_is_given_back_was_never_tried(queue: SqlQueue) -> None:
    """Of this worker alone."""
    queue.put([delivery(1), delivery(2)], 1)
    take(queue)
    take(queue, worker="other")
    assert queue.give_back("w") == 1
    again = take(queue)
    assert (again.delivery.id, again.attempts) == ("d1", 1)


def test_what_was_done_is_forgotten_in_time(queue: SqlQueue) -> None:
    """What waits or was given up never is."""
    queue.put([delivery(one) for one in range(3)], 1)
    take(queue)
    take(queue)
    queue.finish("d0")
    queue.fail("d1", "w", "x", 2, again_at=None)
    assert queue.forget(1) == 0
    assert queue.forget(2) == 1
    assert queue.show("d0") is None
    assert (queue.depth(11).waiting, queue.depth(11).dead) == (1, 1)


def test_depth_tells_counts_and_the_longest_wait(queue: SqlQueue) -> None:
    """An empty queue has nobody who waits."""
    assert queue.depth(5).oldest_seconds == 0
    assert queue.newest() == 0
    queue.put([delivery(1)], 2)
    queue.put([delivery(2), delivery(3)], 4)
    take(queue, 10)
    depth = queue.depth(10)
    assert (depth.waiting, depth.taken, depth.dead, depth.oldest_seconds) == (2, 1, 0, 6)
    assert queue.newest() == 4


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 9), st.integers(1, 3)),
        st.tuples(st.just("take"), st.integers(1, 2), st.just(0)),
        st.tuples(st.just("finish"), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("give back"), st.integers(1, 2), st.just(0)),
    ),
    max_size=30,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS)
def test_whatever_is_done_each_delivery_is_in_one_state(
    tmp_path: Path, steps: list[tuple[str, int, int]]
) -> None:
    """What was put and not finished is waiting or taken, and what is taken is taken once."""
    file = tmp_path / "steps.db"
    for one in tmp_path.glob("steps.db*"):
        one.unlink()
    queue = open_queue(str(file))
    put: set[str] = set()
    done: set[str] = set()
    for now, (what, number, installation) in enumerate(steps):
        if what == "put":
            queue.put([delivery(number, installation)], now)
            put.add(f"d{number}")
        elif what == "take":
            kept = queue.take(f"w{number}", now, EACH)
            assert kept is None or kept.delivery.id in put - done
        elif what == "finish" and f"d{number}" in put:
            queue.finish(f"d{number}")
            done.add(f"d{number}")
        elif what == "give back":
            queue.give_back(f"w{number}")
    listed = {state: {one.delivery.id for one in queue.list(state, 99)} for state in State}
    queue.close()
    assert listed[State.DONE] == done
    assert listed[State.WAITING] | listed[State.TAKEN] == put - done


# --- ends of the process and of the connection ------------------------------------------------

_CHILD = """
import json, sys
from routing_action.bot.server.queue.deliveries import Delivery
from routing_action.bot.server.queue.open_queue import open_queue
address, what, first = sys.argv[1:]
queue = open_queue(address)
for number in range(int(first), int(first) + 100000):
    if what == "put":
        queue.put([Delivery(f"d{number:06}", "push", number % 5, "o/r", b"x" * 2000)], number)
        print(json.dumps(f"d{number:06}"), flush=True)
    else:
        kept = queue.take("child", 1e9, 100)
        if kept is None:
            break
        print(json.dumps(["begun", kept.delivery.id]), flush=True)
        queue.finish(kept.delivery.id)
        print(json.dumps(["done", kept.delivery.id]), flush=True)
"""


def run_and_kill(place: Place, what: str, first: int, lines: int) -> list[Any]:
    """What a process said before it was ended by SIGKILL, in the middle of its work."""
    with subprocess.Popen(
        [sys.executable, "-c", _CHILD, place.address, what, str(first)],
        stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        said = [child.stdout.readline() for _ in range(lines)]
        child.kill()
        said += child.stdout.read().splitlines(keepends=True)
    return [json.loads(line) for line in said if line.endswith("\n")]


@pytest.mark.slow
def test_a_kill_loses_nothing_that_was_acknowledged(place: Place) -> None:
    """Three times in the middle of putting and of handling; what was begun comes again."""
    acknowledged: set[str] = set()
    for turn in range(3):
        acknowledged |= set(run_and_kill(place, "put", turn * 200_000, 30 + turn))
    queue = place.open()
    kept = {one.delivery.id for one in queue.list(State.WAITING, 10**6)}
    assert acknowledged <= kept
    begun: set[str] = set()
    done: set[str] = set()
    for turn in range(3):
        said = run_and_kill(place, "take", 0, 10 + turn)
        begun |= {one for what, one in said if what == "begun"}
        done |= {one for what, one in said if what == "done"}
        queue.recover(2e9, 1e9, 9)
    left = set()
    while (found := queue.take("w", 1e9, EACH)) is not None:
        left.add(found.delivery.id)
        queue.finish(found.delivery.id)
    queue.close()
    assert begun | left >= kept
    assert done <= begun
    assert not done & left


def test_a_lost_connection_is_opened_again(postgres: Postgres) -> None:
    """Nobody who uses the queue sees that the database ended its connection."""
    queue = open_queue(postgres.new_address())
    queue.put([delivery(1)], 1)
    for number in (2, 3):
        postgres.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'routing-action'"
        )
        assert queue.put([delivery(number)], 1) == 1
    assert queue.depth(2).waiting == 3
    queue.close()


def test_a_database_that_comes_back_is_used_again() -> None:
    """While it is away each call fails; nothing that was put is lost, though it crashed."""
    if reason := why_not():
        pytest.skip(reason)
    with run_postgres() as server:
        queue = open_queue(server.new_address())
        queue.put([delivery(1)], 1)
        server.stop()
        with pytest.raises(Exception, match="connect"):
            queue.put([delivery(2)], 1)
        server.start()
        assert queue.put([delivery(2)], 1) == 1
        assert queue.depth(2).waiting == 2
        queue.close()


def test_servers_that_start_at_once_make_the_tables_once(place: Place) -> None:
    """Each finds them."""
    ready = threading.Barrier(4)

    def start(_: int) -> int:
        ready.wait(30)
        queue = place.open()
        waiting = queue.depth(1).waiting
        queue.close()
        return waiting

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(start, range(4))) == [0, 0, 0, 0]
