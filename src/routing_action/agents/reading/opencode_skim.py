"""Reads opencode's parts by their heads where no string of theirs can name a token.

Such a part is text, an idle call with its result, or the end of a step, which tells its tokens.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import msgspec

from routing_action.agents.reading.heads import Head
from routing_action.agents.reading.skimmer import Skimmer


class Arguments(msgspec.Struct, gc=False, frozen=True):
    """What a tool is called with, if that is a command and its folder."""

    command: str = ""
    workdir: object = None


class State(msgspec.Struct, gc=False, frozen=True):
    """How far a call has come."""

    input: Arguments = Arguments()


class Cache(msgspec.Struct, gc=False, frozen=True):
    """Tokens that were read from the cache."""

    read: object = None


class Tokens(msgspec.Struct, gc=False, frozen=True):
    """What a step used."""

    input: object = None
    output: object = None
    reasoning: object = None
    cache: Cache = Cache()


class Part(msgspec.Struct, gc=False, frozen=True):
    """The fields of every kind of part that count."""

    tool: str = ""
    state: State | None = None
    callID: object = None  # noqa: N815 - the stream's own name
    id: str = ""
    reason: str | None = None
    tokens: Tokens = Tokens()
    cost: object = None


class OpencodeRecord(Head):
    """A record that can be skimmed, if it can be decoded to this."""

    part: Part = Part()


class OpencodeSkimmer(Skimmer, ABC):
    """The part of the reader that skims."""

    def commands_of(self, heads: Sequence[Any]) -> list[str]:
        """Those of calls."""
        return [
            head.part.state.input.command
            for head in heads
            if head.type == "tool_use" and head.part.state
        ]

    def take(self, head: Any, idle: bool) -> bool:  # noqa: ANN401 - an OpencodeRecord or a Head
        """Take texts, idle calls and steps that call tools."""
        if head.type == "step_finish":
            return self._skim_step(head.part)
        if head.type == "tool_use":
            taken = self._skim_tool(head.part, idle)
        elif head.type == "text":
            taken = self.summary.has_text
        else:
            return True
        if taken:
            self.turn()
        return taken

    def _skim_tool(self, part: Part, idle: bool) -> bool:
        """True where a call was taken with its result; `idle` says that its command is."""
        if part.state is None or not self._active or part.tool in ("", "skill"):
            return False
        if type(part.callID) is not str:  # its call would wait for a result that never comes
            return False
        given = part.state.input
        if part.tool == "bash" and (
            given.workdir is not None or not (idle or self.is_idle_command(given.command))
        ):
            return False
        self.tool_events += 1
        return True

    def _skim_step(self, part: Part) -> bool:
        """True where a step was counted; one that ends for another reason ends the run."""
        if part.reason not in ("tool-calls", None):
            return False
        tokens = part.tokens
        used = (tokens.input, tokens.output, tokens.cache.read, tokens.reasoning)
        self.count_step(part.id, used, part.cost)
        return True

    @abstractmethod
    def count_step(self, identity: str, tokens: Sequence[object], cost: object) -> None:
        """Add what a step used, once: tokens in, out, cached and for reasoning, and USD."""
