"""Ends what a killed harness left running: every process that bears the marker of its units.

For batches that are dead; a living unit is supervised and swept by `supervision`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection

from routing_action.run.process.capabilities import Capabilities, detect_capabilities
from routing_action.run.process.descendants import MARKER_VARIABLE
from routing_action.run.process.proctable import Elders, ProcessRecord, Walk, descend

_SWEEP_SECONDS = 3.0
_PAUSE_SECONDS = 0.02
_QUIET_WALKS = 2


def sweep_survivors(
    markers: Collection[str], capabilities: Capabilities | None = None
) -> tuple[str, ...]:
    """Kill each process of our user that bears one of the markers, and what hangs on it.

    What hangs on it: members of its session, and its descendants. Gives `PID NAME` of each, in
    the order in which they were found; takes three seconds at most. Without a /proc it finds
    nothing. We and our ancestors are spared, even if somebody put a marker on them.
    """
    capabilities = capabilities or detect_capabilities()
    if not markers or not capabilities.proc:
        return ()
    killed: dict[tuple[int, int], str] = {}
    deadline = time.monotonic() + _SWEEP_SECONDS
    quiet = 0
    while quiet < _QUIET_WALKS and time.monotonic() < deadline:
        try:
            # With no elders known: survivors are older than we are.
            found = _find(frozenset(markers), Walk(Elders()))
        except OSError:  # no descriptor left, or /proc went away
            break
        for record in found:
            killed[record.pid, record.start] = str(record)
            _kill(record)
        quiet = 0 if found else quiet + 1
        time.sleep(_PAUSE_SECONDS)
    return tuple(killed.values())


def _find(markers: frozenset[str], walk: Walk) -> list[ProcessRecord]:
    spared = _ancestors(walk)
    living = [r for r in walk.records if not r.zombie and r.pid not in spared]
    marked = [record for record in living if _marker(record, walk) in markers]
    # A session that began with our own start, or outside of our PID namespace, is nobody's sign.
    sessions = {record.session for record in marked} - {0, os.getsid(0)}
    pids = {record.pid for record in marked}
    members = marked + [r for r in living if r.session in sessions and r.pid not in pids]
    pids |= {record.pid for record in members}
    rest = [record for record in living if record.pid not in pids]
    return [*members, *descend(rest, pids)]


def _marker(record: ProcessRecord, walk: Walk) -> str:
    """The value of our marker in a process' environment, "" where it has none."""
    head = f"{MARKER_VARIABLE}=".encode()
    for entry in (walk.environment(record) or b"").split(b"\0"):
        if entry.startswith(head):
            return entry.removeprefix(head).decode("utf-8", "replace")
    return ""


def _ancestors(walk: Walk) -> set[int]:
    parents = {record.pid: record.parent for record in walk.records}
    found: set[int] = set()
    pid = os.getpid()
    while pid and pid not in found:
        found.add(pid)
        pid = parents.get(pid, 0)
    return found


def _kill(record: ProcessRecord) -> None:
    if record.is_current():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(record.pid, signal.SIGKILL)
