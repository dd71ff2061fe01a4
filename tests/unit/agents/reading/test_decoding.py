"""From bytes to records: whatever a line holds, decoding gives a value or None."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.agents.reading.decoding import (
    as_amount,
    as_count,
    as_list,
    as_record,
    as_text,
    command_text,
    decode_record,
    decode_value,
    flatten_text,
    render_arguments,
)


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'  {"a": 1}\r', {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'\xef\xbb\xbf \t{"a": 1}', {"a": 1}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (b'{"a": "x\x00y"}', {"a": "xy"}),
        (b'{"a": "tab\there"}', {"a": "tab\there"}),
        (rb'{"a": "\ud800"}', {"a": "\ufffd"}),
        (rb'{"\udfff": ["\ud800x"]}', {"\ufffd": ["\ufffdx"]}),
        (rb'{"a": "\ud83d\ude00"}', {"a": "😀"}),
        (b'{"a": NaN}', None),
        (b"", None),
        (b"text", None),
        (b"[1]", None),
        (b'{"a": 1', None),
        (b'{"a": 1} trailing', None),
        (b"{a: 1}", None),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, None),
        (b'{"a": ' + b"9" * 5_000 + b"}", {"a": math.inf}),
        (b'{"a": -' + b"9" * 5_000 + b"}", {"a": -math.inf}),
    ],
)
def test_a_line_is_a_record_or_none(line: bytes, record: object) -> None:
    """A BOM, NUL bytes, invalid UTF-8, giant numbers and half surrogates do not lose a record."""
    decoded = decode_record(line)
    if line == b'{"a": NaN}':
        assert decoded is not None
        assert math.isnan(decoded["a"])
    else:
        assert decoded == record


def test_a_deep_record_with_damage_is_a_record() -> None:
    """What is mended does not depend on how deep it lies."""
    deep = b'{"a": "\xff", "b": ' + b"[" * 600 + b'"\\ud800"' + b"]" * 600 + b"}"
    decoded = decode_record(deep)
    assert decoded is not None
    assert decoded["a"] == "\ufffd"


@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_without_an_error(line: bytes) -> None:
    """An agent's output may be anything, also between braces."""
    for candidate in (line, b"{" + line + b"}"):
        record = decode_record(candidate)
        assert record is None or isinstance(record, dict)


@given(
    st.dictionaries(
        st.text(st.characters(codec=None)), st.text(st.characters(codec=None)), max_size=3
    )
)
def test_decoded_text_can_always_be_written(value: dict[str, str]) -> None:
    """No lone surrogate gets through, since it could not be written into a report."""
    record = decode_record(json.dumps(value).encode())
    assert record is not None
    for key, text in record.items():
        (key + text).encode("utf-8")


def test_json_inside_a_string_is_read_where_it_is_small() -> None:
    """Arguments that come as JSON text are opened; broken or huge ones are none."""
    assert decode_value('{"cmd": "ls"}') == {"cmd": "ls"}
    assert decode_value(r'"\ud800"') == "\ufffd"
    assert decode_value("{") is None
    assert decode_value("[" * 100_000) is None
    assert decode_value('"' + "x" * 1_000_000 + '"') is None


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", ["x"], {"x": 1}])
def test_a_field_of_another_type_is_an_empty_one(value: object) -> None:
    """A field that suddenly has another type breaks nothing."""
    assert as_record(value) == (value if isinstance(value, dict) else {})
    assert as_list(value) == (value if isinstance(value, list) else [])
    assert as_text(value) == (value if isinstance(value, str) else "")


@pytest.mark.parametrize(
    ("value", "count", "amount"),
    [
        (3, 3, 3.0),
        (0, 0, 0.0),
        (-1, None, None),
        (True, None, None),
        (1.5, None, 1.5),
        ("3", None, None),
        (None, None, None),
        (math.inf, None, None),
        (math.nan, None, None),
        (1e300, None, None),
    ],
)
def test_counts_and_amounts_are_never_negative_or_endless(
    value: object, count: int | None, amount: float | None
) -> None:
    """Tokens and cost can be added up whatever a stream says."""
    assert as_count(value) == count
    assert as_amount(value) == amount


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        (["a", {"text": "b"}, {"image": 1}, 7, None], "a\nb"),
        ([], ""),
        (None, ""),
        ({"text": "a"}, ""),
    ],
)
def test_the_text_of_a_content_field_is_flattened(content: object, text: str) -> None:
    """Content is a string, or a list of blocks."""
    assert flatten_text(content) == text


def test_written_content_is_no_part_of_a_calls_target() -> None:
    """Arguments of many lines or great length are content, not what a call is aimed at."""
    arguments = {
        "path": "a.md",
        "content": "---\nname: widget-testing\n---",
        "blob": "x" * 2_000,
        "limit": 5,
        "edits": ["widget-testing"],
    }
    assert render_arguments(arguments) == "path=a.md"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("cat a", "cat a"),
        (["bash", "-lc", "cat 'a b'"], "bash -lc 'cat '\"'\"'a b'\"'\"''"),
        (["cat", 5], "cat 5"),
        (None, ""),
    ],
)
def test_a_command_is_one_string_whatever_its_form(value: object, text: str) -> None:
    """A command given as a list of arguments is quoted so that it can be read back."""
    assert command_text(value) == text
