"""Nothing from outside acts in markdown: no mention, no link, no table break."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.report.escape import code_block, code_span, printable, sentence_with_names

HOSTILE = [
    "`", "``", "a`b``c", "| a | b |", "@octocat", "fixes #12", "<img src=x>", "a\nb", "\u202etxt",
    "![x](y)", "\\|", "```\n# head", "\x1b[31mred", "",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_code_span_holds_any_text_on_one_line(text: str) -> None:
    """The fence is longer than any run of backticks inside."""
    span = code_span(text, in_table=True)
    assert "\n" not in span
    if text:
        fence = span[: len(span) - len(span.lstrip("`"))]
        inner = span[len(fence) : -len(fence)]
        assert fence not in inner
    assert "|" not in span.replace("\\|", "")


def test_long_and_empty_texts() -> None:
    """Cut with an ellipsis; an empty cell is a dash."""
    assert code_span("x" * 50, limit=10) == "`xxxxxxxxx…`"
    assert code_span("  ") == "–"


@given(st.text())
def test_a_block_keeps_its_fence(text: str) -> None:
    """No line of the text can close it."""
    block = code_block(text)
    first, *body, last = block.split("\n")
    fence = first.removesuffix("text")
    assert last == fence
    assert all(fence not in line for line in body)


def test_a_sentence_is_no_code_span() -> None:
    """Only its names and commits are; what is not plain stays inert."""
    told = "the head is 0123456789ab; `/routing status` shows it"
    assert sentence_with_names(told) == "the head is `0123456789ab`; `/routing status` shows it"
    assert sentence_with_names("there is no case @you `a``b`") == (
        "`there is no case @you` `a` `b`"
    )


@given(st.text(alphabet="`a1 @#-\n.<&"))
def test_a_sentence_with_names_has_no_sign_outside_of_code(text: str) -> None:
    """Whatever it quotes: what acts on GitHub stands in a code span."""
    told = sentence_with_names(text)
    assert "\n" not in told
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", told)
    assert not set("`@#<&") & set(outside)


@given(st.text())
def test_printable_is_one_printable_line(text: str) -> None:
    """Whatever the text."""
    assert printable(text).isprintable()
