"""The one table of what the agent CLIs and their services call a failure: wordings.toml.

docs/reference/failure-wordings.md is written from it. Only the CLI's own error fields are searched
for these words, never agent prose or tool output.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

import msgspec

from routing_action.evidence.transcript import ApiFailure

ALL = ("claude", "codex", "copilot", "gemini", "opencode")


class Wording(msgspec.Struct, frozen=True):
    """Words or codes of a failure, `examples` of them, and their source.

    A `firm` quota is one whatever pause is named beside it; any other limit that lifts within
    LONGEST_PAUSE seconds is a rate limit.
    """

    pattern: re.Pattern[str]
    failure: ApiFailure
    examples: tuple[str, ...]
    source: str
    agents: tuple[str, ...] = ALL
    firm: bool = False


_TABLE = files("routing_action.agents.reading").joinpath("wordings.toml").read_text("utf-8")
WORDINGS = msgspec.convert(
    tomllib.loads(_TABLE)["wording"],
    tuple[Wording, ...],
    dec_hook=lambda _, text: re.compile(text, re.IGNORECASE),
)
