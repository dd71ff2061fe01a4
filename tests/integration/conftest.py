"""What integration tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pull_request import PullRequest


@pytest.fixture
def change(tmp_path: Path) -> PullRequest:
    """A pull request that proposes nothing yet."""
    return PullRequest(tmp_path)
