"""Finds a Chromium on this machine and opens pages from disk in it, watching all that they do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
HOW_TO_GET = "apt-get install -y chromium fonts-liberation fonts-noto-color-emoji fonts-dejavu-core"
VIEWS = ("changes", "matrix", "units", "timeline", "totals")
WIDTHS = ((390, 844), (860, 900), (1400, 900))
"""A phone, half a screen and a whole one."""
SCREENSHOTS = "ROUTING_ACTION_SCREENSHOTS"
"""Names the folder that keeps the screenshots; else they stay in pytest's temporary folder."""


def find_chromium() -> str | None:
    """The browser that CHROMIUM names, else the first one on PATH."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def start_browser() -> Iterator[Browser]:
    """A headless browser; skips, and says how to get one, where there is none."""
    path = find_chromium()
    if path is None:
        pytest.skip(f"no Chromium is on PATH or named by CHROMIUM; get one with: {HOW_TO_GET}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page with what it asked for and what went wrong in it."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@contextmanager
def open_page(
    browser: Browser,
    file: Path,
    *,
    address: str = "",
    size: tuple[int, int] = (1280, 900),
    **options: Any,  # noqa: ANN401 - of a browser context
) -> Iterator[Watched]:
    """A page of its own; `address` is what follows the file's name."""
    viewport: Any = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=viewport, **options)
    watched = Watched(context.new_page())
    page = watched.page
    page.set_default_timeout(15_000)
    page.on("request", lambda request: watched.requests.append(request.url))
    page.on("console", lambda line: watched.errors.append(line.text))
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    page.goto(file.as_uri() + address)
    yield watched
    context.close()


def keep_screenshot(page: Page, name: str, folder: Path) -> Path:
    """A picture of what is in sight, for people to look at."""
    kept = Path(os.environ.get(SCREENSHOTS) or folder)
    kept.mkdir(parents=True, exist_ok=True)
    path = kept / f"{name}.png"
    page.screenshot(path=path)
    return path


def settled(page: Page) -> None:
    """Wait for two frames: one that works, one that shows."""
    page.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")


def show(page: Page, view: str) -> None:
    """Turn to a view of the report."""
    page.click(f"#tab-{view}")
    settled(page)
