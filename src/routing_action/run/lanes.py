"""How many units of each provider run at once where nobody said: by memory, and by logins.

Source of the rules: docs/how-to/bound-time-and-cost.md, 'Lanes'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from routing_action.evidence.reader_protocol import Provider

MEMORY_SHARE = 0.75
"""Of the memory that is free so much is given to agents; their tools and we need some too."""


@dataclass(frozen=True, slots=True)
class Lane:
    """How many units of a provider run at once, and why it is no more; at least 1."""

    room: int
    reason: str


def plan_lanes(
    providers: Iterable[Provider],
    asked: Mapping[str, int],
    *,
    max_parallel: int,
    free_bytes: int | None,
    serial_logins: Iterable[str] = (),
) -> dict[str, Lane]:
    """The lane of every provider that gets fewer slots than the batch has.

    A number that was asked for stands. Else memory is shared evenly between the providers:
    `free_bytes` of it, None where it is not known. `serial_logins` are the providers that would
    use one login in several homes. Every lane has room for one unit, whatever it takes.
    """
    chosen = list(providers)
    serial = set(serial_logins)
    lanes: dict[str, Lane] = {}
    for provider in chosen:
        lane = _asked(asked.get(provider.name)) or _default(
            provider, free_bytes, len(chosen), provider.name in serial
        )
        if lane is not None and lane.room < max_parallel:
            lanes[provider.name] = lane
    return lanes


def _asked(room: int | None) -> Lane | None:
    return None if room is None else Lane(room, "as asked")


def _default(provider: Provider, free_bytes: int | None, count: int, serial: bool) -> Lane | None:
    if serial:
        return Lane(1, "its login file can be refreshed by one process only")
    if free_bytes is None:
        return None
    share = free_bytes * MEMORY_SHARE / count
    room = max(1, int(share // (provider.memory_mb * 2**20)))
    return Lane(room, f"{provider.memory_mb} MB each of {free_bytes // 2**20} MB free")
