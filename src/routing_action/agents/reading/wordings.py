"""The one table of what the agent CLIs and their services call a failure: wordings.toml.

docs/reference/failure-wordings.md is written from it. Only the CLI's own error fields are searched
for these words, never agent prose or tool output.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from routing_action.evidence.transcript import ApiFailure

ALL = ("claude", "codex", "copilot", "gemini", "opencode")


@dataclass(frozen=True, slots=True)
class Wording:
    """Words or codes of a failure, `examples` of them, and their source.

    A `firm` quota is one whatever pause is named beside it; any other limit that lifts within
    LONGEST_PAUSE seconds is a rate limit.
    """

    pattern: re.Pattern[str]
    failure: ApiFailure
    agents: tuple[str, ...]
    examples: tuple[str, ...]
    source: str
    firm: bool


def _read(one: dict[str, Any]) -> Wording:
    return Wording(
        re.compile(one["pattern"], re.IGNORECASE),
        ApiFailure(one["failure"]),
        tuple(one.get("agents", ALL)),
        tuple(one["examples"]),
        one["source"],
        one.get("firm", False),
    )


_TABLE = files("routing_action.agents.reading").joinpath("wordings.toml").read_text("utf-8")
WORDINGS = tuple(_read(one) for one in tomllib.loads(_TABLE)["wording"])
