"""A PostgreSQL of a test's own, in a temporary folder, or the reason why there is none."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

_USER = "postgres"


def find_programs() -> Path | None:
    """The folder with `initdb` and `pg_ctl` of the newest PostgreSQL; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


def why_not() -> str:
    """Why no PostgreSQL can be started here; "" where one can."""
    if find_programs() is None:
        return "no PostgreSQL is installed (on Debian: postgresql)"
    if os.geteuid() == 0 and not _has_user():
        return "PostgreSQL does not run as root, and there is no user postgres"
    return ""


def _has_user() -> bool:
    try:
        pwd.getpwnam(_USER)
    except KeyError:
        return False
    return True


class Postgres:
    """A running server; `new_address` names an empty place in it."""

    def __init__(self, folder: Path, port: int, *, syncs: bool) -> None:
        self._folder = folder
        self._url = f"postgresql://{_USER}@127.0.0.1:{port}/postgres"
        self._options = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories=''"
        self._options += "" if syncs else " -F"
        self._places = 0

    def new_address(self) -> str:
        """The address of a schema that holds nothing yet."""
        self._places += 1
        name = f"place_{self._places}"
        self.run(f"CREATE SCHEMA {name}")
        return f"{self._url}?options=-csearch_path%3D{name}"

    def run(self, statement: str) -> None:
        """Run a statement as the server's owner."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(statement)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._call("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", self._options, "start")

    def stop(self) -> None:
        """End it at once, as a crash would."""
        self._call("pg_ctl", "-w", "-m", "immediate", "stop")

    def make(self) -> None:
        """Make its folder."""
        self._call("initdb", "-A", "trust", "-U", _USER, "--no-sync", "-E", "UTF8")

    def _call(self, program: str, *arguments: str) -> None:
        programs = find_programs()
        assert programs is not None
        become = ("runuser", "-u", _USER, "--") if os.geteuid() == 0 else ()
        subprocess.run(
            (*become, str(programs / program), "-D", str(self._folder / "data"), *arguments),
            check=True,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )


@contextmanager
def run_postgres(*, syncs: bool = False) -> Iterator[Postgres]:
    """A server that is ended and removed afterwards; see `why_not`.

    `syncs`: what is committed is on disk, as it has to be anywhere but in a test.
    """
    folder = Path(tempfile.mkdtemp(prefix="routing-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, _USER)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Postgres(folder, port, syncs=syncs)
    try:
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
