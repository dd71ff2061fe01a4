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
    """Of the red team's tests with many pull requests the fast run takes the first of each.

    One takes about a second. The others differ in what is proposed, not in the way that it takes
    through git, the action's stages and the gate.
    """
    seen = set()
    for item in items:
        if isinstance(item, pytest.Function) and _proposes(item):
            test = (item.path, item.originalname)
            if test in seen:
                item.add_marker(pytest.mark.slow)
            seen.add(test)


def _proposes(item: pytest.Function) -> bool:
    is_red_team = item.path.name.startswith("test_red_team")
    makes_its_own = hasattr(item.module, PullRequest.__name__) and "tmp_path" in item.fixturenames
    return "change" in item.fixturenames or (is_red_team and makes_its_own)
