"""The door for webhooks over HTTP: only what GitHub has signed is kept, and each of it once."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given
from hypothesis import strategies as st

from routing_action.bot.server.events import EVENTS
from routing_action.bot.server.intake import MAX_BODY_BYTES, Intake
from routing_action.bot.server.queue.deliveries import Delivery, State
from routing_action.bot.server.queue.keeper import Keeper
from routing_action.bot.server.queue.open_queue import open_queue
from routing_action.bot.server.queue.sql_queue import SqlQueue
from routing_action.bot.server.signature import Signature
from tests.support.webhooks import SECRET, headers, load_examples, sign

EXAMPLES = load_examples()
BODY = b'{"action": "created", "installation": {"id": 7}, "repository": {"full_name": "octo/demo"}}'

Client = TestClient[web.Request, web.Application]


class Door:
    """A door that is open, and the queue behind it."""

    def __init__(self, client: Client, queue: SqlQueue, counted: list[str]) -> None:
        self.client = client
        self.queue = queue
        self.counted = counted

    async def post(
        self, body: bytes | AsyncIterator[bytes] = BODY, given: dict[str, str] | None = None
    ) -> tuple[int, str]:
        """The status, and what a person reads."""
        sent = headers(body) if given is None and isinstance(body, bytes) else given
        data = io.BytesIO(body) if isinstance(body, bytes) else body
        async with self.client.post("/webhook", data=data, headers=sent) as answer:
            return answer.status, (await answer.json())["result"]

    def kept(self) -> list[str]:
        return [one.delivery.id for one in self.queue.list(State.WAITING, 999)]


@asynccontextmanager
async def open_door(
    queue: SqlQueue,
    secrets: Sequence[str] = (SECRET,),
    keep_seconds: float = 60,
    **more: float,
) -> AsyncIterator[Door]:
    counted: list[str] = []
    keeper = Keeper(queue, keep_seconds=keep_seconds)
    app = web.Application()
    app.router.add_post("/webhook", Intake(keeper, secrets, EVENTS, counted.append, **more).take)
    writes = asyncio.create_task(keeper.run())
    server = TestServer(app)
    await server.start_server(auto_decompress=False)
    async with TestClient(server) as client:
        yield Door(client, queue, counted)
    writes.cancel()


@pytest.fixture
def queue(tmp_path: Path) -> SqlQueue:
    return open_queue(str(tmp_path / "q.db"))


def at_door(
    queue: SqlQueue, visit: Callable[[Door], Awaitable[None]], *secrets: str, **more: float
) -> list[str]:
    """The ids of what was kept in the end."""

    async def run() -> None:
        async with open_door(queue, secrets or (SECRET,), **more) as door:
            await visit(door)

    asyncio.run(run())
    return [one.delivery.id for one in queue.list(State.WAITING, 999)]


def test_a_signed_delivery_is_kept_as_it_came(queue: SqlQueue) -> None:
    """With its event, installation and repository, and its body to the byte."""

    async def visit(door: Door) -> None:
        assert await door.post() == (202, "kept")
        assert door.counted == ["kept"]

    assert at_door(queue, visit) == ["d-1"]
    kept = queue.show("d-1")
    assert kept is not None
    assert kept.delivery == Delivery("d-1", "issue_comment", 7, "octo/demo", BODY)


def test_a_replayed_delivery_counts_once(queue: SqlQueue) -> None:
    """GitHub is answered as before, and nothing is kept twice."""

    async def visit(door: Door) -> None:
        for _ in range(3):
            assert (await door.post())[0] == 202

    assert at_door(queue, visit) == ["d-1"]


@pytest.mark.parametrize("secret", ["old", "new"])
def test_both_secrets_hold_while_one_replaces_the_other(queue: SqlQueue, secret: str) -> None:
    """A rotation loses no delivery."""

    async def visit(door: Door) -> None:
        sent = headers(BODY, X_Hub_Signature_256=sign(BODY, secret))
        assert (await door.post(BODY, sent))[0] == 202

    assert at_door(queue, visit, "new", "old") == ["d-1"]


SHA1 = "sha1=" + "a" * 40


@pytest.mark.parametrize(
    ("body", "sent", "status"),
    [
        pytest.param(BODY, headers(BODY, X_Hub_Signature_256=""), 401, id="no signature"),
        pytest.param(BODY, headers(BODY, X_Hub_Signature_256="sha256="), 401, id="empty"),
        pytest.param(BODY, headers(BODY, X_Hub_Signature_256=SHA1), 401, id="SHA-1 alone"),
        pytest.param(
            BODY,
            headers(BODY, X_Hub_Signature_256="", X_Hub_Signature=SHA1),
            401,
            id="SHA-1 in its own header",
        ),
        pytest.param(
            BODY,
            headers(BODY, X_Hub_Signature_256=sign(BODY, "other")),
            401,
            id="another secret",
        ),
        pytest.param(BODY, headers(BODY, X_Hub_Signature_256=sign(BODY, "")), 401, id="no secret"),
        pytest.param(BODY + b" ", headers(BODY), 401, id="another body"),
        pytest.param(BODY[:-5], headers(BODY), 401, id="a body that was cut"),
        pytest.param(b"", headers(BODY), 401, id="no body"),
        pytest.param(BODY, headers(BODY, Content_Type="text/plain"), 415, id="plain text"),
        pytest.param(
            BODY,
            headers(BODY, Content_Type="application/x-www-form-urlencoded"),
            415,
            id="a form",
        ),
        pytest.param(BODY, headers(BODY, Content_Encoding="gzip"), 415, id="compressed"),
        pytest.param(b"payload=", headers(b"payload="), 400, id="no JSON"),
        pytest.param(b"[1]", headers(b"[1]"), 400, id="no object"),
        pytest.param(b"\xff\xfe", headers(b"\xff\xfe"), 400, id="no text"),
        pytest.param(b"[" * 99_999, headers(b"[" * 99_999), 400, id="deep JSON"),
        pytest.param(BODY, headers(BODY, X_GitHub_Event=""), 400, id="no event"),
        pytest.param(BODY, headers(BODY, X_GitHub_Delivery=""), 400, id="no id"),
        pytest.param(BODY, headers(BODY, "a/b"), 400, id="an id of another form"),
        pytest.param(BODY, headers(BODY, event="Push!"), 400, id="an event of another form"),
    ],
)
def test_what_github_did_not_send_is_not_kept(
    queue: SqlQueue, body: bytes, sent: dict[str, str], status: int
) -> None:
    """Each is refused with a status and a reason, and the door stays open."""

    async def visit(door: Door) -> None:
        got, words = await door.post(body, sent)
        assert got == status
        assert words
        assert door.counted == ["rejected"]
        assert (await door.post(BODY, headers(BODY, "next")))[0] == 202

    assert at_door(queue, visit) == ["next"]


@pytest.mark.parametrize(
    "sent",
    [headers(BODY, X_Hub_Signature_256="sha256=x"), headers(BODY, "a/b")],
    ids=["signature", "id"],
)
def test_a_header_of_another_form_is_not_told_as_missing(
    queue: SqlQueue, sent: dict[str, str]
) -> None:
    """It is there, for whoever looks at the delivery."""

    async def visit(door: Door) -> None:
        assert "missing or malformed" in (await door.post(BODY, sent))[1]

    assert at_door(queue, visit) == []


def test_a_server_without_a_secret_takes_nothing(queue: SqlQueue) -> None:
    """Not even what is signed with an empty one."""

    async def visit(door: Door) -> None:
        sent = headers(BODY, X_Hub_Signature_256=sign(BODY, ""))
        assert (await door.post(BODY, sent))[0] == 401

    assert at_door(queue, visit, "") == []


def test_no_json_is_read_before_the_signature_holds(
    queue: SqlQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's body reaches no parser."""
    read: list[bytes] = []

    def watch(body: bytes) -> dict[str, Any]:
        read.append(body)
        return {"action": "created"}

    monkeypatch.setattr("routing_action.bot.server.intake._decode", watch)

    async def visit(door: Door) -> None:
        await door.post(BODY, headers(BODY, X_Hub_Signature_256=sign(BODY, "other")))
        assert read == []
        await door.post()
        assert read == [BODY]

    at_door(queue, visit)


async def _stream(size: int) -> AsyncIterator[bytes]:
    for start in range(0, size, 2**20):
        yield b" " * min(2**20, size - start)


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large_is_refused_early(queue: SqlQueue, announced: bool) -> None:
    """Whether its size is announced or only seen."""
    size = MAX_BODY_BYTES + 1

    async def visit(door: Door) -> None:
        sent = headers(b"")
        if announced:
            sent["Content-Length"] = str(size)
        # The connection may be closed while the rest is still being sent.
        with suppress(ConnectionError):
            assert (await door.post(_stream(size), sent))[0] == 413
        assert door.counted == ["rejected"]

    assert at_door(queue, visit) == []


def test_the_largest_body_is_kept(queue: SqlQueue) -> None:
    """25 MB, as GitHub's own limit is."""
    body = BODY.ljust(MAX_BODY_BYTES)

    async def visit(door: Door) -> None:
        assert await door.post(body) == (202, "kept")

    assert at_door(queue, visit) == ["d-1"]


def test_many_large_bodies_at_once_do_not_fill_the_memory(queue: SqlQueue) -> None:
    """Beyond a bound the sender is told to come back; afterwards the door is open again."""

    async def visit(door: Door) -> None:
        body = BODY.ljust(3000)
        assert (await door.post(body))[0] == 503
        assert (await door.post(BODY, headers(BODY, "next")))[0] == 202

    assert at_door(queue, visit, max_held_bytes=2000) == ["next"]


def test_a_body_that_never_ends_is_let_go(queue: SqlQueue) -> None:
    """The sender is told, and holds nothing up."""

    async def endless() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(30)

    async def visit(door: Door) -> None:
        async with ClientSession() as session:
            url = door.client.make_url("/webhook")
            async with session.post(url, data=endless(), headers=headers(b"{")) as answer:
                assert answer.status == 408

    assert at_door(queue, visit, read_seconds=0.05) == []


def test_a_body_that_breaks_off_is_no_delivery(queue: SqlQueue) -> None:
    """Nothing of it is kept, and the next one is."""

    async def visit(door: Door) -> None:
        port = door.client.port
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = [f"{name}: {value}" for name, value in headers(BODY).items()]
        head = ["POST /webhook HTTP/1.1", "Host: x", "Content-Length: 500", *lines]
        writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + BODY)
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        assert (await door.post(BODY, headers(BODY, "next")))[0] == 202

    assert at_door(queue, visit) == ["next"]


@pytest.mark.parametrize(
    ("event", "example"), EXAMPLES, ids=[f"{event}-{n}" for n, (event, _) in enumerate(EXAMPLES)]
)
def test_each_example_of_github_is_taken(
    queue: SqlQueue, event: str, example: dict[str, Any]
) -> None:
    """What is handled is kept with its repository; what is not is answered with 202 too."""
    body = json.dumps(example).encode()
    is_handled = example.get("action") in EVENTS.get(event, ())

    async def visit(door: Door) -> None:
        status, words = await door.post(body, headers(body, event=event))
        what = f"this action of {event}" if event in EVENTS else event
        expected = "kept" if is_handled else f"{what} is not handled"
        expected = "pong" if event == "ping" else expected
        assert (status, words) == (202, expected)

    at_door(queue, visit)
    kept = queue.show("d-1")
    assert (kept is not None) == is_handled
    if kept is not None:
        assert kept.delivery.repository == example.get("repository", {}).get("full_name", "")
        assert kept.delivery.installation == example.get("installation", {}).get("id", 0)


@pytest.mark.parametrize(
    "body",
    [
        {"installation": {"id": "7"}, "repository": {"full_name": "a\0b/c"}},
        {"installation": {"id": True}, "repository": {"full_name": ["x"]}},
        {"installation": {"id": -1}, "repository": {"full_name": "\ud800/x"}},
        {"installation": {"id": 2**63}, "repository": {"full_name": "../../x"}},
        {"installation": None, "repository": None},
        {},
    ],
)
def test_an_address_of_another_form_counts_as_none(queue: SqlQueue, body: dict[str, Any]) -> None:
    """It cannot break the queue for the deliveries that come with it."""
    data = json.dumps({"action": "created", **body}).encode()

    async def visit(door: Door) -> None:
        assert (await door.post(data))[0] == 202

    at_door(queue, visit)
    kept = queue.show("d-1")
    assert kept is not None
    assert (kept.delivery.installation, kept.delivery.repository) == (0, "")


class _Broken:
    """A queue whose disk is full, or that never ends to write."""

    def __init__(self, queue: SqlQueue) -> None:
        self.held = threading.Event()
        self.is_full = True
        self._queue = queue

    def put(self, deliveries: Sequence[Delivery], now: float) -> int:
        if self.is_full:
            raise sqlite3.OperationalError("database or disk is full")
        self.held.wait(30)
        return self._queue.put(deliveries, now)


def test_what_cannot_be_kept_is_never_acknowledged(queue: SqlQueue) -> None:
    """A full disk is answered at once, and one that hangs in time; GitHub's log shows both."""
    broken = _Broken(queue)

    async def visit() -> None:
        async with open_door(broken, keep_seconds=0.2) as door:  # type: ignore[arg-type]
            assert (await door.post())[0] == 503
            broken.is_full = False
            assert (await door.post(BODY, headers(BODY, "slow")))[0] == 503
            assert not broken.held.is_set()
            assert door.counted == ["failed", "failed"]
            broken.held.set()
        async with open_door(queue) as door:
            assert (await door.post(BODY, headers(BODY, "next")))[0] == 202

    asyncio.run(visit())
    assert {"next"} <= {one.delivery.id for one in queue.list(State.WAITING, 9)} <= {"slow", "next"}


@given(st.binary(max_size=300), st.lists(st.integers(1, 299), max_size=3), st.text(max_size=80))
def test_a_signature_holds_for_its_own_bytes_alone(
    body: bytes, cuts: list[int], header: str
) -> None:
    """However they are cut into pieces; no other header proves anything, and none raises."""
    for given_header, expected in ((sign(body), True), (header, False), (sign(body + b"x"), False)):
        signature = Signature(given_header, [SECRET, ""])
        places = [0, *sorted(min(one, len(body)) for one in cuts), len(body)]
        for start, end in pairwise(places):
            signature.add(body[start:end])
        assert signature.is_proven() is expected
