"""Which processes belong to a unit, or to a batch that was killed; finds, ends and reaps them.

Touches no process that is not proven to belong there, and never waits for one to obey.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import psutil

MARKER_VARIABLE = "ROUTING_ACTION_UNIT"

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_CHILDREN_FILE = "/proc/self/task/{pid}/children"
_NAME_LIMIT = 512
_SWEEP_SECONDS = 3.0
_PAUSE_SECONDS = 0.02
_QUIET_SECONDS = 1.0

_running: list[Descendants] = []


class Descendants:
    """The processes of one unit other than its leader (the process that we started).

    A process belongs to the unit if its environment holds the unit's marker, or if its parent or
    its session is that of the leader or of a member. On Linux we adopt orphans; one that shows
    none of these signs belongs to the last running unit that can have left it, which is none that
    was started when the orphan was there `earlier`. Once found, a process stays known.
    """

    def __init__(self, marker: str, leader: int, earlier: frozenset[int]) -> None:
        self._marker = marker
        self._leader = leader
        self._earlier = earlier
        self._sessions = {leader}
        self._known: set[psutil.Process] = set()
        _running.append(self)

    def end(self) -> None:
        """The leader is reaped: its number may soon stand for another process."""
        _running.remove(self)

    def find(self) -> list[psutil.Process]:
        """Those that are alive, parents first; none where processes cannot be listed."""
        leaders = {unit._leader for unit in _running}
        orphans = find_orphans()
        try:
            listed = _list_all() if orphans is None else psutil.Process().children(recursive=True)
        except (OSError, psutil.Error):
            return []
        found = _gather(
            (process for process in listed if process.pid not in leaders),
            lambda process: self._owns(process, orphans or frozenset()),
            {self._leader},
            self._sessions,
        )
        self._known.update(found)
        return [process for process in found if is_alive(process.pid)]

    def _owns(self, process: psutil.Process, orphans: frozenset[int]) -> bool:
        """Whether it is known, bears the marker, or is an orphan that no other unit can own."""
        others = [unit for unit in _running if unit is not self]
        marker = _marker(process)
        if process in self._known or marker == self._marker:
            return True
        if process.pid not in orphans - self._earlier:
            return False
        return all(marker != unit._marker and process.pid in unit._earlier for unit in others)


def find_orphans() -> frozenset[int] | None:
    """The living orphans that we adopted, of any unit; None where we adopt none, or cannot tell.

    Reaps the dead ones. A unit whose leader has ended left nothing where there is none: what a
    process leaves is given to us, or is below what was. A look at all processes costs far more.
    What we start for ourselves is in our session.
    """
    if not become_subreaper():
        return None
    not_adopted = {unit._leader for unit in _running}
    living = set()
    try:
        for pid in _list_children():
            with contextlib.suppress(ProcessLookupError, ChildProcessError):  # reaped by now
                if pid in not_adopted or os.getsid(pid) == os.getsid(0):
                    continue
                if not os.waitpid(pid, os.WNOHANG)[0]:
                    living.add(pid)
    except (OSError, psutil.Error):
        return None
    return frozenset(living)


def end_orphans(earlier: frozenset[int]) -> frozenset[int]:
    """Kill the orphans that were not there `earlier`; gives those that still come after a second.

    For the end of a batch, when no unit runs that could own one.
    """
    deadline = time.monotonic() + _QUIET_SECONDS
    while (left := (find_orphans() or frozenset()) - earlier) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(psutil.Error):
                send(psutil.Process(pid), signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)
    return left


def sweep_survivors(markers: Collection[str]) -> tuple[str, ...]:
    """Kill each process that bears one of the markers, what is below it and in its session.

    Gives `PID NAME` of each, in the order in which they were found; takes three seconds at most.
    We and our ancestors are spared, even if somebody put a marker on them.
    """
    killed: dict[psutil.Process, str] = {}
    sessions: set[int] = set()
    deadline = time.monotonic() + _SWEEP_SECONDS
    quiet = 0  # looks that found nothing; the second one is believed
    with contextlib.suppress(OSError, psutil.Error):  # processes cannot be listed
        spared = {os.getpid(), *(one.pid for one in psutil.Process().parents())}
        while markers and quiet < 2 and time.monotonic() < deadline:
            others = (one for one in _list_all() if one.pid not in spared)
            found = _gather(others, lambda one: _marker(one) in markers, set(), sessions)
            living = [process for process in found if is_alive(process.pid)]
            for process in living:
                killed.setdefault(process, describe(process))
                send(process, signal.SIGKILL)
            quiet = 0 if living else quiet + 1
            time.sleep(_PAUSE_SECONDS)
    return tuple(killed.values())


def send(process: psutil.Process, number: signal.Signals) -> None:
    """Signal a process; nothing where it is gone and its number stands for another by now."""
    with contextlib.suppress(psutil.Error):
        process.send_signal(number)


def is_alive(pid: int) -> bool:
    """False for a number that nobody has, and for a dead process that is still to be reaped."""
    try:
        process = psutil.Process(pid)  # whose first thread may have ended alone
        return process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1
    except psutil.Error:
        return False


def describe(process: psutil.Process) -> str:
    """`PID NAME`; a process chooses its own name, so it is kept short and on one line."""
    try:
        name = process.name()[:_NAME_LIMIT]
    except psutil.Error:
        name = "?"
    return f"{process.pid} " + "".join(char if char.isprintable() else "?" for char in name)


@functools.cache
def become_subreaper() -> bool:
    """Adopt the orphans of our children from now on; False where the system cannot do that.

    prctl(2), PR_SET_CHILD_SUBREAPER: Linux.
    """
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


@functools.cache
def close_to_others() -> bool:
    """Keep processes of our own user from our memory and descriptors; False where we cannot.

    prctl(2), PR_SET_DUMPABLE: Linux. What may trace any process, as root may, still can.
    """
    return _prctl(_PR_SET_DUMPABLE, 0)


def _prctl(option: int, value: int) -> bool:
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, TypeError, AttributeError):
        return False
    return bool(prctl(option, value, 0, 0, 0) == 0)


def _gather(
    candidates: Iterable[psutil.Process],
    belongs: Callable[[psutil.Process], bool],
    family: set[int],
    sessions: set[int],
) -> list[psutil.Process]:
    """Those that belong, are below the family, or are in one of the sessions; adds theirs to both.

    Candidates come parents first. Our own session, and 0 for one outside of our PID namespace,
    are nobody's sign.
    """
    found = []
    nobodys = {0, os.getsid(0)}
    for process in candidates:
        with contextlib.suppress(OSError, psutil.Error):  # gone by now, or another user's
            session = os.getsid(process.pid)
            if session in sessions or process.ppid() in family or belongs(process):
                found.append(process)
                family.add(process.pid)
                sessions |= {session} - nobodys
    return found


def _list_all() -> list[psutil.Process]:
    """Every process of the machine, the oldest first."""
    found = psutil.process_iter(["create_time"])
    return sorted(found, key=lambda process: process.info["create_time"] or 0.0)


def _marker(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(MARKER_VARIABLE)
    except (OSError, psutil.Error):  # another user's, or gone
        return None


def _list_children() -> list[int]:
    """Our children, dead ones too: at least those that we adopted.

    Orphans are given to our first thread (find_alive_thread in kernel/exit.c of Linux).
    """
    try:
        listed = Path(_CHILDREN_FILE.format(pid=os.getpid())).read_bytes()
    except OSError:  # not every kernel has it (CONFIG_PROC_CHILDREN)
        return [child.pid for child in psutil.Process().children()]
    return [int(pid) for pid in listed.split()]
