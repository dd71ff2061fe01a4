"""Tool calls that wait for their results, paired by id alone."""

from __future__ import annotations

import msgspec

_MOST = 1_000
"""Calls that are kept without a result: more come from no healthy run."""


class Call(msgspec.Struct, frozen=True, gc=False):
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

    @property
    def quote(self) -> str:
        """The source line as text."""
        return quote_line(self.line)


IDLE = Call("tool", "", "", 0, b"")
"""Stands for every call that names no token, once there was one: its result proves nothing."""


def quote_line(line: bytes) -> str:
    """A source line as it is quoted: invalid UTF-8 is replaced, and NUL dropped."""
    return line.decode("utf-8", "replace").replace("\x00", "")


class PendingCalls:
    """Pairs each result with its call. An id that is no word and no number pairs nothing."""

    def __init__(self) -> None:
        """Start with no call."""
        self._waiting: dict[str | tuple[str], Call] = {}
        self._replaced: list[Call] = []

    def open(self, identity: object, call: Call) -> None:
        """Remember a call; an earlier one of the same id will never get its result."""
        known = isinstance(identity, str | int)
        key = _key(identity) if known else (f"unpaired {len(self._waiting)}",)
        if key in self._waiting:
            self._replaced.append(self._waiting.pop(key))
        if len(self._waiting) < _MOST:
            self._waiting[key] = call

    def open_idle(self, identity: str) -> None:
        """The same for a call that is idle."""
        waiting = self._waiting
        if identity in waiting:
            self._replaced.append(waiting.pop(identity))
        if len(waiting) < _MOST:
            waiting[identity] = IDLE

    def close_idle(self, identity: str) -> bool:
        """Take the call of an id out if it is idle; False where it is not."""
        call = self._waiting.get(identity, IDLE)
        if call is IDLE:
            self._waiting.pop(identity, None)
        return call is IDLE

    def find(self, identity: object) -> Call | None:
        """The call of an id that still waits."""
        return self._waiting.get(_key(identity))

    def close(self, identity: object) -> Call | None:
        """Take the call of an id out, None where there is none."""
        return self._waiting.pop(_key(identity), None)

    def take_all(self) -> list[Call]:
        """Take out every call that never got a result."""
        left = [*self._replaced, *self._waiting.values()]
        self._replaced.clear()
        self._waiting.clear()
        return left


def _key(identity: object) -> str | tuple[str]:
    """A string itself, anything else so that it is like no string."""
    return identity if type(identity) is str else (repr(identity),)
