"""The agent of docs/how-to/use-a-custom-agent.md: its description and stream, word for word."""

from __future__ import annotations

import re
import tomllib

from routing_action.agents.described.build import build_provider
from routing_action.agents.described.routing_file import RoutingFile
from routing_action.agents.provider import Provider
from tests.support.command_line import ROOT

_GUIDE = (ROOT / "docs/how-to/use-a-custom-agent.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    match = re.search(rf"^```{language}\n(.*?)^```", _GUIDE, re.DOTALL | re.MULTILINE)
    assert match is not None
    return match[1]


DESCRIPTION = _block("toml")
"""The text of routing.toml."""

STREAM = _block("json").encode()
"""What the agent prints in a run that loads a skill."""


def own_provider() -> Provider:
    """The provider that the description makes."""
    described = RoutingFile.model_validate(tomllib.loads(DESCRIPTION))
    return build_provider("acme", described.providers["acme"])
