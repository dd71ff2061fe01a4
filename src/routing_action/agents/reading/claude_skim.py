"""Reads claude's records by their heads where no string of theirs can name a token.

Such a record is a turn, some text, calls that are idle and their results: nothing that it holds
proves anything, so no more than types, names and ids of it are decoded.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from routing_action.agents.reading.heads import Head
from routing_action.agents.reading.records import RecordReader

SHELLS = ("Bash", "PowerShell")


class ClaudeHead(Head):
    """A system record is told by its subtype."""

    subtype: str = ""


class Said(msgspec.Struct, gc=False, tag="text"):
    """Text, whatever it says."""


class Thought(msgspec.Struct, gc=False, tag="thinking"):
    """Reasoning, which proves nothing."""


class Hidden(msgspec.Struct, gc=False, tag="redacted_thinking"):
    """Reasoning that is not told."""


class Arguments(msgspec.Struct, gc=False, frozen=True):
    """What a tool is called with, if that is a command."""

    command: str = ""


class Used(msgspec.Struct, gc=False, tag="tool_use"):
    """A tool call."""

    id: str
    name: str
    input: Arguments = Arguments()


class UsedByServer(Used, gc=False, tag="server_tool_use"):
    """A tool call that the API answers."""


class UsedByMcp(Used, gc=False, tag="mcp_tool_use"):
    """A tool call that an MCP server answers."""


class Answered(msgspec.Struct, gc=False, tag="tool_result"):
    """The result of a tool call."""

    tool_use_id: str


class ClaudeMessage(msgspec.Struct, gc=False, frozen=True):
    """What the model or a tool said."""

    content: list[Said | Used | Answered | Thought | Hidden | UsedByServer | UsedByMcp] | None = (
        None
    )


class ClaudeRecord(ClaudeHead):
    """A record that can be skimmed, if it can be decoded to this."""

    message: ClaudeMessage = ClaudeMessage()
    error: object = None
    has_failed: object = msgspec.field(default=None, name="isApiErrorMessage")


class ClaudeSkimmer(RecordReader, ABC):
    """The part of the reader that skims."""

    def skim(self, heads: Sequence[Any], first: int, stop: int) -> int:
        """Take turns and results of idle calls."""
        turns, place = 0, first
        for place in range(first, stop):
            head = heads[place]
            kind = head.type
            if kind == "assistant":
                if not self._skim_turn(head):
                    break
                turns += 1
            elif kind == "user" and not self._skim_results(head.message.content):
                break
        else:
            place = stop
        if turns:
            self.turn(turns)
        return place - first

    def _skim_turn(self, head: ClaudeRecord) -> bool:
        """True where what the assistant did was taken."""
        content = head.message.content
        if content is None or head.error is not None or head.has_failed is not None:
            return False
        calls = False
        for block in content:
            if isinstance(block, Used):
                calls = True
                if not (self._active and self._is_idle(block)):
                    return False
            elif not self.summary.has_text:
                return False
        if calls:
            self._open(content)
        return True

    def _open(self, content: Iterable[object]) -> None:
        for block in content:
            if isinstance(block, Used):
                self.tool_events += 1
                self._calls.open_idle(block.id)

    def _is_idle(self, call: Used) -> bool:
        """True for a call that is activity alone, if no string of its line names a token."""
        if call.name in SHELLS:
            return self.is_idle_command(call.input.command, self.context.cwd)
        return call.name != "Skill"

    def _skim_results(self, content: Iterable[object] | None) -> bool:
        """True where the results of a record were taken; to take an idle one twice does nothing."""
        if content is None:
            return False
        for block in content:
            if type(block) is Answered:
                if not self._calls.close_idle(block.tool_use_id):
                    return False
            elif type(block) is Said:
                return False
        return True
