"""Trends in a real browser: the report's tab, and the dashboard that stands alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from routing_action.report.html.site import render_site
from routing_action.report.html.write import write_html
from routing_action.results.past.history import HistoryLine
from routing_action.results.past.trends import build_trends
from tests.browser.chromium import WIDTHS, keep_screenshot, open_page, show
from tests.browser.reports import PLACE
from tests.browser.test_html_report import axe, find_barriers
from tests.support.report_values import HOSTILE, make_delta, make_entry, make_regression
from tests.unit.results.test_trends import runs

# One browser at a time.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("one browser")]

axe_source = axe
LINES = [
    *runs("+" * 15, case_id="red", agent="codex", cli_version="2.1"),
    *runs("-" * 30, case_id="red", agent="codex", cli_version="2.2")[15:],
    *runs("+-" * 12 + "+" * 6, case_id="one"),
    *runs("0+", case_id="gone", agent="codex"),
]


def write_report(folder: Path, lines: list[HistoryLine]) -> Path:
    """A red report with a history."""
    delta = make_delta(make_regression(), make_entry())
    file = folder / "report.html"
    with file.open("w", encoding="utf-8") as out:
        write_html(out, delta, [], PLACE, folder=folder, trends=build_trends(lines))
    return file


def write_dashboard(folder: Path, lines: list[HistoryLine]) -> Path:
    """The page alone."""
    file = folder / "index.html"
    file.write_text(render_site(build_trends(lines), "octo/demo"), encoding="utf-8")
    return file


def first_cells(page: Page) -> list[str]:
    """The pair of each row."""
    return page.locator("#panel tbody .c-case .lines-2 > :first-child").all_text_contents()


def test_the_tab_shows_the_pairs_of_the_report_and_sorts_them(
    browser: Browser, tmp_path: Path
) -> None:
    """The worst first, and by a click the most flaky; a row opens the pair, which has its past."""
    with open_page(browser, write_report(tmp_path, LINES)) as watched:
        page = watched.page
        show(page, "history")
        assert first_cells(page) == ["red on codex", "one on claude"]
        red = page.locator("#panel tbody tr").first
        expect(red).to_contain_text("100% → 0% at 000000000000 (2026-10-16)")
        expect(red.locator("svg")).to_have_attribute(
            "aria-label", "15 of 30 trials passed, in 30 runs"
        )
        assert red.locator("svg rect").count() == 30
        assert red.locator("svg .switch title").all_text_contents() == [
            "CLI 2.1 → 2.2 at 000000000000 (2026-10-16)"
        ]
        page.get_by_role("button", name="Flips").click()
        assert first_cells(page) == ["one on claude", "red on codex"]
        page.fill("#find", "red")
        expect(page.locator("#panel tbody tr")).to_have_count(1)
        page.locator("#panel tbody tr").click()
        expect(page.locator("#page")).to_contain_text("15 of 30 trials; 50% (95% interval: 33% to")
        assert watched.errors == []


def test_a_report_without_a_history_has_no_such_tab(browser: Browser, tmp_path: Path) -> None:
    """Nothing promises what is not there."""
    with open_page(browser, write_report(tmp_path, [])) as watched:
        assert watched.page.locator("#tab-history").count() == 0
        assert watched.errors == []


def test_the_dashboard_stands_alone_and_narrows(browser: Browser, tmp_path: Path) -> None:
    """It asks for nothing else, and has the pairs that no report has."""
    file = write_dashboard(tmp_path, LINES)
    with open_page(browser, file) as watched:
        page = watched.page
        expect(page.locator("h1")).to_have_text(
            "2 of 3 pairs passed their last run; 2 pass less than 90%"
        )
        expect(page.locator("#count")).to_have_text("3 pairs")
        page.select_option("#provider", "codex")
        expect(page.locator("#count")).to_have_text("2 of 3 pairs")
        page.fill("#find", "gone")
        assert first_cells(page) == ["gone on codex"]
        assert watched.requests == [file.as_uri()]
        assert watched.errors == []


def test_on_a_phone_nothing_of_a_trend_is_left_out(browser: Browser, tmp_path: Path) -> None:
    """Filter, sorting, time and the whole change are in view; so is the report's tab."""
    lines = runs("+" * 15) + runs("-" * 30)[15:]
    with open_page(browser, write_dashboard(tmp_path, lines), size=WIDTHS[0]) as watched:
        page = watched.page
        expect(page.locator("#provider")).to_be_visible()
        expect(page.get_by_role("button", name="Time and cost")).to_be_visible()
        expect(page.locator("#panel tbody .c-time")).to_be_visible()
        told = page.locator("#panel tbody .c-case .sub").first
        expect(told).to_contain_text("CLI, model and descriptions stayed the same")
        assert told.evaluate("one => one.scrollHeight <= one.clientHeight")
    with open_page(
        browser, write_report(tmp_path, LINES), address="#view=history", size=WIDTHS[0]
    ) as watched:
        tab = watched.page.locator("#tab-history").bounding_box()
        assert tab is not None
        assert tab["x"] + tab["width"] <= WIDTHS[0][0]


def test_hostile_names_and_versions_are_text(browser: Browser, tmp_path: Path) -> None:
    """In rows, in marks and in the list of agents."""
    lines = [
        line
        for number, text in enumerate(HOSTILE)
        for line in (
            *runs("+" * 15, case_id=text, agent=text, cli_version="1"),
            *runs("-" * 30, case_id=text, agent=text, cli_version=text)[15 + number :],
        )
    ]
    with open_page(browser, write_dashboard(tmp_path, lines)) as watched:
        page = watched.page
        expect(page.locator("#count")).to_have_text(f"{len(HOSTILE)} pairs")
        assert page.evaluate("window.hit") is None
        assert page.locator("script").count() == 7
        assert watched.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS)
def test_trends_have_no_barrier_that_axe_knows_and_no_row_is_wider_than_the_screen(
    browser: Browser, axe_source: str, scheme: str, size: tuple[int, int], tmp_path: Path
) -> None:
    """In both places, wide and narrow."""
    for name, file in (
        ("report", write_report(tmp_path, LINES)), ("site", write_dashboard(tmp_path, LINES)),
    ):  # fmt: skip
        with open_page(browser, file, size=size, color_scheme=scheme, bypass_csp=True) as watched:
            page = watched.page
            page.evaluate(axe_source)
            if name == "report":
                show(page, "history")
            keep_screenshot(page, f"trends-{name}-{scheme}-{size[0]}", tmp_path)
            assert find_barriers(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_few_runs_are_wide_bars_and_the_legend_says_all(browser: Browser, tmp_path: Path) -> None:
    """Of a single day too; a row of a phone is as high as what it says."""
    lines = [*runs("+0-", case_id="few"), *LINES]
    with open_page(browser, write_dashboard(tmp_path, lines), size=WIDTHS[0]) as watched:
        page = watched.page
        legend = page.locator(".legend")
        for text in ("from 2026-10-01 to", "all passed", "some passed", "none passed",
                     "not measured"):  # fmt: skip
            expect(legend).to_contain_text(text)
        bars = page.locator("#panel svg.trend rect").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().width)"
        )
        assert min(bars) >= 5
        heights = page.locator("#panel tbody tr").evaluate_all(
            "all => all.map(one => [one.offsetHeight, one.scrollHeight])"
        )
        assert len({height for height, _ in heights}) > 1
        assert all(scroll <= height for height, scroll in heights)
    with open_page(browser, write_dashboard(tmp_path, runs("+"))) as watched:
        expect(watched.page.locator(".legend")).to_contain_text("all on 2026-10-01.")
