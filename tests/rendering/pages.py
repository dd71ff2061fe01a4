"""Lays a body of markdown out in a browser as GitHub shows a comment, at the width of a device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page

from tests.browser.chromium import open_page
from tests.rendering.oracle import Oracle

WIDTHS = (390, 860, 1400)
"""Pixels of a phone, a tablet and a desk."""

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

# As on GitHub: a column of at most 920 pixels, and a box with a border around a comment.
_PAGE = """<!doctype html><meta charset="utf-8"><style>{css}
body {{ margin: 0; color-scheme: light dark; background: light-dark(#fff, #0d1117); }}
main {{ box-sizing: border-box; max-width: 920px; margin: 16px; padding: 16px;
  border: 1px solid #8886; border-radius: 6px; }}
main.markdown-body {{ font-size: 14px; }}
summary {{ cursor: pointer; }}</style>
<main class="markdown-body">{html}</main>"""


@contextmanager
def show_comment(
    oracle: Oracle,
    browser: Browser,
    folder: Path,
    body: str,
    width: int,
    scheme: Scheme = "light",
) -> Iterator[Page]:
    """The page; its folds are as the body says."""
    css = (oracle.packages / "github-markdown-css" / "github-markdown.css").read_text()
    file = folder / "comment.html"
    file.write_text(_PAGE.format(css=css, html=oracle.judge(body).html), encoding="utf-8")
    with open_page(browser, file, size=(width, 900), color_scheme=scheme) as opened:
        yield opened.page
