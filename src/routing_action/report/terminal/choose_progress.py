"""Decides whether a run is shown as a live view, and keeps that view going while it runs.

Without one, nothing of rich is imported, and the run writes its lifecycle lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from routing_action.run.lifecycle import BatchObserver, is_ci
from routing_action.run.process.process import ProcessLimits
from routing_action.run.settings import RunSettings

TICK_SECONDS = 0.1
_DUMB = ("", "dumb", "unknown")


@contextmanager
def live_progress(
    settings: RunSettings, cancel: asyncio.Event, hurry: asyncio.Event
) -> Iterator[BatchObserver | None]:
    """A view on standard error for as long as the block lasts, or None where there is none.

    `cancel` and `hurry` are the first and the second interrupt of the batch. What others write to
    standard error meanwhile is put above it. Needs a running event loop.
    """
    stream = sys.stderr
    if settings.outputs.no_progress or not wants_view(stream, settings.environ):
        yield None
        return
    # rich is imported only where it is used.
    from routing_action.report.terminal.live import LiveView, Terminal  # noqa: PLC0415
    from routing_action.report.terminal.progress_view import ViewLook  # noqa: PLC0415

    view = LiveView(
        Terminal(stream),
        time.monotonic,
        settings.limits.max_parallel,
        ViewLook(
            ascii_only=not (stream.encoding or "").casefold().startswith("utf"),
            ending_seconds=ProcessLimits(wall_seconds=0).ending_seconds,
        ),
        interrupts=lambda: cancel.is_set() + hurry.is_set(),
        leaves_outcome=not sys.stdout.isatty(),  # else the outcome follows on the same terminal
    )
    try:
        with contextlib.redirect_stderr(view.above), _ticking(view.tick, view.resume):
            yield view
    finally:
        view.close()


def wants_view(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """True on a terminal that can move its cursor, where a person and no CI system watches.

    `TERM=dumb` and no TERM at all say that a terminal can nothing.
    """
    if is_ci(environ):
        return False
    return environ.get("TERM", "") not in _DUMB and _is_terminal(stream)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty() and os.isatty(stream.fileno())
    except (OSError, ValueError):  # closed, or without a descriptor
        return False


@contextmanager
def _ticking(tick: Callable[[], None], resume: Callable[[], None]) -> Iterator[None]:
    """Call back ten times a second, and when the process continues after a stop (Ctrl-Z)."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def again() -> None:
        nonlocal timer
        timer = loop.call_later(TICK_SECONDS, again)
        tick()

    timer = loop.call_later(0, again)
    loop.add_signal_handler(signal.SIGCONT, resume)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGCONT)
        timer.cancel()
