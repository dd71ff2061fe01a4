"""Texts are measured and cut by the columns that a terminal needs for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.report.terminal.cells import cell_width, pad, shorten, shorten_middle, visible


def test_a_long_name_keeps_both_ends() -> None:
    """Names of one family differ at the end, and say at the beginning what they are about."""
    assert shorten_middle("review-a-pull-request-17", 15) == "review-…uest-17"
    assert shorten_middle("short", 15) == "short"


def test_a_long_sentence_keeps_its_beginning() -> None:
    """A cause is read from the start."""
    assert shorten("the key was refused", 12) == "the key was…"


def test_wide_characters_count_twice() -> None:
    """A Japanese name does not run into the next column."""
    assert cell_width("日本語") == 6
    assert shorten_middle("日本語の名前です", 9) == "日本…です"
    assert pad("日本", 6) == "日本  "


def test_an_ellipsis_can_be_plain() -> None:
    """A terminal without Unicode gets dots."""
    assert shorten_middle("abcdefghij", 7, ellipsis="...") == "ab...ij"


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\u202eb", "a\nb", "a\u200db", "a\ufe0fb"])
def test_what_a_terminal_would_act_upon_becomes_a_space(text: str) -> None:
    """Escapes, line ends, bidi marks and joiners of a name do nothing."""
    shown = visible(text)
    assert shown.isprintable()
    assert " " in shown


@given(st.text(max_size=60), st.integers(0, 70), st.sampled_from([shorten, shorten_middle]))
def test_no_cut_text_is_wider_than_asked(
    text: str, width: int, cut: Callable[[str, int], str]
) -> None:
    """Whatever a name holds, it fits."""
    assert cell_width(cut(visible(text), width)) <= width
