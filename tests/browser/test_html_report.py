"""The HTML report in a real browser, opened from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import VIEWS, WIDTHS, keep_screenshot, open_page, settled, show
from tests.browser.reports import RED_UNIT, write, write_hostile, write_many, write_mixed
from tests.live.clis import install_packages
from tests.support.report_values import HOSTILE, make_delta, make_entry, make_record

# One browser and one large report serve all of them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("one browser")]

MOST_NODES = 5000
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

ALL = "10 pairs, 6 changes and 1 more worth a look, 6 units"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_mixed(tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_many(tmp_path_factory.mktemp("many"))


def focused(page: Page) -> str:
    """The text of the element that has the focus."""
    return str(page.evaluate("document.activeElement.textContent"))


def test_it_opens_from_disk_and_asks_for_nothing_else(browser: Browser, mixed: Path) -> None:
    """All views work without a network, an error, or a second file."""
    with open_page(browser, mixed) as watched:
        page = watched.page
        expect(page.locator("h1")).to_have_text("Routing gate failed")
        expect(page.locator("#count")).to_have_text(
            "10 pairs, 6 changes and 1 more worth a look, 6 units"
        )
        for view in VIEWS:
            show(page, view)
            expect(page.locator(f"#tab-{view}")).to_have_attribute("aria-selected", "true")
        assert watched.requests == [mixed.as_uri()]
        assert watched.errors == []


def test_without_scripts_verdict_and_changes_are_there(browser: Browser, mixed: Path) -> None:
    """A reader with scripts off sees what failed and why, and no dead controls."""
    with open_page(browser, mixed, java_script_enabled=False) as watched:
        page = watched.page
        expect(page.locator("h1")).to_have_text("Routing gate failed")
        expect(page.locator(".static tbody tr")).to_have_count(7)
        expect(page.locator(".static")).to_contain_text("wanted foo, got no skill; failed 2 of 2")
        expect(page.locator("#app")).to_be_hidden()


def test_a_green_report_opens_at_the_matrix(browser: Browser, tmp_path: Path) -> None:
    """Where nothing changed there is no empty list to look at."""
    file = write(tmp_path, "green", make_delta(make_entry()), [make_record()])
    with open_page(browser, file, color_scheme="dark") as watched:
        page = watched.page
        expect(page.locator("h1")).to_have_text("Routing is as expected")
        expect(page.locator("#tab-matrix")).to_have_attribute("aria-selected", "true")
        expect(page.locator("#panel tbody td")).to_contain_text("pass")
        show(page, "changes")
        expect(page.locator("#panel .empty")).to_be_visible()
        show(page, "matrix")
        assert keep_screenshot(page, "green", tmp_path).is_file()
        assert watched.errors == []


def test_typing_narrows_every_view_and_is_told(browser: Browser, mixed: Path) -> None:
    """`/` leads to the search, matches are counted aloud, Escape shows all again."""
    with open_page(browser, mixed) as watched:
        page = watched.page
        page.keyboard.press("/")
        page.keyboard.type("codex weak_evidence")
        expect(page.locator("#count")).to_have_text("1 of 10 pairs, 1 change, 2 units")
        expect(page.locator("#panel tbody tr")).to_have_count(1)
        show(page, "matrix")
        expect(page.locator("#panel tbody tr")).to_have_count(1)
        page.fill("#find", "no such thing")
        expect(page.locator("#panel .empty")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#count")).to_have_text(
            "10 pairs, 6 changes and 1 more worth a look, 6 units"
        )
        assert page.locator("#count").get_attribute("aria-live") == "polite"


def test_words_status_provider_and_marks_filter_together(browser: Browser, mixed: Path) -> None:
    """Chips and lists narrow each other, and Clear takes all away."""
    with open_page(browser, mixed) as watched:
        page, count = watched.page, watched.page.locator("#count")
        rows = page.locator("#panel tbody tr")
        page.click(".chip[data-kind=REGRESSION]")
        expect(count).to_contain_text("2 of 10 pairs")
        page.select_option("#provider", "claude")
        expect(count).to_contain_text("1 of 10 pairs")
        page.select_option("#status", "pass")
        expect(count).to_contain_text("0 of 10 pairs")
        page.click("#clear")
        page.select_option("#mark", "flaky")
        expect(rows).to_have_count(1)  # the list is drawn a frame later
        expect(rows).to_contain_text("flaky 2/3")
        page.select_option("#mark", "late")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("timed out")
        page.click("#clear")
        page.select_option("#status", "none")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("lost")
        page.click("#clear")
        page.click(".chip[data-kind=OK]")
        expect(page.locator("#tab-matrix")).to_have_attribute("aria-selected", "true")
        expect(count).to_contain_text("4 of 10 pairs")


def test_the_matrix_is_walked_by_arrow_keys(browser: Browser, mixed: Path) -> None:
    """Arrows move, Enter opens the pair, Escape leads back to the very cell."""
    with open_page(browser, mixed) as watched:
        page = watched.page
        show(page, "matrix")
        page.click("#find")
        page.keyboard.press("ArrowDown")
        assert "pass" in focused(page)
        for key in ("ArrowDown", "ArrowRight", "ArrowLeft"):
            page.keyboard.press(key)
        assert "REGRESSION" in focused(page)
        page.keyboard.press("Enter")
        expect(page.locator("#page h2")).to_have_text("red on codex")
        assert page.url.endswith("#pair=codex/red")
        page.keyboard.press("Escape")
        expect(page.locator("#page")).to_be_hidden()
        assert "REGRESSION" in focused(page)
        page.keyboard.press("Control+End")
        assert page.evaluate("document.activeElement.closest('tr').innerText.includes('weak')")
        page.keyboard.press("End")
        assert "fail" in focused(page)


def test_a_link_leads_to_a_unit_with_its_evidence(browser: Browser, mixed: Path) -> None:
    """A colleague who is sent the address sees proof, transcript, command and cost at once."""
    with open_page(browser, mixed, address=f"#unit={RED_UNIT}") as watched:
        text = watched.page.locator("#page").inner_text()
        for expected in (
            "red on codex", "REGRESSION", "wanted foo, got no skill", "failed 2 of 2",
            "Prompt of red.", "cases.json:9",
            "routing-action run --agents codex --case-id red", "it said no",
            "tier 3, too weak", "no hit", "I could load foo", "▶ 4", "line 4 of foo",
            "$0.2500", "10 in", "a note", "Trial 1", "Trial 2",
        ):  # fmt: skip
            assert expected in text
        mark = watched.page.locator(".decisive mark")
        expect(mark).to_have_text("foo")
        link = watched.page.locator("#page a", has_text="cases.json:9")
        assert link.get_attribute("href") == (
            f"https://github.test/octo/demo/blob/{'c' * 40}/cases.json#L9"
        )


def test_pages_are_leafed_through_and_an_unknown_address_says_so(
    browser: Browser, mixed: Path
) -> None:
    """`j` and `k` go along the list; a stale link is no empty page."""
    with open_page(browser, mixed, address="#pair=codex/red") as watched:
        page, title = watched.page, watched.page.locator("#page h2")
        page.keyboard.press("j")
        expect(title).to_have_text("slow on claude")
        page.keyboard.press("k")
        expect(title).to_have_text("red on codex")
        page.keyboard.press("k")
        expect(title).to_have_text("red on codex")
        page.evaluate("location.hash = '#unit=nothing'")
        expect(title).to_have_text("Not in this report")
        page.keyboard.press("Escape")
        expect(page.locator("#page")).to_be_hidden()
        assert watched.errors == []


def test_units_sort_by_time_and_cost(browser: Browser, mixed: Path) -> None:
    """The slowest and the dearest unit are one click away, and the order is told."""
    with open_page(browser, mixed) as watched:
        page = watched.page
        show(page, "units")
        first = page.locator("#panel tbody tr").first
        expect(first).to_contain_text("slow")
        page.click("th[data-by=cost] button")
        expect(first).to_contain_text("$0.2500")
        expect(page.locator("th[data-by=cost]")).to_have_attribute("aria-sort", "descending")
        page.click("th[data-by=cost] button")
        expect(page.locator("th[data-by=cost]")).to_have_attribute("aria-sort", "ascending")


def test_the_timeline_speaks_and_opens_units_by_key(browser: Browser, mixed: Path) -> None:
    """What is drawn is also said, for readers who do not see it."""
    with open_page(browser, mixed) as watched:
        page = watched.page
        show(page, "timeline")
        label = page.locator("canvas").get_attribute("aria-label") or ""
        assert "6 units in" in label
        assert "4 did not pass" in label
        page.locator("canvas").focus()
        page.keyboard.press("End")
        expect(page.locator(".tip")).to_contain_text("one on codex, trial 1: pass")
        page.keyboard.press("Enter")
        expect(page.locator("#page h2")).to_have_text("one on codex")


def test_it_follows_the_system_s_theme_and_a_choice(browser: Browser, mixed: Path) -> None:
    """Dark readers get a dark page; the button overrides, and says what holds."""
    ground = "getComputedStyle(document.body).backgroundColor"
    with open_page(browser, mixed, color_scheme="dark") as watched:
        page = watched.page
        dark = page.evaluate(ground)
        page.click("#theme")
        expect(page.locator("#theme")).to_have_text("Theme: light")
        light = page.evaluate(ground)
        page.click("#theme")
        assert page.evaluate(ground) == dark != light


def test_hostile_text_is_shown_and_does_nothing(browser: Browser, tmp_path: Path) -> None:
    """No script of an agent, a case or a pull request runs, and none of its tags is an element."""
    file = write_hostile(tmp_path)
    count = "[...document.querySelectorAll('script, img, iframe, svg, b, [onmouseover]')].length"
    with open_page(browser, file) as watched:
        page = watched.page
        scripts = page.evaluate("document.scripts.length")
        chips = page.locator(".chip b").count()
        for view in VIEWS:
            show(page, view)
        show(page, "changes")
        page.locator("#panel tbody [data-stop]").first.press("Enter")
        for _ in range(len(HOSTILE) + 2):
            assert page.evaluate(count) == scripts + chips
            page.keyboard.press("j")
            settled(page)
        assert page.evaluate("window.hit") is None
        assert page.locator("#page h2").inner_text().startswith("constructor")
        text = page.content()
        assert "\u202e" not in page.locator("body").inner_text()
        assert "\\u202e" in text
        assert watched.errors == []
        assert watched.requests == [file.as_uri()]
        links = page.evaluate("[...document.links].map((link) => link.protocol)")
        assert set(links) <= {"file:", "https:"}


def test_markup_cannot_be_made_of_text_even_by_mistake(browser: Browser, mixed: Path) -> None:
    """The policy of the page refuses what its own script never does."""
    with open_page(browser, mixed) as watched:
        message = watched.page.evaluate(
            "(() => { try { document.body.innerHTML = '<b>x'; return ''; }"
            " catch (error) { return error.name; } })()"
        )
        assert message == "TypeError"
        watched.page.evaluate(
            "document.body.append(Object.assign(document.createElement('img'),"
            " {src: 'https://github.test/x.png'}))"
        )
        settled(watched.page)
        assert any("Content Security Policy" in error for error in watched.errors)


def test_thirty_thousand_results_make_few_elements(browser: Browser, many: Path) -> None:
    """Every view scrolls to its end with less than 5,000 nodes at any time."""
    nodes = (
        "(() => { const walk = document.createTreeWalker(document, NodeFilter.SHOW_ALL);"
        " let found = 1; while (walk.nextNode()) found += 1; return found; })()"
    )
    with open_page(browser, many) as watched:
        page = watched.page
        for view in VIEWS:
            show(page, view)
            assert page.evaluate(nodes) < MOST_NODES
        for view, last in (("matrix", "case-09999"), ("units", "case-00000")):
            show(page, view)
            page.evaluate("document.querySelector('.port').scrollTop = 1e9")
            settled(page)
            expect(page.locator("#panel tbody tr").last).to_contain_text(last)
            assert page.evaluate(nodes) < MOST_NODES
        page.fill("#find", "case-07777")
        expect(page.locator("#count")).to_have_text("3 of 30,000 pairs, 0 changes, 3 units")
        assert watched.errors == []


@pytest.mark.parametrize("size", WIDTHS)
def test_the_page_never_scrolls_sideways(
    browser: Browser, mixed: Path, size: tuple[int, int]
) -> None:
    """On a phone only the tables scroll, each in its own frame."""
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with open_page(browser, mixed, size=size) as watched:
        for view in VIEWS:
            show(watched.page, view)
            assert watched.page.evaluate(wide) == 0


def test_print_shows_the_changes_as_a_plain_table(browser: Browser, mixed: Path) -> None:
    """A printed report has the verdict and what changed, and no controls."""
    with open_page(browser, mixed) as watched:
        page = watched.page
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(page.locator("#print tbody tr")).to_have_count(7)
        expect(page.locator(".tools")).to_be_hidden()
        expect(page.locator("h1")).to_be_visible()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(page.locator("#print table")).to_have_count(0)


@pytest.fixture(scope="module")
def axe() -> str:
    folder = install_packages(Path(__file__).parent)
    return (folder / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def find_barriers(page: Page) -> list[Any]:
    """What axe-core finds, with the elements."""
    found = page.evaluate(
        "(tags) => axe.run(document, { runOnly: { type: 'tag', values: tags } })", RULES
    )
    return [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found["violations"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS)
def test_no_view_has_a_barrier_that_axe_knows(
    browser: Browser, mixed: Path, axe: str, scheme: str, size: tuple[int, int], tmp_path: Path
) -> None:
    """Contrast, names, roles and order hold in both themes, wide and narrow."""
    with open_page(browser, mixed, size=size, color_scheme=scheme, bypass_csp=True) as watched:
        page = watched.page
        page.evaluate(axe)
        for view in VIEWS:
            show(page, view)
            keep_screenshot(page, f"{view}-{scheme}-{size[0]}", tmp_path)
            assert find_barriers(page) == []
        page.evaluate(f"location.hash = '#unit={RED_UNIT}'")
        expect(page.locator("#page")).to_be_visible()
        assert keep_screenshot(page, f"page-{scheme}-{size[0]}", tmp_path).stat().st_size > 0
        assert find_barriers(page) == []
