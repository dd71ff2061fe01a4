"""Reads codex' items by their heads where no string of theirs can name a token.

Such an item is a turn, some text, or a command that is idle: of it no output is decoded.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

import msgspec

from routing_action.providers.calls import Call
from routing_action.providers.heads import Head
from routing_action.providers.records import RecordReader


class CodexMessage(msgspec.Struct, gc=False):
    """An event of the older protocol."""

    type: str = ""


class CodexHead(Head):
    """The older protocol has its events under `msg`."""

    msg: CodexMessage | None = None


class Ran(msgspec.Struct, gc=False, tag="command_execution"):
    """A command, begun or done."""

    id: str
    command: str
    cwd: object = None


class Said(msgspec.Struct, gc=False, tag="agent_message"):
    """Text, whatever it says."""


class Thought(msgspec.Struct, gc=False, tag="reasoning"):
    """Reasoning, which proves nothing."""


class CodexRecord(CodexHead):
    """A record that can be skimmed, if it can be decoded to this."""

    item: Ran | Said | Thought | None = None


class CodexSkimmer(RecordReader, ABC):
    """The part of the reader that skims."""

    def skim(self, heads: Sequence[Any], first: int, stop: int) -> int:
        """Take turns and commands that are idle."""
        turns, place = 0, first
        for place in range(first, stop):
            head = heads[place]
            if head.type == "item.started":
                if not self._skim_started(head):
                    break
            elif head.type == "item.completed":
                if not self._skim_completed(head):
                    break
                turns += 1
        else:
            place = stop
        if turns:
            self.turn(turns)
        return place - first

    def _skim_started(self, head: CodexRecord) -> bool:
        item = head.item
        if item is None or head.msg is not None:
            return False
        if type(item) is Ran:
            if not (self._active and self.is_idle_command(item.command)):
                return False
            self.tool_events += 1
            self._calls.open(item.id, _idle_call(item))
        return True

    def _skim_completed(self, head: CodexRecord) -> bool:
        item = head.item
        if item is None or head.msg is not None:
            return False
        if type(item) is Ran:
            return self._active and self._skim_command(item)
        return type(item) is Thought or self.summary.has_text

    def _skim_command(self, item: Ran) -> bool:
        """True where the completion of a command was taken; it tells all if nothing began."""
        started = self._calls.find(item.id)
        if started is not None and started.number:
            return False
        if started is None or (item.command and started.target != item.command):
            if item.cwd is not None or self._matters(_idle_call(item)):
                return False  # its line need not have been searched for names
            self.tool_events += 1
        self._calls.close(item.id)
        return True


def _idle_call(item: Ran) -> Call:
    """Of what proves nothing the command alone is kept: its completion may tell another."""
    return Call("shell", "shell", item.command, 0, b"")
