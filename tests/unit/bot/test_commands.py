"""A comment's commands are those that GitHub shows as lines of their own, and nothing else."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.bot.commands import MOST_COMMANDS, Command, Mistake, parse_comment
from tests.support.comment_table import MEANT, SEEN


@pytest.mark.parametrize(("body", "lines"), SEEN)
def test_only_lines_of_their_own_count(body: str, lines: tuple[int, ...]) -> None:
    """A command in code, a quote, a list, a heading, a table or HTML is an example."""
    assert tuple(one.line for one in parse_comment(body)) == lines


@pytest.mark.parametrize(("body", "expected"), MEANT)
def test_a_line_comes_to_what_was_meant(body: str, expected: dict[str, object]) -> None:
    """Options in any order, phones' dashes and quotes; a mistake names its place."""
    (found,) = parse_comment(body)
    assert isinstance(found, Command if "verb" in expected else Mistake)
    unset = asdict(Command(1, found.verb)) if isinstance(found, Command) else {}
    told = {name: value for name, value in asdict(found).items() if unset.get(name, ...) != value}
    if isinstance(found, Command):
        assert {"verb": found.verb.value, **told} == expected
    else:
        assert {name: told[name] for name in expected} == expected
        assert found.cause
        assert found.text == body


def test_a_flood_of_commands_is_cut() -> None:
    """The eleventh line of a comment is told as a mistake, and no further one."""
    found = parse_comment("/routing help\n" * 40)
    assert [type(one) for one in found] == [*[Command] * MOST_COMMANDS, Mistake]
    assert found[-1].line == MOST_COMMANDS + 1


def test_a_text_longer_than_a_comment_is_none() -> None:
    """GitHub takes no such comment, so nobody wrote it."""
    assert parse_comment("/routing help\n" + "x" * 70_000) == ()


@given(st.text(alphabet="/routing rerun-\n`>*<b/p>!\\|\"'“”#[]() \t\r", max_size=200))
def test_no_text_raises(body: str) -> None:
    """Any text comes to commands and mistakes, whose lines are lines of it."""
    last = body.count("\n") + body.count("\r") + 1
    assert all(1 <= one.line <= last for one in parse_comment(body))


@given(st.text(max_size=80))
def test_what_is_quoted_is_never_obeyed(text: str) -> None:
    """Inside a fence longer than its own no line counts."""
    fence = "`" * (text.count("`") + 3)
    assert parse_comment(f"{fence}\n/routing rerun\n{text}\n/routing rerun\n{fence}") == ()
