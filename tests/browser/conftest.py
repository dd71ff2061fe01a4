"""A browser for each test: while one runs, its worker can run no other event loop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import start_browser


@pytest.fixture
def browser() -> Iterator[Browser]:
    with start_browser() as found:
        yield found
