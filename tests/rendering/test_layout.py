"""What we post is readable on a phone, a tablet and a desk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from routing_action.report.markdown import render_comment
from tests.browser.chromium import start_browser
from tests.rendering.oracle import Oracle
from tests.rendering.pages import WIDTHS, show_comment
from tests.rendering.samples import PLACE, SAMPLES

# A browser keeps its worker from running other loops, so all tests with one share it.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("one browser")]

# The width of each column in characters, of tables in sight, and how far something is too wide.
_MEASURE = """() => {
  const tables = [...document.querySelectorAll("table")]
    .filter((table) => !table.closest("details:not([open])"));
  const measure = (cell) => {
    const sign = cell.appendChild(document.createElement("span"));
    sign.style.cssText = "position: absolute; width: 1ch";
    const { paddingLeft, paddingRight } = getComputedStyle(cell);
    const inner = cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    return inner / sign.getBoundingClientRect().width;
  };
  return {
    columns: tables.map((table) => [...table.querySelectorAll("th")].map(measure)),
    over: [document.documentElement, ...tables]
      .map((one) => one.scrollWidth - one.clientWidth),
  };
}"""


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as running:
        yield running


@pytest.fixture
def browser() -> Iterator[Browser]:
    with start_browser() as running:
        yield running


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_no_column_is_narrow_and_nothing_is_cut(
    oracle: Oracle, browser: Browser, tmp_path: Path, name: str, width: int
) -> None:
    """Each column has room for 12 characters, and the table ends where the comment does."""
    body = render_comment(SAMPLES[name](), PLACE)
    with show_comment(oracle, browser, tmp_path, body, width) as page:
        found = page.evaluate(_MEASURE)
    assert all(len(table) <= 4 and min(table) >= 12 for table in found["columns"])
    assert max(found["over"]) <= 0


def test_a_green_comment_is_two_lines_and_a_fold(
    oracle: Oracle, browser: Browser, tmp_path: Path
) -> None:
    """The verdict with its counts, what is folded, and where it comes from, each on one line."""
    body = render_comment(SAMPLES["green"](), PLACE)
    with show_comment(oracle, browser, tmp_path, body, 860) as page:
        heights = page.evaluate(
            """() => [...document.querySelectorAll("main > p")].map((line) =>
              Math.round(line.getBoundingClientRect().height /
                parseFloat(getComputedStyle(line).lineHeight)))"""
        )
        folds = page.locator("summary").all_inner_texts()
    assert heights == [1, 1]
    assert folds == ["All 3 cases on 3 agents: 9 pass"]
