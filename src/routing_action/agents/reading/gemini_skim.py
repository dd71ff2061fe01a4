"""Reads gemini's records by their heads where no string of theirs can name a token.

Such a record is a piece of text, which comes word by word, an idle call, or the result of one.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

import msgspec

from routing_action.agents.reading.decoding import is_blank
from routing_action.agents.reading.heads import Head
from routing_action.agents.reading.skimmer import Skimmer

SHELLS = ("run_shell_command", "shell")


class Parameters(msgspec.Struct, gc=False, frozen=True):
    """What a tool is called with, if that is a command and its folder."""

    command: str = ""
    dir_path: object = None
    directory: object = None


class GeminiHead(Head):
    """A message is told by who wrote it, and counts for its text alone."""

    role: str = ""
    content: str = ""


class GeminiRecord(GeminiHead):
    """A record that can be skimmed, if it can be decoded to this."""

    tool_name: str = ""
    tool_id: object = None
    parameters: Parameters = Parameters()


class GeminiSkimmer(Skimmer, ABC):
    """The part of the reader that skims."""

    plain = frozenset({"message"})

    def commands_of(self, heads: Sequence[Any]) -> list[str]:
        """Those of tool calls."""
        return [head.parameters.command for head in heads if head.type == "tool_use"]

    def take(self, head: Any, idle: bool) -> bool:  # noqa: ANN401 - a GeminiRecord or a GeminiHead
        """Take idle calls and their results."""
        if head.type == "tool_use":
            return self._skim_call(head, idle)
        return head.type != "tool_result" or self._skim_result(head)

    def _skim_call(self, head: GeminiRecord, idle: bool) -> bool:
        """True where a call was taken; `idle` says that its command is."""
        if type(head.tool_id) is not str or not self._active or head.tool_name == "activate_skill":
            return False
        given = head.parameters
        if head.tool_name in SHELLS and (
            given.dir_path is not None
            or given.directory is not None
            or not (idle or self.is_idle_command(given.command))
        ):
            return False
        self.tool_events += 1
        self._calls.open_idle(head.tool_id)
        return True

    def _skim_result(self, head: GeminiRecord) -> bool:
        return type(head.tool_id) is str and self._calls.close_idle(head.tool_id)

    def pass_over(self, heads: Sequence[Any]) -> None:
        """Each message of the assistant and each call is a turn; a message may say something."""
        super().pass_over(heads)
        said = [head for head in heads if head.type != "tool_result" and head.role != "user"]
        if said:
            self.turn(len(said))
        if not self.summary.has_text and any(
            head.type == "message" and not is_blank(head.content) for head in said
        ):
            self.note(has_text=True)
