"""A queue in a database: the statements that SQLite and PostgreSQL share; see `Queue`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from routing_action.bot.server.queue.deliveries import Delivery, Depth, Kept, State

_TABLES = (
    """CREATE TABLE IF NOT EXISTS deliveries (
        id TEXT PRIMARY KEY, event TEXT NOT NULL, installation BIGINT NOT NULL,
        repository TEXT NOT NULL, body {blob} NOT NULL, state TEXT NOT NULL,
        attempts INTEGER NOT NULL, received {real} NOT NULL, due {real} NOT NULL,
        worker TEXT NOT NULL, heard {real} NOT NULL, error TEXT NOT NULL)""",
    """CREATE INDEX IF NOT EXISTS deliveries_due
        ON deliveries (state, installation, due, received)""",
    "CREATE INDEX IF NOT EXISTS deliveries_received ON deliveries (received)",
    """CREATE TABLE IF NOT EXISTS turns (
        installation BIGINT PRIMARY KEY, served {real} NOT NULL, paused {real} NOT NULL)""",
)
_COLUMNS = "id, event, installation, repository, body, state, attempts, received, error"
_LOST = "the server ended while this was handled"
_LONGEST_ERROR = 2000

Result = TypeVar("Result")


class _Cursor(Protocol):
    rowcount: int

    def fetchone(self) -> Any: ...  # noqa: ANN401 - a row
    def fetchall(self) -> Any: ...  # noqa: ANN401 - rows


Run = Callable[..., _Cursor]
"""Runs a statement, whose values are marked with `?`."""


class Connection(Protocol):
    """What the drivers of both databases have, which begin and end transactions when told to."""

    def execute(self, query: Any, parameters: Any = ..., /) -> Any:  # noqa: ANN401
        """Run one statement."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the two databases say differently.

    `begin` starts a transaction that may be lost with the machine, `begin_safe` one that may not.
    `lost` are the errors after which a new connection is worth a try.
    """

    blob: str
    real: str
    mark: str
    begin: tuple[str, ...]
    begin_safe: tuple[str, ...]
    set_up: str
    lock: str
    lost: tuple[type[Exception], ...]


class SqlQueue:
    """One connection, used by one thread at a time, and opened again where it was lost."""

    def __init__(self, connect: Callable[[], Connection], dialect: Dialect) -> None:
        self._connect = connect
        self._dialect = dialect
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._do(self._set_up, safe=True)

    def _set_up(self, run: Run) -> None:
        run(self._dialect.set_up)
        for table in _TABLES:
            run(table.format(blob=self._dialect.blob, real=self._dialect.real))

    def _do(self, work: Callable[[Run], Result], *, safe: bool = False) -> Result:
        """Run statements of which all count, or none; once more where the connection was lost.

        Each of our transactions may be repeated, since nobody knows whether a lost one counted: at
        worst a delivery stays taken by nobody, until `recover` finds it.
        """
        with self._lock:
            try:
                return self._attempt(work, safe)
            except self._dialect.lost:
                self._let_go()
                return self._attempt(work, safe)

    def _attempt(self, work: Callable[[Run], Result], safe: bool) -> Result:
        if self._connection is None:
            self._connection = self._connect()
        connection = self._connection

        def run(query: str, *values: object) -> _Cursor:
            cursor: _Cursor = connection.execute(query.replace("?", self._dialect.mark), values)
            return cursor

        try:
            for statement in self._dialect.begin_safe if safe else self._dialect.begin:
                connection.execute(statement)
            result = work(run)
            connection.execute("COMMIT")
        except BaseException:
            with suppress(Exception):
                connection.execute("ROLLBACK")
            raise
        return result

    def _let_go(self) -> None:
        if self._connection is not None:
            with suppress(Exception):
                self._connection.close()
        self._connection = None

    # Where two processes lock several rows, they do it in the order of the ids.

    def put(self, deliveries: Sequence[Delivery], now: float) -> int:
        """Keep deliveries in one step; how many of them were new."""

        def work(run: Run) -> int:
            for installation in sorted({one.installation for one in deliveries}):
                run("INSERT INTO turns VALUES (?, 0, 0) ON CONFLICT DO NOTHING", installation)
            made = (
                run(
                    "INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, 'waiting', 0, ?, ?, '', 0, '')"
                    " ON CONFLICT DO NOTHING",
                    one.id, one.event, one.installation, one.repository, one.body, now, now,
                ).rowcount
                for one in sorted(deliveries, key=lambda one: one.id)
            )  # fmt: skip
            return sum(made)

        return self._do(work, safe=True)

    def take(self, worker: str, now: float, most_each: int) -> Kept | None:
        """The next delivery to work on, of the installation that was served longest ago."""

        def work(run: Run) -> Kept | None:
            due = run(
                "SELECT installation FROM turns WHERE paused <= ? AND EXISTS (SELECT 1"
                " FROM deliveries WHERE state = 'waiting'"
                " AND deliveries.installation = turns.installation AND due <= ?)"
                " AND (SELECT count(*) FROM deliveries WHERE state = 'taken'"
                " AND deliveries.installation = turns.installation) < ?"
                " ORDER BY served, installation LIMIT 8",
                now, now, most_each,
            ).fetchall()  # fmt: skip
            found = (self._take_of(run, one, worker, now) for (one,) in due)
            return next((kept for kept in found if kept is not None), None)

        return self._do(work)

    def _take_of(self, run: Run, installation: int, worker: str, now: float) -> Kept | None:
        """The oldest of an installation; None where other processes have all of them."""
        row = run(
            f"SELECT {_COLUMNS} FROM deliveries WHERE state = 'waiting'"  # noqa: S608
            " AND installation = ? AND due <= ? ORDER BY due, received, id LIMIT 1 "
            + self._dialect.lock,
            installation, now,
        ).fetchone()  # fmt: skip
        if row is None:
            return None
        run(
            "UPDATE deliveries SET state = 'taken', worker = ?, heard = ?,"
            " attempts = attempts + 1 WHERE id = ?",
            worker, now, row[0],
        )  # fmt: skip
        run("UPDATE turns SET served = ? WHERE installation = ?", now, installation)
        kept = _kept(row)
        return Kept(kept.delivery, State.TAKEN, kept.attempts + 1, kept.received)

    def finish(self, delivery_id: str) -> None:
        """A delivery has been handled; its body is of no more use and is removed."""
        self._change(
            "UPDATE deliveries SET state = 'done', error = '', body = ? WHERE id = ?",
            b"", delivery_id,
        )  # fmt: skip

    def fail(
        self, delivery_id: str, worker: str, error: str, now: float, *, again_at: float | None
    ) -> None:
        """Try at a time again, or give it up where that is None."""
        state = State.DEAD if again_at is None else State.WAITING
        self._change(
            "UPDATE deliveries SET state = ?, error = ?, due = ?"
            " WHERE id = ? AND state = 'taken' AND worker = ?",
            state.value, _plain(error), now if again_at is None else again_at, delivery_id, worker,
        )  # fmt: skip

    def pause(self, installation: int, until: float) -> None:
        """Begin nothing of an installation before a time."""
        self._change(
            "UPDATE turns SET paused = ? WHERE installation = ? AND paused < ?",
            until, installation, until,
        )  # fmt: skip

    def give_back(self, worker: str) -> int:
        """What a worker holds waits again; the attempt does not count."""
        return self._change(
            "UPDATE deliveries SET state = 'waiting', attempts = attempts - 1"
            " WHERE state = 'taken' AND worker = ?",
            worker,
        )

    def extend(self, delivery_ids: Sequence[str], now: float) -> None:
        """Say that these are at work."""

        def work(run: Run) -> None:
            for one in sorted(delivery_ids):
                run("UPDATE deliveries SET heard = ? WHERE id = ? AND state = 'taken'", now, one)

        self._do(work)

    def recover(self, before: float, now: float, most_attempts: int) -> int:
        """What nobody has extended since `before` waits again, or is given up; how many."""
        return self._change(
            "UPDATE deliveries SET due = ?, error = ?,"
            " state = CASE WHEN attempts < ? THEN 'waiting' ELSE 'dead' END"
            " WHERE state = 'taken' AND heard < ?",
            now, _LOST, most_attempts, before,
        )  # fmt: skip

    def depth(self, now: float) -> Depth:
        """How full it is."""

        def work(run: Run) -> Depth:
            rows = run(
                "SELECT state, count(*), min(received) FROM deliveries"
                " WHERE state IN ('waiting', 'taken', 'dead') GROUP BY state"
            ).fetchall()
            counts = {state: int(count) for state, count, _ in rows}
            oldest = next((first for state, _, first in rows if state == State.WAITING), now)
            waiting, taken, dead = (counts.get(one, 0) for one in ("waiting", "taken", "dead"))
            return Depth(waiting, taken, dead, max(0.0, now - float(oldest)))

        return self._do(work)

    def newest(self) -> float:
        """When the newest delivery was received; 0 where there is none."""
        row = self._do(lambda run: run("SELECT max(received) FROM deliveries").fetchone())
        return float(row[0] or 0)

    def list(self, state: State, most: int) -> Sequence[Kept]:
        """The newest deliveries in a state, without their bodies."""
        query = (
            f"SELECT {_COLUMNS.replace('body', 'NULL')} FROM deliveries"  # noqa: S608
            " WHERE state = ? ORDER BY received DESC, id LIMIT ?"
        )
        rows = self._do(lambda run: run(query, state.value, most).fetchall())
        return [_kept(row) for row in rows]

    def show(self, delivery_id: str) -> Kept | None:
        """One delivery, with its body."""
        query = f"SELECT {_COLUMNS} FROM deliveries WHERE id = ?"  # noqa: S608
        row = self._do(lambda run: run(query, delivery_id).fetchone())
        return None if row is None else _kept(row)

    def retry(self, delivery_id: str, now: float) -> bool:
        """Let a delivery that was given up wait again."""
        changed = self._change(
            "UPDATE deliveries SET state = 'waiting', attempts = 0, due = ?"
            " WHERE id = ? AND state = 'dead'",
            now, delivery_id,
        )  # fmt: skip
        return changed > 0

    def forget(self, before: float) -> int:
        """Remove what was done and received before a time; how many there were."""
        return self._change("DELETE FROM deliveries WHERE state = 'done' AND received < ?", before)

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._let_go()

    def _change(self, query: str, *values: object) -> int:
        """Run one statement; how many rows it changed."""
        return self._do(lambda run: run(query, *values).rowcount)


def _plain(text: str) -> str:
    """A text that every database takes: no lone surrogates, no NUL, and not long."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")[:_LONGEST_ERROR]


def _kept(row: Sequence[Any]) -> Kept:
    delivery = Delivery(row[0], row[1], int(row[2]), row[3], bytes(row[4] or b""))
    return Kept(delivery, State(row[5]), int(row[6]), float(row[7]), row[8])
