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
