"""A giant line stays a record: only the middles of its long strings go."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_action.run.output import condense
from routing_action.run.output.condense import Condenser
from tests.support.ways import split_at

LIMIT = 10_000


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long is what has 40 bytes; 20 of them are kept at the end."""
    monkeypatch.setattr(condense, "HEAD_BYTES", 40)
    monkeypatch.setattr(condense, "TAIL_BYTES", 20)
    monkeypatch.setattr(condense, "_MOST_TAIL", 60)


def condensed(line: bytes, *places: int, limit: int = LIMIT) -> bytes:
    condenser = Condenser(limit)
    for piece in split_at(line, places):
        condenser.feed(piece)
    return condenser.finish()


def record(text: str, **options: bool) -> bytes:
    value = {"type": "user", "id": "t1", "output": text, "ok": True, "n": [1, None]}
    return json.dumps(value, **options).encode()  # type: ignore[arg-type]


def test_a_line_of_short_strings_is_as_it_was() -> None:
    """Nothing is lost where nothing is long."""
    line = record('a "quoted" word \\ and more')
    assert condensed(line, 3, 30, 31) == line


def test_a_long_string_keeps_its_beginning_and_its_end() -> None:
    """An exit code stands at the end of an output; ids and flags stay."""
    text = "first " + "x" * 500 + "\nExit Code: 1"
    value = json.loads(condensed(record(text), 100, 101, 300))
    assert value | {"output": ""} == json.loads(record(""))
    assert value["output"].startswith("first xxx")
    assert value["output"].endswith("\nExit Code: 1")
    assert "\n[...]\n" in value["output"]
    assert len(value["output"]) < 80


def test_two_long_strings_are_both_cut() -> None:
    """An agent prints an output twice in one record."""
    line = json.dumps({"content": "a" * 300, "stdout": "b" * 300}).encode()
    value = json.loads(condensed(line, 200))
    assert [len(text) < 80 for text in value.values()] == [True, True]


def test_a_name_does_not_come_about_at_the_seam() -> None:
    """The two ends of a text are no neighbours."""
    text = "widget-" + "x" * 33 + "y" * 300 + "testing".rjust(20, "z")
    assert "x-testing" not in condensed(record(text)).decode()


texts = st.text(st.sampled_from('a"\\\n\té€😀\x7f'), max_size=200)


@settings(deadline=None)
@given(
    text=texts,
    ascii_only=st.booleans(),
    places=st.lists(st.integers(0, 1000), max_size=6),
)
def test_no_escape_and_no_letter_is_broken(text: str, ascii_only: bool, places: list[int]) -> None:
    """However the line comes and whatever is in it, it stays JSON, and valid UTF-8."""
    line = record(text, ensure_ascii=ascii_only)
    value = json.loads(condensed(line, *places).decode())
    head, seam, tail = value["output"].partition("\n[...]\n")
    whole = text.encode("utf-16", "surrogatepass")[2:]
    assert whole.startswith(head.encode("utf-16", "surrogatepass")[2:])
    if seam:
        assert whole.endswith(tail.encode("utf-16", "surrogatepass")[2:])
    else:
        assert head == text


@settings(deadline=None)
@given(data=st.binary(max_size=300), places=st.lists(st.integers(0, 300), max_size=6))
def test_any_bytes_are_condensed_alike_however_they_come(data: bytes, places: list[int]) -> None:
    """What is no JSON is kept too, in bounded length."""
    limit = 120
    found = condensed(data, *places, limit=limit)
    assert len(found) <= limit
    assert found[:20] == data[:20]


@pytest.mark.parametrize("text", [b"\\u12", b"\\", b"\\uZZZZ" * 50, b"\\u" * 200, b"x" * 500])
def test_a_broken_string_ends_nothing_early(text: bytes) -> None:
    """An escape that is none, or a string without its end, is only kept as it is."""
    for line in (b'{"a":"' + text + b'","b":1}', b'{"a":"' + text):
        assert condensed(line, 8, 50).startswith(b'{"a":"')


def test_what_is_long_without_long_strings_is_cut() -> None:
    """Memory stays bounded; the line is then no record."""
    line = json.dumps(list(range(5_000))).encode()
    found = condensed(line, 4_000, limit=1_000)
    assert found == line[:1_000]


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 129, 130])
def test_a_quote_is_the_end_where_no_odd_backslash_stands_before_it(count: int) -> None:
    """However many there are, and wherever a piece ends among them."""
    slashes = b"\\" * count
    line = b'{"a":"' + slashes + (b'"' if count % 2 else b"") + b'","b":1}'
    value = json.loads(line)
    for place in (5, 7, 6 + count, 7 + count):
        found = json.loads(condensed(line, place))
        assert found["b"] == 1
        assert value["a"].startswith(found["a"].partition("\n[...]\n")[0])
