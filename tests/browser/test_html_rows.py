"""What a reviewer of a red pull request finds in the HTML report, and how far it is away."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from routing_action.corpus.baseline import Status
from routing_action.gate.model import DeltaChance, DeltaSkill
from routing_action.gate.rules import DeltaKind
from routing_action.results.notes import GATE_DECIDED
from tests.browser.chromium import VIEWS, WIDTHS, keep_screenshot, open_page, settled, show
from tests.browser.reports import SKILLS, write, write_mixed, write_outage, write_taken
from tests.support.report_values import make_delta, make_entry, make_regression

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("one browser")]

ROWS = "#panel tbody tr"


@pytest.fixture
def taken(tmp_path: Path) -> Path:
    return write_taken(tmp_path)


def test_red_rows_stand_first_with_prompt_cause_and_trials(browser: Browser, taken: Path) -> None:
    """What broke is read before anything is opened, above what was only removed."""
    with open_page(browser, taken) as watched:
        rows = watched.page.locator(ROWS)
        for text in (
            "REGRESSION", "red on codex", "Please check the blue gadget",
            "wanted foo, got taker", "failed 3 of 3", "only here: passes on claude",
        ):  # fmt: skip
            expect(rows.first).to_contain_text(text)
        expect(rows.last).to_contain_text("REMOVED")


def test_the_page_of_a_pair_shows_what_the_change_did_to_its_skills(
    browser: Browser, taken: Path
) -> None:
    """The description that was edited before and after, the other one as it is, and the remedy."""
    with open_page(browser, taken, address="#pair=codex/red") as watched:
        page = watched.page.locator("#page")
        expect(page.locator(".before")).to_contain_text("Use when gadgets are built or checked,")
        expect(page.locator(".after")).to_contain_text("Use when blue gadgets are built,")
        assert page.locator(".before del").all_inner_texts() == ["built or checked,"]
        assert page.locator(".after ins").all_inner_texts() == ["blue", "built,"]
        text = " ".join(page.inner_text().split())
        for expected in (
            "Wanted: foo, edited by this change in .claude/skills/foo/SKILL.md",
            "Took the prompt: taker in .claude/skills/taker/SKILL.md Use for any gadget.",
            "in the description of foo (.claude/skills/foo/SKILL.md)",
            "Please check the blue gadget and write what is needed.",
        ):
            assert expected in text
        assert watched.errors == []


@pytest.mark.parametrize(
    ("skills", "text"),
    [
        ((), "This change does not edit the case."),
        (SKILLS[1:], "This change edits neither this description nor the case."),
        (
            (SKILLS[1], SKILLS[0].model_copy(update={"before": None})),
            "This change edits neither these descriptions nor the case.",
        ),
    ],
)
def test_where_the_change_edits_neither_that_is_said(
    browser: Browser, tmp_path: Path, skills: tuple[DeltaSkill, ...], text: str
) -> None:
    """A reviewer need not look for the cause in this change."""
    red = make_regression(loaded_skills=("taker",))
    delta = make_delta(red, skills=skills, edits_known=True)
    file = write(tmp_path, "quiet", delta, [])
    with open_page(browser, file, address="#pair=codex/red") as watched:
        expect(watched.page.locator("#page")).to_contain_text(text)


def test_every_row_has_its_prompt_also_where_it_passes(browser: Browser, taken: Path) -> None:
    """A passing pair is opened from the matrix, and is found by the words of its prompt."""
    with open_page(browser, taken, address="#pair=claude/other") as watched:
        page = watched.page
        expect(page.locator("#page blockquote")).to_have_text("Something else altogether.")
        page.keyboard.press("Escape")
        page.fill("#find", "something altogether")
        expect(page.locator("#count")).to_contain_text("1 of 4 pairs")


def test_a_transcript_is_one_click_away_or_its_path_one_copy(browser: Browser, taken: Path) -> None:
    """The link leads to the very file, from a folder with a space; the path is there in full."""
    may = ["clipboard-read", "clipboard-write"]
    with open_page(browser, taken, address="#pair=codex/red", permissions=may) as watched:
        page = watched.page
        links = page.locator("#page .files a")
        assert links.all_inner_texts() == ["standard output", "standard error"]
        target = Path(unquote(urlsplit(links.first.evaluate("link => link.href")).path))
        assert target.read_text(encoding="utf-8") == "the text of .stdout\n"
        expect(page.locator("#page .files code").first).to_have_text(str(target))
        button = page.get_by_role("button", name="Copy the path of the standard output")
        button.click()
        expect(page.locator("#page .files button").first).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == str(target)


def test_in_an_artifact_the_page_says_where_its_transcripts_are(
    browser: Browser, tmp_path: Path
) -> None:
    """The artifact is named, and the link works where both are unpacked side by side."""
    file = write_taken(tmp_path, "routing-results-codex-a1/x", "routing-report")
    with open_page(browser, file, address="#pair=codex/red") as watched:
        page = watched.page.locator("#page")
        expect(page).to_contain_text("in the artifact routing-results-codex-a1 of the run")
        expect(page).to_contain_text("gh run download 7 --repo octo/demo")
        link = page.locator(".files a").first.evaluate("link => link.href")
        assert Path(unquote(urlsplit(link).path)).is_file()


def test_a_unit_without_a_transcript_says_so(browser: Browser, taken: Path) -> None:
    """No link leads to a file that is not there."""
    with open_page(browser, taken, address="#pair=claude/red") as watched:
        page = watched.page.locator("#page")
        expect(page).to_contain_text("none is kept: the agent printed nothing")
        expect(page.locator(".files a")).to_have_count(0)


def test_pairs_are_filtered_by_the_skill_that_they_want_or_load(
    browser: Browser, taken: Path
) -> None:
    """One spelling stands for a skill with and without its plugin."""
    with open_page(browser, taken) as watched:
        page, count = watched.page, watched.page.locator("#count")
        assert page.locator("#skill option").all_inner_texts() == ["any", "bar", "foo", "taker"]
        for skill, text in (("foo", "2 of 4 pairs, 1 change, 2 units"), ("taker", "1 of 4 pairs"),
                            ("bar", "1 of 4 pairs, 0 changes, 1 unit")):  # fmt: skip
            page.select_option("#skill", label=skill)
            expect(count).to_contain_text(text)
        page.click("#clear")
        expect(count).to_have_text("4 pairs, 2 changes, 3 units")


def test_what_failed_for_one_reason_is_a_group_that_opens(browser: Browser, tmp_path: Path) -> None:
    """60 pairs are one row below the one that broke; keys open it, and a search looks inside."""
    with open_page(browser, write_outage(tmp_path)) as watched:
        page, rows = watched.page, watched.page.locator(ROWS)
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("red on codex")
        expect(rows.last).to_contain_text("60 cases on claude")
        expect(rows.last).to_contain_text("429 on request 0")
        group = page.locator("#panel [aria-expanded]")
        expect(group).to_have_attribute("aria-expanded", "false")
        keep_screenshot(page, "outage", tmp_path)
        page.keyboard.press("/")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(group).to_have_attribute("aria-expanded", "true")
        assert page.locator("#panel table").get_attribute("aria-rowcount") == "63"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#page h2")).to_have_text("case-00 on claude")
        page.keyboard.press("j")
        expect(page.locator("#page h2")).to_have_text("case-01 on claude")
        page.keyboard.press("Escape")
        page.fill("#find", "case-33")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("case-33 on claude")
        page.click("#clear")
        expect(group).to_have_attribute("aria-expanded", "true")
        group.click()
        expect(rows).to_have_count(2)
        assert watched.errors == []


def test_a_printed_report_names_the_cases_of_a_group(browser: Browser, tmp_path: Path) -> None:
    """Nothing can be opened on paper."""
    with open_page(browser, write_outage(tmp_path)) as watched:
        watched.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(watched.page.locator("#print tbody tr")).to_have_count(2)
        expect(watched.page.locator("#print tbody tr").last).to_contain_text("case-59 on claude")


def narrow_columns(page: Page) -> list[str]:
    """The columns in sight that are narrower than 12 characters."""
    found: list[str] = page.evaluate(
        """() => {
          const ruler = document.createElement("span");
          ruler.textContent = "0".repeat(12);
          ruler.style.position = "absolute";
          document.querySelector("#panel").append(ruler);
          const least = ruler.offsetWidth;
          ruler.remove();
          return [...document.querySelectorAll("#panel :is(th, td)")]
            .filter((one) => getComputedStyle(one.parentElement).display === "table-row")
            .filter((one) => one.offsetWidth < least)
            .map((one) => `${one.textContent}: ${one.offsetWidth} of ${least}`);
        }"""
    )
    return found


@pytest.mark.parametrize("size", WIDTHS)
def test_no_column_is_narrower_than_twelve_characters(
    browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    """On a phone a row becomes a card rather than a stack of letters."""
    with open_page(browser, write_mixed(tmp_path), size=size) as watched:
        for view in VIEWS:
            show(watched.page, view)
            assert narrow_columns(watched.page) == []


def test_on_a_phone_the_filters_are_one_button_away(browser: Browser, taken: Path) -> None:
    """What broke stands on the first screen."""
    with open_page(browser, taken, size=WIDTHS[0]) as watched:
        page = watched.page
        expect(page.locator("#skill")).to_be_hidden()
        box = page.locator(ROWS).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < WIDTHS[0][1]
        page.click("#more")
        page.select_option("#skill", label="foo")
        settled(page)
        expect(page.locator("#count")).to_contain_text("2 of 4 pairs")


def test_the_legend_explains_every_sign(browser: Browser, tmp_path: Path) -> None:
    """What is not proven looks like nothing else."""
    rows = (
        make_entry("near", kind=DeltaKind.NOT_PROVEN),
        make_entry("lost", kind=DeltaKind.INFRA, got=Status.INFRA_ERROR),
        make_regression("over", kind=DeltaKind.EXPIRED, why="it ended"),
    )
    file = write(tmp_path, "signs", make_delta(*rows), [])
    with open_page(browser, file, address="#view=matrix") as watched:
        page = watched.page
        legend = page.locator(".legend").inner_text()
        signs = page.locator("#panel tbody .glyph").all_inner_texts()
        assert all(sign.strip() in legend for sign in signs)
        tones = page.locator("#panel tbody .heat:not(.none)").evaluate_all(
            "all => all.map(one => getComputedStyle(one).backgroundColor)"
        )
        assert len(set(tones)) == 3


def test_on_a_phone_the_whole_reason_is_read(browser: Browser, tmp_path: Path) -> None:
    """It wraps, and nothing of it is behind an edge."""
    chance = DeltaChance(finding="not proven", failed=3, measured=8, before_passes=44,
                         before_trials=46, odds=0.0083)  # fmt: skip
    row = make_entry("near", kind=DeltaKind.NOT_PROVEN, chance=chance, passed=5, trials=8)
    with open_page(
        browser, write(tmp_path, "phone", make_delta(row), []), size=WIDTHS[0]
    ) as watched:
        second = watched.page.locator("#panel .c-why .lines-2 > :last-child")
        expect(second).to_contain_text("so watch its history")
        inner, outer = second.bounding_box(), watched.page.locator(ROWS).bounding_box()
        assert inner is not None
        assert outer is not None
        assert inner["y"] + inner["height"] <= outer["y"] + outer["height"]
        assert second.evaluate("one => one.scrollHeight <= one.clientHeight")


def test_what_a_date_alone_makes_red_blames_no_edit(browser: Browser, tmp_path: Path) -> None:
    """It says once that the entry ended, and counts what passed."""
    over = make_regression(
        kind=DeltaKind.EXPIRED, why="its flaky entry ended 2026-01-01", passed=2, trials=4,
        loaded_skills=("taker",),
    )  # fmt: skip
    delta = make_delta(over, skills=SKILLS, edits_known=True)
    file = write(tmp_path, "over", delta, [])
    with open_page(browser, file, address="#pair=codex/red") as watched:
        text = watched.page.locator("#page").inner_text()
    assert "edited by this change" not in text
    assert "What this change edits" not in text
    assert text.count("its flaky entry ended 2026-01-01") == 1
    assert "2 of 4 passed" in text


def test_rows_as_expected_are_no_changes(browser: Browser, tmp_path: Path) -> None:
    """They are counted apart, and one that nobody needed to run is in the matrix alone."""
    rows = (
        make_regression("a", got=Status.INFRA_ERROR, error=f"{GATE_DECIDED}, since red failed"),
        make_regression(),
        make_entry(flaky=True, passed=2, trials=3),
    )
    with open_page(browser, write(tmp_path, "count", make_delta(*rows), [])) as watched:
        page = watched.page
        expect(page.locator("#count")).to_contain_text("1 change and 1 more worth a look")
        expect(page.locator(ROWS)).to_have_count(2)
        expect(page.locator(ROWS).first).to_contain_text("REGRESSION")
