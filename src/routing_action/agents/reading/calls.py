"""Tool calls that wait for their result; the two are paired by id alone."""

from __future__ import annotations

from dataclasses import dataclass

_MOST_CALLS = 1_000
"""Calls that are kept without a result: more come from no healthy run."""


@dataclass(slots=True)
class Call:
    """A tool call that waits for its result.

    `kind`: `skill`, `file`, `shell` or `tool`. `target`: the skill's name, the path, the command.
    `line` is the source line, cut.
    """

    kind: str
    name: str
    target: str
    number: int
    line: bytes
    subagent: bool = False
    partial: bool = False
    cwd: str = ""


class PendingCalls:
    """Pairs each result with its call. An id that is no word and no number pairs nothing."""

    def __init__(self) -> None:
        """Start with no call."""
        self._waiting: dict[str | tuple[str], Call] = {}

    def open(self, identity: object, call: Call) -> None:
        """Remember a call; an earlier one of the same id will never get its result."""
        unpaired = (f"unpaired {len(self._waiting)}",)
        key = _key(identity) if isinstance(identity, str | int) else unpaired
        if len(self._waiting) < _MOST_CALLS:
            if key in self._waiting:
                self._waiting[unpaired] = self._waiting[key]
            self._waiting[key] = call

    def close(self, identity: object) -> Call | None:
        """Take the call of an id out, None where there is none."""
        return self._waiting.pop(_key(identity), None)

    def take_all(self) -> list[Call]:
        """Take out every call that never got a result."""
        left = list(self._waiting.values())
        self._waiting.clear()
        return left


def _key(identity: object) -> str | tuple[str]:
    """A string itself, anything else so that it is like no string."""
    return identity if isinstance(identity, str) else (repr(identity),)
