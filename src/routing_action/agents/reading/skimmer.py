"""Takes records by their heads, some at a time: their commands are looked at together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from routing_action.agents.reading.records import RecordReader

_TOGETHER = 64


class Skimmer(RecordReader, ABC):
    """A reader that skims. Records of the types in `plain` are taken without a look."""

    plain: frozenset[str] = frozenset()

    def skim(self, heads: Sequence[Any], first: int, stop: int) -> int:
        """Take records up to the first one that must be decoded."""
        taken, plain = 0, self.plain
        for start in range(first, stop, _TOGETHER):
            some = heads[start : min(start + _TOGETHER, stop)]
            if plain.issuperset([head.type for head in some]):
                taken += len(some)
                continue
            commands = self.commands_of(some)
            idle = not commands or self.are_idle_commands(commands)
            for head in some:
                if head.type not in plain and not self.take(head, idle):
                    return taken
                taken += 1
        return taken

    @abstractmethod
    def commands_of(self, heads: Sequence[Any]) -> list[str]:
        """The commands of calls among some records."""

    @abstractmethod
    def take(self, head: Any, idle: bool) -> bool:  # noqa: ANN401 - the shape is the reader's
        """True where a record was taken; `idle` says that its command is activity alone."""
