"""A GitHub that is served over HTTP, for the real PyGithub."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.fakes.github.repository import Repository
from tests.fakes.github.server import serve


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """GitHub; whatever a test sent and got fits its description, and waiting takes no time."""
    made = Repository()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(time, "sleep", made.waits.append)
    with serve(made):
        yield made
    assert made.violations == []
