"""The process that a unit starts: when it ends, how, and the signals to its group.

Does not start it (that is `process`), and knows nothing of its output or its descendants.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable

from routing_action.run.process.capabilities import Capabilities

_FIRST_POLL_SECONDS = 0.002
_LAST_POLL_SECONDS = 0.05
_ABANDON_TRIES = 50

# Processes that outlived a SIGKILL (stuck in the kernel); asked again at each later start.
_unreaped: list[Leader] = []
_numbers: set[int] = set()


class Leader:
    """A started process that leads a group and a session of its own."""

    def __init__(self, pid: int, name: str, capabilities: Capabilities) -> None:
        self.pid = pid
        self.name = name
        self.reaped = False
        self.exit_code: int | None = None
        self._capabilities = capabilities
        self._pidfd = -1
        self._timer: asyncio.TimerHandle | None = None
        _numbers.add(self.pid)

    def watch(self, loop: asyncio.AbstractEventLoop, on_exit: Callable[[], None]) -> None:
        """Call back once, as soon as the process has ended; it is not yet reaped then.

        Without `waitid` it has just been reaped, and its group killed in the same step.
        """
        if self._capabilities.pidfd:
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(self.pid)
        if self._pidfd < 0:
            self._poll(loop, on_exit, _FIRST_POLL_SECONDS)
            return

        def ended() -> None:
            self.unwatch(loop)
            on_exit()

        loop.add_reader(self._pidfd, ended)

    def unwatch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop calling back and give up the descriptor."""
        if self._timer is not None:
            self._timer.cancel()
        if self._pidfd >= 0:
            if not loop.is_closed():
                loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the whole group; nothing once it is reaped, as the number is free then."""
        if not self.reaped:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def reap(self) -> bool:
        """Take the exit code if the process has ended; True once it is gone.

        The code stays None where the system does not tell it (somebody else reaped the child).
        """
        if self.reaped:
            return True
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            self.reaped = True
        else:
            self.reaped = pid != 0
            if self.reaped:
                self.exit_code = os.waitstatus_to_exitcode(status)
        if self.reaped:
            _numbers.discard(self.pid)
        return self.reaped

    def reap_group(self) -> bool:
        """Collect dead orphans of the group that became our children; True while some still live.

        Only after `reap`; needs no /proc. A group's number is not given away while it has members.
        """
        try:
            while os.waitpid(-self.pid, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return False
        return True

    def abandon(self) -> None:
        """Kill the group without the event loop; blocks for a fraction of a second at most.

        A process that even this does not end is kept in mind for `reap_abandoned`.
        """
        self.signal_group(signal.SIGKILL)
        for _ in range(_ABANDON_TRIES):
            if self.reap() and not self.reap_group():
                return
            time.sleep(_FIRST_POLL_SECONDS)
        if not self.reaped:
            _unreaped.append(self)

    def _poll(
        self, loop: asyncio.AbstractEventLoop, on_exit: Callable[[], None], seconds: float
    ) -> None:
        if self._has_ended():
            on_exit()
            return
        following = min(seconds * 1.5, _LAST_POLL_SECONDS)
        self._timer = loop.call_later(seconds, self._poll, loop, on_exit, following)

    def _has_ended(self) -> bool:
        try:
            if self._capabilities.waitid:
                flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
                return os.waitid(os.P_PID, self.pid, flags) is not None
        except ChildProcessError:
            return True
        ended = self.reap()
        if ended:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        return ended


def reap_abandoned() -> None:
    """Collect earlier processes that had outlived their SIGKILL and have ended since."""
    _unreaped[:] = [leader for leader in _unreaped if not leader.reap()]


def is_unreaped_leader(pid: int) -> bool:
    """Whether the number is that of a process started here that is still to be reaped."""
    return pid in _numbers
