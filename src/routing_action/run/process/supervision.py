"""Watches one started process: ends it when it must end, and leaves nothing of it behind.

Every wait in here is bounded, and none gives way to a cancellation before the clean-up is done.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable

import psutil

from routing_action.evidence.transcript import EndedBy
from routing_action.run.process.descendants import (
    Descendants,
    describe,
    find_orphans,
    is_alive,
    send,
)
from routing_action.run.process.limits import SETTLE_SECONDS, SWEEP_SECONDS, ProcessLimits
from routing_action.run.process.pipes import Allowance, OutputPipe, OutputSink

SURVIVORS_LISTED = 20
_FIRST_PAUSE_SECONDS = 0.002
_LAST_PAUSE_SECONDS = 0.02
_POLL_SECONDS = 0.02


class Supervisor:
    """Runs one started process to its end; `run` once, then `release` in any case."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        descendants: Descendants,
        outputs: tuple[socket.socket, socket.socket],
        sinks: tuple[OutputSink, OutputSink],
        limits: ProcessLimits,
    ) -> None:
        self.cancelled = False
        self.exit_code: int | None = None
        self._child = child
        self._descendants = descendants
        self._limits = limits
        self._survivors: dict[psutil.Process, str] = {}
        self._loop = asyncio.get_running_loop()
        self._news: asyncio.Future[None] = self._loop.create_future()
        self._watches: list[asyncio.Task[bool]] = []
        self._pidfd = -1
        self._ended_by: EndedBy | None = None
        self._exited = self._swept = False
        self._started = self._last_output = self._loop.time()
        self._terminal_at: float | None = None
        self._allowance = Allowance(limits.output_bytes)
        self._pipes = [
            OutputPipe(stream, sink, self._allowance, self._on_change)
            for stream, sink in zip(outputs, sinks, strict=True)
        ]

    @property
    def survivors(self) -> tuple[str, ...]:
        """`PID NAME` of each process that had to be swept; a last entry counts the unlisted."""
        names = list(self._survivors.values())
        listed = tuple(names[:SURVIVORS_LISTED])
        more = len(names) - len(listed)
        return (*listed, f"and {more} more") if more else listed

    @property
    def failure(self) -> Exception | None:
        """What went wrong with the output, if anything."""
        return next((pipe.failure for pipe in self._pipes if pipe.failure), None)

    async def run(self, cancel: asyncio.Event, hurry: asyncio.Event) -> EndedBy:
        """Wait for the end or bring it about; afterwards the process and its tree are gone.

        `cancel` ends the process, `hurry` cuts every grace short.
        """
        with contextlib.suppress(AttributeError, OSError):  # not here: the end is polled for
            self._pidfd = os.pidfd_open(self._child.pid)
            self._loop.add_reader(self._pidfd, self._on_exit)
        self._watch(cancel, lambda: self._finish(EndedBy.CANCELLED))
        self._watch(hurry, self._tell)
        ended_by = await self._wait_for_end()
        drain_seconds = self._limits.drain_seconds
        if ended_by is not EndedBy.EXIT:
            in_time = await self._terminate(hurry)
        else:
            in_time = await self._wait(self._is_drained, drain_seconds)
            if not in_time:
                drain_seconds = min(drain_seconds, SETTLE_SECONDS)
        await self._sweep(SETTLE_SECONDS if in_time else 0.0)
        await self._wait(self._is_drained, drain_seconds)
        exited = ended_by is EndedBy.EXIT  # its last output may be read after that
        return EndedBy.OUTPUT_LIMIT if exited and self._allowance.exceeded else ended_by

    def release(self) -> None:
        """Reap the process, and give up descriptors and sinks; never waits for long.

        Where the event loop was torn down under us, all that is left is killed first.
        """
        if not self._swept:
            self._kill(self._descendants.find())
        self._signal_group(signal.SIGKILL)
        end = time.monotonic() + SETTLE_SECONDS
        while not (self._reap() and (self._swept or not find_orphans())) and time.monotonic() < end:
            time.sleep(_FIRST_PAUSE_SECONDS)
        if self._child.returncode is None:  # stuck in the kernel; Popen asks again from now on
            with contextlib.suppress(psutil.Error):
                self._kill([psutil.Process(self._child.pid)])
        self._descendants.end()
        self._unwatch()
        for pipe in self._pipes:
            pipe.close()

    # --- what can end the process ---------------------------------------------------------------

    async def _wait_for_end(self) -> EndedBy:
        """The first reason stands."""
        while self._ended_by is None:
            due, reason = self._next_deadline()
            left = due - self._loop.time()
            if left <= 0:
                self._finish(reason)
            else:
                await self._wait_for_news(left)
        return self._ended_by

    def _next_deadline(self) -> tuple[float, EndedBy]:
        """When the process is out of time if nothing more happens, and for which reason."""
        limits = self._limits
        wall, reason = self._started + limits.wall_seconds, EndedBy.WALL_DEADLINE
        if self._terminal_at is None:
            idle_seconds = math.inf if limits.idle_seconds is None else limits.idle_seconds
            idle = self._last_output + idle_seconds
            return min((wall, reason), (idle, EndedBy.IDLE_DEADLINE))
        if wall - self._terminal_at < limits.terminal_grace_seconds:
            reason = EndedBy.TERMINAL_GRACE  # it had only just printed its terminal event
        grace = self._last_output + limits.terminal_grace_seconds
        return min((wall, reason), (grace, EndedBy.TERMINAL_GRACE))

    def _finish(self, reason: EndedBy) -> None:
        self._ended_by = self._ended_by or reason
        self._tell()

    def _on_exit(self) -> None:
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
        self._exited = True
        self._finish(EndedBy.EXIT)

    def _on_change(self, pipe: OutputPipe) -> None:
        if pipe.failure is not None:
            self._finish(EndedBy.CANCELLED)
        if self._allowance.exceeded:
            self._finish(EndedBy.OUTPUT_LIMIT)
        if pipe.ended:
            self._tell()
            return
        self._last_output = self._loop.time()
        if any(one.sink.terminal_seen for one in self._pipes):
            if self._terminal_at is None:
                self._terminal_at = self._last_output
                self._tell()
            return
        self._terminal_at = None  # it was an interim one: another turn has begun
        if pipe.sink.settled:
            self._finish(EndedBy.STOPPED_EARLY)

    def _watch(self, event: asyncio.Event, action: Callable[[], None]) -> None:
        task = self._loop.create_task(event.wait())
        task.add_done_callback(lambda task: None if task.cancelled() else action())
        self._watches.append(task)

    def _unwatch(self) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop was closed under us
            for task in self._watches:
                task.cancel()
            if self._pidfd >= 0:
                self._loop.remove_reader(self._pidfd)
        if self._pidfd >= 0:
            os.close(self._pidfd)

    # --- how it is ended ------------------------------------------------------------------------

    async def _terminate(self, hurry: asyncio.Event) -> bool:
        """Ask everything to end; whether the process did so within its grace."""
        for member in self._descendants.find():
            with contextlib.suppress(OSError):  # gone by now
                if os.getpgid(member.pid) != self._child.pid:
                    send(member, signal.SIGTERM)
        self._signal_group(signal.SIGTERM)
        grace = self._limits.term_grace_seconds
        if self._ended_by is EndedBy.CANCELLED:
            grace = min(grace, self._limits.cancel_grace_seconds)
        await self._wait(lambda: self._exited or hurry.is_set(), grace)
        return self._exited

    async def _sweep(self, patience_seconds: float) -> None:
        """Kill what is left, in rounds, since it can fork meanwhile; list it as survivors.

        It first has so many seconds to end by itself: it may only just have seen its parent go.
        """
        kill_at = self._loop.time() + patience_seconds
        pause = _FIRST_PAUSE_SECONDS
        before: object = ...
        while (orphans := find_orphans()) or orphans is None or not self._exited:
            now = self._loop.time()
            living = self._descendants.find()
            if now >= kill_at:
                self._signal_group(signal.SIGKILL)
                self._kill(living)
            # None of ours twice, and nothing has changed meanwhile: none is left.
            done = self._exited and not living and orphans == before
            if done or now >= kill_at + SWEEP_SECONDS:
                break
            before = ... if living else orphans
            await self._wait(lambda: False, pause)
            pause = min(pause * 1.5, _LAST_PAUSE_SECONDS)
        self._signal_group(signal.SIGKILL)
        self._swept = True

    def _kill(self, members: Iterable[psutil.Process]) -> None:
        for member in members:
            self._survivors.setdefault(member, describe(member))
            send(member, signal.SIGKILL)

    def _signal_group(self, number: signal.Signals) -> None:
        """Signal the whole group; nothing once the leader is reaped, as the number is free then."""
        if self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, number)

    def _reap(self) -> bool:
        """Take the exit code if the process has ended; None where somebody else took it."""
        if self._child.returncode is not None:
            return True
        try:
            pid, status = os.waitpid(self._child.pid, os.WNOHANG)
        except ChildProcessError:
            self._child.returncode = 0  # only so that Popen does not look for it
            return True
        if pid:
            self.exit_code = self._child.returncode = os.waitstatus_to_exitcode(status)
        return pid != 0

    # --- waiting --------------------------------------------------------------------------------

    def _tell(self) -> None:
        if not self._news.done():
            self._news.set_result(None)

    async def _wait_for_news(self, seconds: float) -> None:
        """Wait until something happens, or so many seconds.

        A cancellation of our task ends the process, but no wait: it is kept in `cancelled`, and
        raised by the caller after the clean-up.
        """
        if self._news.done():
            self._news = self._loop.create_future()
        polling = self._pidfd < 0 and not self._exited
        try:
            await asyncio.wait(
                [self._news], timeout=min(seconds, _POLL_SECONDS) if polling else seconds
            )
        except asyncio.CancelledError:
            self.cancelled = True
            self._finish(EndedBy.CANCELLED)
        if polling and not is_alive(self._child.pid):
            self._on_exit()

    async def _wait(self, done: Callable[[], bool], seconds: float) -> bool:
        """Wait until it is done; False after so many seconds."""
        end = self._loop.time() + seconds
        while not done():
            left = end - self._loop.time()
            if left <= 0:
                return False
            await self._wait_for_news(left)
        return True

    def _is_drained(self) -> bool:
        return all(pipe.ended for pipe in self._pipes)
