"""The lines of a comment that are obeyed are plain lines on the page that GitHub shows."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from tests.rendering.oracle import Oracle
from tests.support.comment_table import SEEN, STRICTER

pytestmark = pytest.mark.slow


class _PlainLines(HTMLParser):
    """Counts the lines of paragraphs at the top that begin with a command as plain text."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._open: list[str] = []
        self._line = ""

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        if tag == "br":
            self._end_line()
        elif tag not in ("hr", "img", "input"):
            self._open.append(tag)
            self._line = "" if self._open == ["p"] else f"{self._line}\0"

    def handle_endtag(self, tag: str) -> None:
        if tag == "p" and self._open == ["p"]:
            self._end_line()
        self._open = self._open[:-1]

    def handle_data(self, data: str) -> None:
        if self._open[:1] != ["p"]:
            return
        first, *rest = data.split("\n")
        self._line += first if self._open == ["p"] else "\0"
        for text in rest:
            self._end_line()
            self._line = text if self._open == ["p"] else "\0"

    def _end_line(self) -> None:
        words = self._line.split()
        self.count += bool(words) and words[0].lower() == "/routing"
        self._line = ""


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as running:
        yield running


@pytest.mark.parametrize(("body", "lines"), SEEN)
def test_github_shows_what_is_obeyed(body: str, lines: tuple[int, ...], oracle: Oracle) -> None:
    """As many plain lines stand on the page as are obeyed."""
    page = _PlainLines()
    page.feed(oracle.judge(body.replace("\r\n", "\n").replace("\r", "\n")).html)
    page.close()
    assert page.count == (1 if body in STRICTER else len(lines))
