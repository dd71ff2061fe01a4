"""Watches one started process: ends it when it must end, and leaves nothing of it behind.

Every wait in here is bounded, and none gives way to a cancellation before the clean-up is done.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from routing_action.evidence.transcript import EndedBy
from routing_action.run.process.descendants import Descendants
from routing_action.run.process.event_watch import call_when_set
from routing_action.run.process.leader import Leader
from routing_action.run.process.limits import SETTLE_SECONDS, SWEEP_SECONDS, ProcessLimits
from routing_action.run.process.pipes import OutputPipe, OutputSink
from routing_action.run.process.proctable import ProcessRecord

SURVIVORS_LISTED = 20

_FIRST_PAUSE_SECONDS = 0.002
_LAST_PAUSE_SECONDS = 0.02
# Walks without a member that may be disturbed by unrelated processes before they are believed.
_UNSETTLED_WALKS = 3


class Supervisor:
    """Runs one started process to its end; `run` once, then `release` in any case."""

    def __init__(
        self,
        leader: Leader,
        descendants: Descendants,
        descriptors: tuple[int, int],
        sinks: tuple[OutputSink, OutputSink],
        limits: ProcessLimits,
    ) -> None:
        self.cancelled = False
        self.output_cut = False
        self.failure: Exception | None = None
        self._leader = leader
        self._descendants = descendants
        self._limits = limits
        self._survivors: dict[tuple[int, int], str] = {}
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.Future[EndedBy] = self._loop.create_future()
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._drained: asyncio.Future[None] = self._loop.create_future()
        self._patience: asyncio.Future[None] = self._loop.create_future()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._stops: list[Callable[[], None]] = []
        self._started = self._loop.time()
        self._last_output = self._started
        self._terminal_at: float | None = None
        self._quiet_since = 0.0
        self._pipes = tuple(
            OutputPipe(
                descriptor,
                sink,
                on_output=self._on_output,
                on_failure=self._on_failure,
                on_end=self._on_stream_end,
            )
            for descriptor, sink in zip(descriptors, sinks, strict=True)
        )

    @property
    def survivors(self) -> tuple[str, ...]:
        """`PID NAME` of each process that had to be swept; a last entry counts the unlisted."""
        names = list(self._survivors.values())
        listed = tuple(names[:SURVIVORS_LISTED])
        more = len(names) - len(listed)
        return (*listed, f"and {more} more") if more else listed

    async def run(
        self, cancel: asyncio.Event | None, hurry: asyncio.Event | None = None
    ) -> EndedBy:
        """Wait for the end or bring it about; afterwards the process and its tree are gone.

        `cancel` ends the process, `hurry` cuts every grace short.
        """
        self._arm(cancel, hurry)
        await self._wait(self._end, None)
        ended_by = self._end.result()
        drain_seconds = self._limits.drain_seconds
        if ended_by is not EndedBy.EXIT:
            not_before = await self._terminate()
        elif await self._wait(self._drained, drain_seconds):
            if self._descendants.are_gone():
                await self._reap()
                return ended_by
            not_before = await self._settle(self._quiet_since)
        else:
            not_before = time.monotonic()
            drain_seconds = min(drain_seconds, SETTLE_SECONDS)
        await self._sweep(not_before)
        await self._reap()
        await self._wait(self._drained, drain_seconds)
        return ended_by

    def release(self) -> None:
        """Kill what is left, and give up timers, descriptors and sinks; never waits for long.

        After a whole `run` nothing is left to kill; the rest matters where the event loop was
        torn down under us.
        """
        if not self._leader.reaped:
            self._kill(self._descendants.find(time.monotonic()).living)
            self._leader.abandon()
        if not self._leader.reaped:
            self._survivors[self._leader.pid, 0] = f"{self._leader.pid} {self._leader.name}"
        for pipe in self._pipes:
            self.output_cut |= not pipe.close()
        for timer in self._timers.values():
            timer.cancel()
        for stop in self._stops:
            stop()
        self._leader.unwatch(self._loop)
        for pipe in self._pipes:
            pipe.close_sink()

    # --- what can end the process ---------------------------------------------------------------

    def _arm(self, cancel: asyncio.Event | None, hurry: asyncio.Event | None) -> None:
        for pipe in self._pipes:
            pipe.open()
        self._leader.watch(self._loop, self._on_exit)
        self._timer("wall", self._started + self._limits.wall_seconds, self._on_wall)
        if self._limits.idle_seconds is not None:
            self._timer("idle", self._started + self._limits.idle_seconds, self._on_idle)
        if cancel is not None:
            self._stops.append(call_when_set(cancel, lambda: self._finish(EndedBy.CANCELLED)))
        if hurry is not None:
            self._stops.append(call_when_set(hurry, self._lose_patience))

    def _timer(self, name: str, when: float, action: Callable[[], None]) -> None:
        self._timers[name] = self._loop.call_at(when, action)

    def _finish(self, ended_by: EndedBy) -> None:
        """The first reason stands."""
        if not self._end.done() and not self._loop.is_closed():
            self._end.set_result(ended_by)

    def _on_exit(self) -> None:
        self._quiet_since = time.monotonic()
        if not self._exited.done():
            self._exited.set_result(None)
        self._lose_patience()
        self._finish(EndedBy.EXIT)

    def _lose_patience(self) -> None:
        if not self._patience.done() and not self._loop.is_closed():
            self._patience.set_result(None)

    def _on_output(self, sink: OutputSink) -> None:
        self._last_output = self._loop.time()
        if self._terminal_at is not None:
            return
        if sink.terminal_seen:
            self._terminal_at = self._last_output
            self._on_terminal()
        elif sink.settled:
            self._finish(EndedBy.STOPPED_EARLY)

    def _on_failure(self, error: Exception) -> None:
        if self.failure is None:
            self.failure = error
        self._finish(EndedBy.CANCELLED)

    def _on_stream_end(self) -> None:
        if all(pipe.ended for pipe in self._pipes) and not self._drained.done():
            self._quiet_since = time.monotonic()
            self._drained.set_result(None)

    def _on_wall(self) -> None:
        """Out of time; a process that has only just printed its terminal event is not late."""
        grace = self._limits.terminal_grace_seconds
        terminal = self._terminal_at
        in_time = terminal is not None and self._loop.time() - terminal < grace
        self._finish(EndedBy.TERMINAL_GRACE if in_time else EndedBy.WALL_DEADLINE)

    def _on_idle(self) -> None:
        """Silent for too long, unless it was not; after a terminal event the grace rules."""
        due = self._last_output + (self._limits.idle_seconds or 0.0)
        if self._terminal_at is not None:
            return
        if due > self._loop.time():
            self._timer("idle", due, self._on_idle)
        else:
            self._finish(EndedBy.IDLE_DEADLINE)

    def _on_terminal(self) -> None:
        due = self._last_output + self._limits.terminal_grace_seconds
        if due > self._loop.time():
            self._timer("terminal", due, self._on_terminal)
        else:
            self._finish(EndedBy.TERMINAL_GRACE)

    # --- how it is ended --------------------------------------------------------------------------

    async def _terminate(self) -> float:
        """Ask everything to end, and wait for the leader as long as the grace lasts."""
        members = self._descendants.find(time.monotonic()).living
        self._leader.signal_group(signal.SIGTERM)
        for member in members:
            if member.group != self._leader.pid:
                self._descendants.send(member, signal.SIGTERM)
        cancelled = self._end.result() is EndedBy.CANCELLED
        limits = self._limits
        grace = limits.cancel_grace_seconds if cancelled else limits.term_grace_seconds
        await self._wait(self._patience, min(grace, limits.term_grace_seconds))
        if self._exited.done():
            return await self._settle(time.monotonic())
        return time.monotonic()

    async def _settle(self, not_before: float) -> float:
        """Give members a moment to end by themselves: they may only just have seen the leader go.

        Both take and return the moment since when a look at the processes holds.
        """
        end = self._loop.time() + SETTLE_SECONDS
        for pause in _pauses():
            living = self._descendants.find(not_before).living
            if not living or self._loop.time() >= end:
                break
            await self._pause(pause)
            not_before = time.monotonic()
        return not_before

    async def _sweep(self, not_before: float) -> None:
        """Kill what is left, in rounds, since it can fork meanwhile; list it as survivors.

        The first look may be one that another unit took since `not_before`.
        """
        deadline = self._loop.time() + SWEEP_SECONDS
        quiet_walks = 0
        for pause in _pauses():
            found = self._descendants.find(not_before)
            self._leader.signal_group(signal.SIGKILL)
            self._kill(found.living)
            self._descendants.reap(found.zombies)
            quiet_walks = 0 if found.living else quiet_walks + 1
            believed = quiet_walks >= (1 if found.settled else _UNSETTLED_WALKS)
            if self._exited.done() and believed:
                return
            if self._loop.time() >= deadline:
                return
            await self._pause(pause)
            not_before = time.monotonic()

    async def _reap(self) -> None:
        """Take the leader's exit code, and let no member of its group stay as a zombie."""
        end = self._loop.time() + SETTLE_SECONDS
        for pause in _pauses():
            gone = self._leader.reap() and not self._leader.reap_group()
            if gone or self._loop.time() >= end:
                return
            await self._pause(pause)

    def _kill(self, members: Sequence[ProcessRecord]) -> None:
        for member in members:
            self._survivors[member.pid, member.start] = str(member)
            self._descendants.send(member, signal.SIGKILL)

    # --- waiting ----------------------------------------------------------------------------------

    async def _pause(self, seconds: float) -> None:
        await self._wait(self._loop.create_future(), seconds)

    async def _wait(self, future: asyncio.Future[Any], seconds: float | None) -> bool:
        """True once the future is done, False after so many seconds.

        A cancellation of our task ends the process, but not this wait: it is kept in `cancelled`
        and raised by the caller after the clean-up.
        """
        deadline = None if seconds is None else self._loop.time() + seconds
        while not future.done():
            left = None if deadline is None else deadline - self._loop.time()
            if left is not None and left <= 0:
                return False
            waiter = self._loop.create_future()
            wake = partial(_wake, waiter)
            future.add_done_callback(wake)
            timer = None if left is None else self._loop.call_later(left, wake, future)
            try:
                await waiter
            except asyncio.CancelledError:
                self.cancelled = True
                self._finish(EndedBy.CANCELLED)
            finally:
                future.remove_done_callback(wake)
                if timer is not None:
                    timer.cancel()
        return True


def _wake(waiter: asyncio.Future[None], _future: asyncio.Future[Any]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def _pauses() -> Iterator[float]:
    """Ever longer pauses between walks, in seconds, without end."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(pause * 1.5, _LAST_PAUSE_SECONDS)
