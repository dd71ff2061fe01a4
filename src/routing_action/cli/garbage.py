"""Keeps Python's garbage collector from looking through what stays until the end of a run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (10_000, 10, 10)


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
