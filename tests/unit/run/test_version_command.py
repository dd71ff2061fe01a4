"""Which command prints the version of the CLI that was measured."""

from __future__ import annotations

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.run.other_sources import version_command


@pytest.mark.parametrize(
    ("agent", "argv", "asked"),
    [
        ("claude", ("claude", "-p", "x"), ("claude", "--version")),
        ("codex", ("/opt/my tools/codex", "exec", "x"), ("/opt/my tools/codex", "--version")),
        ("claude", ("timeout", "60", "claude", "x"), ("timeout", "60", "claude", "--version")),
        ("copilot", ("env", "A=b", "copilot", "x"), ("env", "A=b", "copilot", "--version")),
        (
            "claude",
            ("npx", "-y", "@anthropic-ai/claude-code", "x"),
            ("npx", "-y", "@anthropic-ai/claude-code", "--version"),
        ),
        (
            "gemini",
            ("npx", "@google/gemini-cli@0.61.0", "x"),
            ("npx", "@google/gemini-cli@0.61.0", "--version"),
        ),
        ("claude", ("node", "bin/claude.js", "x"), ("node", "bin/claude.js", "--version")),
        (
            "claude",
            ("nice", "-n", "5", "timeout", "-k", "1", "2.5m", "claude", "x"),
            ("nice", "-n", "5", "timeout", "-k", "1", "2.5m", "claude", "--version"),
        ),
        ("claude", ("python3", "fake.py", "x"), ()),
        ("claude", ("python3", "fake.py", "claude"), ()),
        ("claude", ("python3", "fake.py", "--agent", "claude", "x"), ()),
        ("claude", ("python3", "claude.py", "x"), ()),
        ("claude", ("timeout", "60", "python3", "claude.py", "x"), ()),
        ("claude", ("timeout", "60", "bash", "run.sh", "claude"), ()),
        ("codex", ("env", "A=b", "sh", "-c", "codex", "x"), ()),
        ("claude", ("node", "agent.js", "claude"), ()),
        ("claude", (), ()),
        ("claude", ("bash", "-c", "claude -p x"), ()),
    ],
)
def test_the_program_of_the_agent_is_asked(
    agent: str, argv: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    """Not the program that a template starts it with."""
    assert version_command(all_providers()[agent], argv) == asked
