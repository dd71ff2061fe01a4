"""Finds, signals and reaps what a unit's process left behind, by its marker in /proc.

Touches no process that it has not proven to belong to the unit, and never waits for any.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass

from routing_action.run.process.capabilities import (
    Capabilities,
    become_subreaper,
    list_children,
)
from routing_action.run.process.leader import is_unreaped_leader
from routing_action.run.process.orphans import OrphanReaper
from routing_action.run.process.proctable import (
    ProcessRecord,
    ProcessTable,
    Walk,
    descend,
)

MARKER_VARIABLE = "ROUTING_ACTION_UNIT"

_shared_table = ProcessTable()
_orphans = OrphanReaper()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The unit's members without the leader, living and dead.

    `settled` is False where a process was just replacing its image, or the processes changed too
    fast to be listed: only another look can then tell that nothing is left.
    """

    living: tuple[ProcessRecord, ...] = ()
    zombies: tuple[ProcessRecord, ...] = ()
    settled: bool = True


class Descendants:
    """The processes of one unit other than its leader (the process that we started).

    A process belongs to the unit if it is of our user and its environment holds exactly the
    unit's marker; if it is in the session of the leader or of a member (a session can only be
    inherited); or if its parent is the leader or a member. So a child that cleared its
    environment is found as long as one of these ties holds. Once found, it stays known. Valid
    only until the leader is reaped, since its number stands for its session until then.
    """

    def __init__(
        self,
        marker: str,
        leader: int,
        capabilities: Capabilities,
        table: ProcessTable = _shared_table,
    ) -> None:
        self._entry = f"\0{MARKER_VARIABLE}={marker}\0".encode()
        self._leader = leader
        self._capabilities = capabilities
        self._table = table
        self._self = os.getpid()
        # 0 stands for any session that began outside of our PID namespace.
        self._foreign_sessions = {0, os.getsid(0)}
        self._sessions = {leader}
        self._known: set[tuple[int, int]] = set()
        self._since = 0

    def are_gone(self) -> bool:
        """Whether a look at our own children proves that none is left; False where it does not.

        Only once the leader has ended: then all that it left has been given to us, the subreaper,
        or hangs on what was. So nothing is left where each of our children was started as a unit's
        leader. The leader itself must be listed too, since it is not reaped yet.
        """
        able = self._capabilities
        if not (able.proc and able.subreaper and able.children and become_subreaper()):
            return False
        children = list_children() or ()
        return self._leader in children and all(map(is_unreaped_leader, children))

    def find(self, not_before: float) -> Snapshot:
        """The members at that moment of the monotonic clock or later; empty without a /proc."""
        if not self._capabilities.proc:
            return Snapshot()
        try:
            walk = self._table.walk(not_before)
        except OSError:  # no descriptor left, say: the group can still be ended
            return Snapshot(settled=False)
        if self._capabilities.subreaper:
            _orphans.collect(walk)
        self._since = self._since or _start_of(self._leader, walk)
        settled = walk.whole
        members: list[ProcessRecord] = []
        strangers: list[ProcessRecord] = []
        for record in walk.records:
            if record.start < self._since or record.pid in (self._leader, self._self):
                continue
            belongs = self._belongs(record, walk)
            settled &= belongs is not None
            (members if belongs else strangers).append(record)
        members += descend(strangers, (self._leader, *(member.pid for member in members)))
        for member in members:
            self._known.add((member.pid, member.start))
            self._sessions.add(member.session)
        self._sessions -= self._foreign_sessions
        return Snapshot(
            living=tuple(member for member in members if not member.zombie),
            zombies=tuple(member for member in members if member.zombie),
            settled=settled,
        )

    def send(self, member: ProcessRecord, number: signal.Signals) -> None:
        """Signal a member unless its number already stands for another process."""
        descriptor = self._open_pidfd(member.pid)
        try:
            if not member.is_current():
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if descriptor is None:
                    os.kill(member.pid, number)
                else:
                    signal.pidfd_send_signal(descriptor, number)
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def reap(self, zombies: tuple[ProcessRecord, ...]) -> None:
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

    def _belongs(self, record: ProcessRecord, walk: Walk) -> bool | None:
        """Whether a tie other than the parent holds; None where it cannot be told just now."""
        if record.session in self._sessions or (record.pid, record.start) in self._known:
            return True
        if record.zombie:
            return False
        environment = walk.environment(record)
        return None if environment is None else self._entry in b"\0" + environment + b"\0"


def _start_of(pid: int, walk: Walk) -> int:
    """When a process began, in clock ticks; 0, before all others, where it is not there."""
    return next((record.start for record in walk.records if record.pid == pid), 0)
