"""What integration tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pull_request import PullRequest


@pytest.fixture
def change(tmp_path: Path) -> PullRequest:
    """A pull request that proposes nothing yet."""
    return PullRequest(tmp_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test with many pull requests the fast run takes the first: each takes about a second.

    The others differ in what is proposed, not in the way that it takes through git and the gate.
    """
    seen = set()
    for item in items:
        if isinstance(item, pytest.Function) and "change" in item.fixturenames:
            test = (item.path, item.originalname)
            if test in seen:
                item.add_marker(pytest.mark.slow)
            seen.add(test)
