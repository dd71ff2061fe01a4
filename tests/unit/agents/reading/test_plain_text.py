"""Text that is no record is counted by the block, exactly as line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.agents.reading import plain_text
from routing_action.agents.reading.decoding import decode_record
from routing_action.agents.reading.plain_text import BLANK, HeldText, count_lines, may_hold_records
from routing_action.evidence.transcript import split_lines

pieces = st.sampled_from(
    [b"\n", b"\n", b" ", b"\t", b"\r", b"\x00", b"\x0b", b"\xef", b"\xef\xbb\xbf", b"a", b"{", b"}"]
)
blocks = st.lists(pieces, max_size=30).map(b"".join)


@given(block=blocks)
def test_lines_are_counted_as_they_are_one_by_one(block: bytes) -> None:
    """White space, NUL and a byte order mark say nothing, and form feeds do."""
    lines = split_lines(block)
    assert count_lines(block) == (len(lines), sum(bool(line.strip(BLANK)) for line in lines))


@given(block=blocks)
def test_no_record_is_taken_for_text(block: bytes) -> None:
    """A brace inside of a line opens no record; one after white space may."""
    if not may_hold_records(block):
        assert all(decode_record(line) is None for line in split_lines(block))


@pytest.mark.parametrize("line", [b"{}", b" {}", b"\t\x0b{}", b"\xef\xbb\xbf {}", b"\r{}\r"])
def test_a_record_may_stand_anywhere_in_a_block(line: bytes) -> None:
    """At its beginning, in the middle, and at its end without a newline."""
    for block in (line, line + b"\nx\n", b"x\n" + line + b"\nx\n", b"x {\n" + line):
        assert may_hold_records(block)
    assert not may_hold_records(b"x " + line + b"\nif (y) {\n")


def test_held_lines_keep_their_numbers() -> None:
    """Blank lines are not kept; colours and carriage returns are taken out."""
    held = HeldText()
    held.add(1, b"one")
    held.add_block(2, b"two\n\n \n\x1b[1mthree\x1b[0m\r\n\xff")
    assert list(held) == [(1, "one"), (2, "two"), (5, "three"), (6, "\ufffd")]


def test_only_the_beginning_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line that fills the room is still whole."""
    monkeypatch.setattr(plain_text, "HELD_BYTES", 8)
    held = HeldText()
    held.add_block(1, b"four\nfive5\nsix\n")
    assert held.is_full
    assert list(held) == [(1, "four"), (2, "five5")]
