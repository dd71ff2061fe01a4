"""Reads codex' items by their heads where no string of theirs can name a token.

Such an item is a turn, some text, or a command that is idle: of it no output is decoded.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

import msgspec

from routing_action.agents.reading.calls import Call
from routing_action.agents.reading.heads import Head
from routing_action.agents.reading.skimmer import Skimmer


class CodexMessage(msgspec.Struct, gc=False):
    """An event of the older protocol."""

    type: str = ""


class CodexHead(Head):
    """The older protocol has its events under `msg`."""

    msg: CodexMessage | None = None


class CodexItem(msgspec.Struct, gc=False):
    """What the agent did: a command, begun or done, some text, or something else."""

    type: str = ""
    id: object = None
    command: str = ""
    cwd: object = None


class CodexRecord(CodexHead):
    """A record that can be skimmed, if it can be decoded to this."""

    item: CodexItem | None = None


_TEXTS = ("agent_message", "assistant_message")


class CodexSkimmer(Skimmer, ABC):
    """The part of the reader that skims."""

    def commands_of(self, heads: Sequence[Any]) -> list[str]:
        """Those that begin: a completion repeats its command."""
        return [head.item.command for head in heads if head.type == "item.started" and head.item]

    def take(self, head: Any, idle: bool) -> bool:  # noqa: ANN401 - a CodexRecord or a CodexHead
        """Take turns and commands that are idle."""
        if head.type == "item.started":
            return self._skim_started(head, idle)
        if head.type != "item.completed":
            return True
        if not self._skim_completed(head):
            return False
        self.turn()
        return True

    def _skim_started(self, head: CodexRecord, idle: bool) -> bool:
        """True where it was taken; `idle` says that its command is, if its line names no token."""
        item = head.item
        if item is None or head.msg is not None or not item.type:
            return False
        if item.type == "command_execution":
            if type(item.id) is not str or not self._active:
                return False
            if not (idle or self.is_idle_command(item.command)):
                return False
            self.tool_events += 1
            self._calls.open(item.id, _idle_call(item))
        return True

    def _skim_completed(self, head: CodexRecord) -> bool:
        item = head.item
        if item is None or head.msg is not None:
            return False
        if item.type == "command_execution":
            return self._active and self._skim_command(item)
        return item.type == "reasoning" or (item.type in _TEXTS and self.summary.has_text)

    def _skim_command(self, item: CodexItem) -> bool:
        """True where the completion of a command was taken; it tells all if nothing began."""
        identity = item.id
        if type(identity) is not str:
            return False
        started = self._calls.find(identity)
        if started is not None and started.number:
            return False
        if started is None or (item.command and started.target != item.command):
            if item.cwd is not None or self._matters(_idle_call(item)):
                return False  # its line need not have been searched for names
            self.tool_events += 1
        self._calls.close(identity)
        return True


def _idle_call(item: CodexItem) -> Call:
    """Of what proves nothing the command alone is kept: its completion may tell another."""
    return Call("shell", "shell", item.command, 0, b"")
