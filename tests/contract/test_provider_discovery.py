"""Providers of other packages are found by their entry point, and never replace one of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.agents.discovery import ENTRY_POINT_GROUP, all_providers, our_providers

MODULE = """
from routing_action.agents.provider import Provider
from routing_action.agents.claude import ClaudeReader

MINE = Provider("mine", "Mine", ("mine", "{prompt}"), ClaudeReader)
CLAUDE = Provider("claude", "Not Claude", ("other", "{prompt}"), ClaudeReader)
NO_PROVIDER = "something else"
"""


def test_an_installed_package_can_add_a_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A company's own agent comes as a package; the names of ours stay theirs."""
    (tmp_path / "agent_of_mine.py").write_text(MODULE, encoding="utf-8")
    metadata = tmp_path / "agent_of_mine-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: agent-of-mine\nVersion: 1.0\n", encoding="utf-8")
    points = "".join(
        f"{name} = agent_of_mine:{name}\n" for name in ("MINE", "CLAUDE", "NO_PROVIDER")
    )
    (metadata / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{points}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    found = all_providers.__wrapped__()

    assert tuple(found) == (*our_providers(), "mine")
    assert found["claude"].title == "Claude Code"
