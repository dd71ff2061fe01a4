"""Which version is read out of what a CLI says about itself."""

from __future__ import annotations

import pytest

from routing_action.app.versions import find_version


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        (b"codex-cli 0.171.0\n", "0.171.0"),
        (b"2.1.332 (Claude Code)\n", "2.1.332"),
        (b"GitHub Copilot CLI 1.0.102.\nRun 'copilot update'.\n", "1.0.102"),
        (b"0.61.0-nightly.20260101+build.7\n", "0.61.0-nightly.20260101+build.7"),
        (b"version 3\n", None),
        (b"", None),
    ],
)
def test_a_version_is_found_without_the_sentence_around_it(
    answer: bytes, version: str | None
) -> None:
    """A full stop behind it would make one version look like two."""
    assert find_version(answer) == version
