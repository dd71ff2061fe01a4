"""Collects dead processes that a subreaper adopted and nobody else will ever wait for.

Reaps only, and never a child that any part of this program may have started itself.
"""

from __future__ import annotations

import contextlib
import os

from routing_action.run.process.leader import is_unreaped_leader
from routing_action.run.process.proctable import Walk

_PATIENCE_SECONDS = 1.0


class OrphanReaper:
    """Keeps zombies from piling up over a long batch.

    An orphan that left the session of its unit, and ended before anyone looked, cannot be
    attributed any more: a dead process has no environment. It is ours to reap all the same if it
    is our child, in another session than ours (all that this program starts is in ours, or is
    the leader of a unit), and still unreaped a second after it was first seen dead: whoever had
    started it and cared would have reaped it by then.
    """

    def __init__(self) -> None:
        self._first_seen: dict[tuple[int, int], float] = {}

    def collect(self, walk: Walk) -> None:
        """Reap those that have been dead for long enough at the time of this walk."""
        seen, own, session = self._first_seen, os.getpid(), os.getsid(0)
        dead = {
            (record.pid, record.start): seen.get((record.pid, record.start), walk.begun)
            for record in walk.records
            if record.zombie
            and record.parent == own
            and record.session != session
            and not is_unreaped_leader(record.pid)
        }
        for (pid, _), first_seen in dead.items():
            if walk.begun - first_seen >= _PATIENCE_SECONDS:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
        self._first_seen = dead
