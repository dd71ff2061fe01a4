"""Reads the table of processes from /proc; several units share one walk over it.

Knows nothing of units, and signals nothing.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_KERNEL_THREAD = 0x00200000
_NAME_LIMIT = 32
_READ_BYTES = 4096
_LISTINGS = 8


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One process as /proc showed it; pid and start time (clock ticks) identify it."""

    pid: int
    name: bytes
    parent: int
    group: int
    session: int
    start: int
    zombie: bool

    def __str__(self) -> str:
        """`PID NAME`; a process chooses its own name, so it is kept short and on one line."""
        text = self.name.decode("utf-8", "replace")[:_NAME_LIMIT]
        printable = "".join(char if char.isprintable() else "?" for char in text)
        return f"{self.pid} {printable}"

    def is_current(self) -> bool:
        """Whether the number still stands for this process (which may be dead by now)."""
        try:
            record = read_record(self.pid)
        except OSError:
            return False
        return record is not None and record.start == self.start


class Elders:
    """Processes that are older than this one: none of them can belong to a unit.

    A walk need not read them again, which on most machines is nearly all there is to read. A number
    still stands for the same process as long as its folder in /proc is the same inode: the kernel
    makes a new one for a new process (pid_revalidate in fs/proc/base.c of Linux).
    """

    def __init__(self) -> None:
        own = read_record(os.getpid())
        self._since = own.start if own else 0
        self._known: dict[int, tuple[int, int]] = {}

    def add(self, pid: int, start: int, folder: tuple[int, int]) -> None:
        """Take note of a process that was just read, if it is older than this one."""
        if start < self._since:
            self._known[pid] = folder

    def holds(self, pid: int, folder: tuple[int, int]) -> bool:
        """Whether the number stands for an elder."""
        return self._known.get(pid) == folder


class Walk:
    """What one walk found: every process that was there at its last moment.

    `begun` is its first moment on the monotonic clock, in seconds. The listing is repeated until
    it shows nothing new: what a process started just before it ended is found that way. `whole`
    is False where that did not come to an end. The elders are left out.
    """

    def __init__(self, elders: Elders) -> None:
        self.begun = time.monotonic()
        self.whole = False
        self.records: list[ProcessRecord] = []
        self._environments: dict[int, bytes | None] = {}
        self._elders = elders
        seen: set[str] = set()
        for _ in range(_LISTINGS):
            new = [name for name in _list_processes() if name not in seen]
            if not new:
                self.whole = True
                break
            seen.update(new)
            for name in new:
                self._add(int(name))

    def environment(self, record: ProcessRecord) -> bytes | None:
        """The environment that the process was started with; read when first asked for.

        Empty for a process of another user; None where it cannot be told just now: the process
        is gone, is replacing its image, or was started without any environment.
        """
        if record.pid not in self._environments:
            self._environments[record.pid] = _read_environment(record.pid)
        return self._environments[record.pid]

    def _add(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            folder = _identify(pid)
            if self._elders.holds(pid, folder):
                return
            record, is_kernel_thread = _read_stat(pid)
            self._elders.add(pid, record.start, folder)
            if not is_kernel_thread:
                self.records.append(record)


class ProcessTable:
    """Gives the latest walk to all who may use it.

    A walk costs milliseconds, and many units can end at once.
    """

    def __init__(self) -> None:
        self._latest: Walk | None = None
        self._elders: Elders | None = None

    def walk(self, not_before: float) -> Walk:
        """A walk that began at that moment of the monotonic clock or later."""
        if self._latest is None or self._latest.begun < not_before:
            self._elders = self._elders or Elders()
            self._latest = Walk(self._elders)
        return self._latest


def descend(records: Iterable[ProcessRecord], ancestors: Iterable[int]) -> Sequence[ProcessRecord]:
    """Those records that have one of the processes as parent, grandparent and so on."""
    waiting = list(records)
    family = set(ancestors)
    found: list[ProcessRecord] = []
    while children := [record for record in waiting if record.parent in family]:
        found += children
        family = {record.pid for record in children}
        waiting = [record for record in waiting if record.pid not in family]
    return found


def _list_processes() -> list[str]:
    names = os.listdir("/proc")  # noqa: PTH208 - no Path for each process of the machine
    return [name for name in names if name.isdecimal()]


def read_record(pid: int) -> ProcessRecord | None:
    """Read a process' stat (proc_pid_stat(5)); None for a kernel thread.

    A dead main thread whose other threads run on is shown as a zombie, but it is none.
    Raises ProcessLookupError where the process is gone.
    """
    record, is_kernel_thread = _read_stat(pid)
    return None if is_kernel_thread else record


def _identify(pid: int) -> tuple[int, int]:
    """What tells a process' folder in /proc from that of a later process of the same number.

    Raises ProcessLookupError where the process is gone.
    """
    try:
        status = os.stat(f"/proc/{pid}")  # noqa: PTH116 - no Path for each process of the machine
    except (FileNotFoundError, PermissionError) as error:
        raise ProcessLookupError(pid) from error
    return status.st_ino, status.st_ctime_ns


def _read_stat(pid: int) -> tuple[ProcessRecord, bool]:
    """What stat says of a process, and whether it is a thread of the kernel."""
    try:
        data = _read(f"/proc/{pid}/stat")
    except (FileNotFoundError, PermissionError) as error:
        raise ProcessLookupError(pid) from error
    closing = data.rindex(b")")
    fields = data[closing + 2 :].split(None, 20)
    record = ProcessRecord(
        pid=pid,
        name=data[data.index(b"(") + 1 : closing],
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        start=int(fields[19]),
        zombie=fields[0] in (b"Z", b"X") and int(fields[17]) <= 1,
    )
    return record, bool(int(fields[6]) & _KERNEL_THREAD)


def _read_environment(pid: int) -> bytes | None:
    try:
        return _read(f"/proc/{pid}/environ", os.geteuid()) or None
    except PermissionError:
        return b""
    except OSError:
        return None


def _read(path: str, owner: int | None = None) -> bytes:
    """Read a file without the layers of `open`: a walk reads one for each process.

    Raises PermissionError where the file is not the owner's.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if owner is not None and os.fstat(descriptor).st_uid != owner:
            raise PermissionError(path)
        data = chunk = os.read(descriptor, _READ_BYTES)
        while len(chunk) == _READ_BYTES:
            chunk = os.read(descriptor, _READ_BYTES)
            data += chunk
    finally:
        os.close(descriptor)
    return data
