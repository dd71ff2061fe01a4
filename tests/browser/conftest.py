"""One browser for all files of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import start_browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with start_browser() as found:
        yield found
