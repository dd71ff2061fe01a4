"""Opens the queue at an address: a file for one server, or a PostgreSQL that several share."""

from __future__ import annotations

import fcntl
import sqlite3
import time
from pathlib import Path
from typing import IO

from routing_action.bot.server.queue.sql_queue import Connection, Dialect, SqlQueue
from routing_action.errors import HarnessError

_SCHEMES = ("postgresql://", "postgres://")
_WAIT_SECONDS = 30
_SQLITE = Dialect(
    blob="BLOB",
    real="REAL",
    mark="?",
    begin=("PRAGMA synchronous = NORMAL", "BEGIN IMMEDIATE"),
    begin_safe=("PRAGMA synchronous = FULL", "BEGIN IMMEDIATE"),
    set_up="SELECT 1",
    lock="",
    lost=(),
)
# Two servers that start at once would both create the tables; the number is ours.
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(7310920024)"
# A line that went dead is noticed in seconds.
_LINE = (
    "connect_timeout=5 keepalives_idle=30 tcp_user_timeout=10000 application_name=routing-action"
)


def is_shared(address: str) -> bool:
    """True for an address that several servers may use at once."""
    return address.startswith(_SCHEMES)


def open_queue(address: str) -> SqlQueue:
    """The queue at `postgresql://...`, or in a file, which is made for the user's eyes alone.

    Raises HarnessError where it cannot be opened.
    """
    return _open_shared(address) if is_shared(address) else _open_file(Path(address))


def claim_file(path: Path) -> IO[bytes]:
    """Hold a queue's file for this process until what is returned is closed.

    Raises HarnessError where another server holds it: each would take the other's work for lost.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = path.with_name(f"{path.name}.lock").open("wb")
    except OSError as error:
        raise _unusable(path, error.strerror or "") from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        raise HarnessError(
            f"another server uses the queue {path}",
            remedy="stop it, or let both share a PostgreSQL: set queue to its address",
        ) from None
    return held


def _open_file(path: Path) -> SqlQueue:
    def connect() -> Connection:
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=_WAIT_SECONDS
        )
        # SQLite's own wait does not serve this change where two make it at once.
        for left in reversed(range(_WAIT_SECONDS * 20)):
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or not left:
                    connection.close()
                    raise
                time.sleep(0.05)
        return connection

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        return SqlQueue(connect, _SQLITE)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, getattr(error, "strerror", None) or str(error)) from None


def _unusable(path: Path, cause: str) -> HarnessError:
    return HarnessError(
        f"the queue {path} cannot be opened: {cause}",
        remedy="set queue to a file in a folder that this user may write to, on a local disk",
    )


def _open_shared(address: str) -> SqlQueue:
    import psycopg  # noqa: PLC0415 - only where it is used

    dialect = Dialect(
        blob="BYTEA",
        real="DOUBLE PRECISION",
        mark="%s",
        begin=("BEGIN; SET LOCAL synchronous_commit TO OFF",),
        begin_safe=("BEGIN",),
        set_up=_ONE_AT_A_TIME,
        lock="FOR UPDATE SKIP LOCKED",
        lost=(psycopg.OperationalError, psycopg.InterfaceError),
    )

    options = psycopg.conninfo.conninfo_to_dict(_LINE)

    def connect() -> Connection:
        return psycopg.connect(psycopg.conninfo.make_conninfo(address, **options), autocommit=True)

    try:
        return SqlQueue(connect, dialect)
    except psycopg.Error as error:
        # The driver's own words may hold the address, and so a password.
        raise HarnessError(
            f"the queue in PostgreSQL cannot be opened: {type(error).__name__}",
            remedy="check the address with `psql`, and that the user may create tables",
        ) from None
