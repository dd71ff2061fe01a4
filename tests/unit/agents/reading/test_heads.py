"""The kind of a record is told without decoding it; whatever is odd is left to the decoder."""

from __future__ import annotations

import pytest

from routing_action.agents.reading.heads import Head, Heads, split_block
from routing_action.evidence.transcript import split_lines

QUIET = Heads(lambda kind: kind.startswith("quiet"))


def kinds(*lines: bytes) -> list[str]:
    return [head.type for head in QUIET.read(list(lines))]


def test_quiet_records_are_passed_over() -> None:
    """The others are told by their places."""
    lines = [b'{"type":"quiet"}', b'{"type":"loud"}', b'{"a":{"type":"x"},"type":"quieter"}', b"{}"]
    assert QUIET.loud(QUIET.read(lines)) == [1, 3]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"text",
        b'{"type":"quiet"',
        b'{"type":"quiet"}}',
        b'{"type":7}',
        b'{"type":"quiet","a":01}',
        b'{"type":"quiet","a":"\x00"}',
        b'{"type":"quiet","a":"\\ud800"}',
        b'["quiet"]',
        b'{"type":"quiet","a":' + b"[" * 2_000,
        b'{"type":"\xff"}',
    ],
)
def test_what_is_no_plain_record_has_no_head(line: bytes) -> None:
    """Nor does it take the heads of the lines around it away."""
    assert kinds(b'{"type":"quiet"}', line, b'{"type":"quiet"}') == ["quiet", "", "quiet"]


@pytest.mark.parametrize("length", [10, 3_000])
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9])
def test_a_block_is_split_at_newlines_alone(length: int, end: bytes, count: int) -> None:
    """Whether its lines are copied or, being long, only looked at."""
    block = b"\n".join([b"x\r" * length] * count) + end
    assert [bytes(line) for line in split_block(block)] == split_lines(block)


def test_a_reader_without_quiet_records_has_every_line_decoded() -> None:
    """Nothing is passed over that a reader did not name."""
    every = Heads()
    assert every.loud(every.read([b'{"type":"a"}', b'{"type":""}'])) == [0, 1]


def test_long_lines_are_decoded_at_once() -> None:
    """Two looks at a tool's output would cost more than one."""
    long = b'{"type":"quiet","a":"' + b"x" * 5_000 + b'"}'
    assert kinds(long, long, b'{"type":"quiet"}') == ["", "", ""]


def test_ever_new_kinds_do_not_fill_the_memory() -> None:
    """Each is answered, and only so many are kept."""
    asked: list[str] = []

    def is_quiet(kind: str) -> bool:
        asked.append(kind)
        return True

    heads = Heads(is_quiet)
    for _ in range(2):
        assert heads.loud([Head(type=f"kind {number}") for number in range(1_500)]) == []
    assert len(asked) == 1_500 + 500
