"""Finds, signals and reaps what a unit's process left behind, by its marker in /proc.

Touches no process that it has not proven to belong to the unit, and never waits for any.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from routing_action.harness.capabilities import Capabilities

MARKER_VARIABLE = "ROUTING_ACTION_UNIT"

_KERNEL_THREAD = 0x00200000
_NAME_LIMIT = 32
_READ_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Descendant:
    """One process of a unit as /proc showed it; pid and start time (clock ticks) identify it."""

    pid: int
    name: str
    parent: int
    group: int
    session: int
    start: int
    zombie: bool

    def __str__(self) -> str:
        """`PID NAME`, as survivors are reported."""
        return f"{self.pid} {self.name}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One walk over /proc: the unit's members without the leader, living and dead.

    `settled` is False where a process came or went, or was just replacing its image, during the
    walk: only another walk can then tell that nothing is left.
    """

    living: tuple[Descendant, ...] = ()
    zombies: tuple[Descendant, ...] = ()
    settled: bool = True


class Descendants:
    """The processes of one unit other than its leader (the process that we started).

    A process belongs to the unit if it is of our user and its environment holds exactly the
    unit's marker; if it is in the session of the leader or of a member (a session can only be
    inherited); or if its parent is the leader or a member. So a child that cleared its
    environment is found as long as one of these ties holds. Once found, it stays known. Valid
    only until the leader is reaped, since its number stands for its session until then.
    """

    def __init__(self, marker: str, leader: int, capabilities: Capabilities) -> None:
        self._entry = f"\0{MARKER_VARIABLE}={marker}\0".encode()
        self._leader = leader
        self._capabilities = capabilities
        self._self = os.getpid()
        self._user = os.geteuid()
        self._own_session = os.getsid(0)
        self._sessions = {leader}
        self._known: dict[int, int] = {}
        self._since = 0
        if capabilities.proc:
            with contextlib.suppress(ProcessLookupError):
                record = _read_record(leader)
                self._since = record.start if record else 0

    def find(self) -> Snapshot:
        """The members right now; empty where there is no /proc."""
        if not self._capabilities.proc:
            return Snapshot()
        members: dict[int, Descendant] = {}
        strangers: list[Descendant] = []
        settled = True
        for record in self._candidates():
            belongs = record is not None and self._belongs(record)
            if record is None or belongs is None:
                settled = False
            elif belongs:
                members[record.pid] = record
            else:
                strangers.append(record)
        self._adopt_children(members, strangers)
        for member in members.values():
            self._known[member.pid] = member.start
            self._sessions.add(member.session)
        self._sessions.discard(self._own_session)
        return Snapshot(
            living=tuple(member for member in members.values() if not member.zombie),
            zombies=tuple(member for member in members.values() if member.zombie),
            settled=settled,
        )

    def send(self, member: Descendant, number: signal.Signals) -> None:
        """Signal a member unless its number already stands for another process."""
        descriptor = self._open_pidfd(member.pid)
        try:
            if not _is_same(member):
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if descriptor is None:
                    os.kill(member.pid, number)
                else:
                    signal.pidfd_send_signal(descriptor, number)
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def reap(self, zombies: tuple[Descendant, ...]) -> None:
        """Collect those dead members that were orphaned to us; the others are their parent's."""
        for zombie in zombies:
            if zombie.parent == self._self:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(zombie.pid, os.WNOHANG)

    def _open_pidfd(self, pid: int) -> int | None:
        if self._capabilities.pidfd:
            with contextlib.suppress(OSError):  # gone, or no descriptor left
                return os.pidfd_open(pid)
        return None

    def _candidates(self) -> Iterator[Descendant | None]:
        """Processes that are no older than the leader; None for one that vanished meanwhile."""
        for name in os.listdir("/proc"):  # noqa: PTH208 - no Path for each process of the machine
            if not name.isdecimal():
                continue
            pid = int(name)
            if pid in (self._leader, self._self):
                continue
            try:
                record = _read_record(pid, self._since)
            except ProcessLookupError:
                yield None
                continue
            if record is not None:
                yield record

    def _belongs(self, record: Descendant) -> bool | None:
        """Whether a tie other than the parent holds; None where it cannot be told just now."""
        if record.session in self._sessions or self._known.get(record.pid) == record.start:
            return True
        if record.zombie:
            return False
        try:
            environment = _read(f"/proc/{record.pid}/environ", self._user)
        except PermissionError:
            return False
        except OSError:
            return None
        if not environment:
            return None
        return self._entry in b"\0" + environment + b"\0"

    def _adopt_children(self, members: dict[int, Descendant], strangers: list[Descendant]) -> None:
        """Add to the members, in place, all strangers that descend from one."""
        found = True
        while found:
            found = False
            for record in strangers:
                if record.pid in members:
                    continue
                if record.parent == self._leader or record.parent in members:
                    members[record.pid] = record
                    found = True


def _is_same(member: Descendant) -> bool:
    try:
        record = _read_record(member.pid)
    except ProcessLookupError:
        return False
    return record is not None and record.start == member.start


def _read_record(pid: int, since: int = 0) -> Descendant | None:
    """Read a process' stat (proc_pid_stat(5)); None for an older process or a kernel thread.

    A dead main thread whose other threads run on is shown as a zombie, but it is none.
    """
    try:
        data = _read(f"/proc/{pid}/stat")
    except OSError as error:
        raise ProcessLookupError(pid) from error
    closing = data.rindex(b")")
    fields = data[closing + 2 :].split(None, 20)
    start = int(fields[19])
    if start < since or int(fields[6]) & _KERNEL_THREAD:
        return None
    return Descendant(
        pid=pid,
        name=_printable(data[data.index(b"(") + 1 : closing]),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        start=start,
        zombie=fields[0] in (b"Z", b"X") and int(fields[17]) <= 1,
    )


def _read(path: str, owner: int | None = None) -> bytes:
    """Read a file of /proc without the layers of `open`: a walk reads one for each process.

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


def _printable(name: bytes) -> str:
    """A process chooses its own name: keep it short and on one line."""
    text = name.decode("utf-8", "replace")[:_NAME_LIMIT]
    return "".join(char if char.isprintable() else "?" for char in text)
