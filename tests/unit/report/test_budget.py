"""A report stays within its budget of bytes, and says what it left out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_action.report.check import build_check
from routing_action.report.markdown import (
    SUMMARY_BYTES,
    count_bytes,
    cut_bytes,
    render_comment,
)
from tests.rendering.hostile import HOSTILE
from tests.rendering.samples import PLACE, filled, green, huge
from tests.support.report_values import render_summary

_CELLS = re.compile(r"(?<!\\)\|")


def assert_whole(body: str) -> None:
    """Fences are closed, tables have all their cells, and every fold is closed."""
    fence, prose = "", []
    for line in body.splitlines():
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line[: len(line) - len(line.lstrip("`"))]
        else:
            prose.append(line)
    assert not fence
    text = "\n".join(prose)
    assert len(re.findall(r"^<details(?: open)?>", text, re.MULTILINE)) == len(
        re.findall(r"^</details>$", text, re.MULTILINE)
    )
    assert all(line.endswith("|") for line in prose if line.startswith("|"))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["😀漢字" * 100, "plain", "</details>|`" * 40])
def test_a_thousand_failing_cases_fit_the_check_and_the_summary(text: str) -> None:
    """R7: a check run or a summary that is too long would be dropped whole."""
    delta = huge(1000, text)
    check = build_check(delta, PLACE)
    assert len(check.annotations) == 200
    assert "800 more pairs have no annotation" in check.summary
    summary = render_summary(delta, PLACE)
    assert count_bytes(summary) <= SUMMARY_BYTES
    for body in (check.summary, check.text):
        assert count_bytes(body) <= 60_000
    for body in (check.summary, check.text, summary):
        assert_whole(body)


@pytest.mark.slow
def test_a_thousand_failing_cases_fit_the_comment() -> None:
    """R7: too long a comment is rejected by GitHub, so ours never is."""
    comment = render_comment(huge(1000, "😀漢字" * 100), PLACE)
    assert 30_000 < count_bytes(comment) <= 60_000
    assert_whole(comment)
    assert "Left out here to fit: " in comment
    assert "the matrix of 1000 cases" in comment
    shown = comment.count("| 🔴&nbsp;**REGRESSION**<br>")
    assert 30 < shown < 1000
    assert f"Not shown here: **{1000 - shown} more rows**." in comment


@pytest.mark.slow
def test_the_first_red_rows_keep_their_proofs_longest() -> None:
    """What is cut is cut from the end."""
    comment = render_comment(huge(1000, "x"), PLACE)
    first = comment.split("<summary>🔴 ")[1]
    assert "Found for `foo`" in first
    assert "<code>case&#45;0</code>" in first


def test_a_little_too_much_loses_only_the_last_proofs() -> None:
    """The matrix and all evidence stay while proof lines alone can make room."""
    delta = huge(12, "a long word " * 30)
    whole = render_comment(delta, PLACE, budget=10**6)
    body = render_comment(delta, PLACE, budget=int(count_bytes(whole) * 0.65))
    assert body.count("<details>") == whole.count("<details>")
    assert 3 <= body.count("Found for") < whole.count("Found for")
    assert "the proof lines of" in body


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(
    st.one_of(st.sampled_from(HOSTILE), st.text(max_size=300)),
    st.integers(1, 40),
    st.integers(1_500, 30_000),
)
def test_any_text_and_size_stays_within_budget_and_whole(text: str, rows: int, budget: int) -> None:
    """Whatever agents print, however many fail, and however little room there is."""
    body = render_comment(huge(rows, text), PLACE, budget=budget)
    assert count_bytes(body) <= budget
    assert body.startswith("> [!CAUTION]\n> **Routing gate failed**")
    assert_whole(body)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text_breaks_no_table_and_no_fold(number: int) -> None:
    """R8: a case id or an output with `|`, `#` or backticks leaves the structure as it is."""
    body = render_comment(filled(HOSTILE[number]), PLACE, budget=10**6)
    assert_whole(body)
    rows = [line for line in body.splitlines() if line.startswith(("| 🔴", "| 🟡", "| 🟢"))]
    assert [len(_CELLS.findall(row)) for row in rows] == [3] * 6


def test_a_budget_too_small_for_anything_gets_the_verdict() -> None:
    """One line of verdict and the way to the rest."""
    body = render_comment(huge(50, "x"), PLACE, budget=300)
    assert body.startswith("> [!CAUTION]\n> **Routing gate failed**")
    assert count_bytes(body) <= 300


def test_a_short_delta_is_shown_whole() -> None:
    """Nothing is left out without need."""
    assert "Left out" not in render_comment(green(), PLACE)


def test_bytes_are_cut_between_characters() -> None:
    """An emoji at the boundary is dropped as a whole."""
    assert cut_bytes("ab😀cd", 8) == "ab😀cd"
    assert cut_bytes("ab😀cd", 7) == "ab…"
    assert cut_bytes("\ud800", 9) == "?"
