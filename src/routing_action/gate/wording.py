"""Numbers and lists in words, for sentences of the gate and of reports."""

from __future__ import annotations

from collections.abc import Iterable


def count(number: int, noun: str) -> str:
    """A number with its noun, which gets an `s` unless it is one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def name_few(names: Iterable[str], most: int = 10, between: str = ", ") -> str:
    """The first of some names, and how many there are beside them."""
    known = list(names)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return between.join(known[:most]) + more


def format_duration(milliseconds: int) -> str:
    """Time in the two largest units: `9.1 s`, `4 min 5 s`, `2 h 7 min`."""
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
