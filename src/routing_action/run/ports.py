"""What the use cases need of the outside: the clock, ids, and where lines go."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from routing_action.run.lifecycle import BatchObserver


@dataclass(frozen=True, slots=True)
class Ports:
    """Injected so that tests decide them. `now` is aware, in UTC; `new_id` gives a UUID v4.

    An `observer` hears of each unit in place of the lifecycle lines.
    """

    now: Callable[[], datetime]
    new_id: Callable[[], str]
    write_error: Callable[[str], None]
    observer: BatchObserver | None = None


def format_time(moment: datetime) -> str:
    """An aware moment as our files write it: UTC, milliseconds, `Z`."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def new_uuid() -> str:
    """A random UUID v4."""
    return str(uuid.uuid4())
