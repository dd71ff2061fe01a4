"""Keeps Python's garbage collector from looking through what stays until the end of a command."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from routing_action.evidence.gc_pause import no_collector

_THRESHOLDS = (10_000, 10, 10)


@contextmanager
def loading() -> Iterator[None]:
    """What is imported and read here stays: it is not looked through now, and not later."""
    with no_collector():
        yield
        gc.freeze()  # before it is on again: it would begin at once


@contextmanager
def rare_collections() -> Iterator[None]:
    """What is loaded by now is left out, and new cycles are looked for less often.

    A unit leaves some hundred objects in cycles, so that this costs a few megabytes at most.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
