"""What is added to a JSON file looks as its author would have written it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.files.json_layout import append_object
from routing_action.files.json_text import JsonText

NEW = {"id": "new", "tokens": ["x"]}
SHAPES = {
    "two spaces": (
        '[\n  {\n    "id": "a"\n  }\n]\n',
        '[\n  {\n    "id": "a"\n  },\n  {\n    "id": "new",\n    "tokens": ["x"]\n  }\n]\n',
        5,
    ),
    "long lists": (
        '[\n  {\n    "t": [\n      "y"\n    ]\n  }\n]',
        (
            '[\n  {\n    "t": [\n      "y"\n    ]\n  },\n  {\n    "id": "new",\n    "tokens": [\n'
            '      "x"\n    ]\n  }\n]'
        ),
        7,
    ),
    "long lists of an earlier item": (
        '[\n  {"t": [\n    "y"]},\n  {\n    "id": "a"\n  }\n]',
        (
            '[\n  {"t": [\n    "y"]},\n  {\n    "id": "a"\n  },\n  {\n    "id": "new",\n'
            '    "tokens": [\n      "x"\n    ]\n  }\n]'
        ),
        7,
    ),
    "tabs and CRLF": (
        '{"cases": [\r\n\t{\r\n\t\t"id": "a"\r\n\t}\r\n]}\r\n',
        (
            '{"cases": [\r\n\t{\r\n\t\t"id": "a"\r\n\t},\r\n\t{\r\n\t\t"id": "new",\r\n'
            '\t\t"tokens": ["x"]\r\n\t}\r\n]}\r\n'
        ),
        5,
    ),
    "one line an item": (
        '[\n {"id": "a"},\n {"id": "b"}\n]',
        '[\n {"id": "a"},\n {"id": "b"},\n {"id": "new", "tokens": ["x"]}\n]',
        4,
    ),
    "one line": ('[{"id": "a"}]', '[{"id": "a"}, {"id": "new", "tokens": ["x"]}]', 1),
    "item opens beside its list": (
        '[{\n  "id": "a"\n}]',
        '[{\n  "id": "a"\n},\n{\n  "id": "new",\n  "tokens": ["x"]\n}]',
        4,
    ),
    "empty": ("[]\n", '[\n  {\n    "id": "new",\n    "tokens": ["x"]\n  }\n]\n', 2),
    "empty below a key": (
        '{\n  "cases": [\n  ]\n}',
        '{\n  "cases": [\n    {\n      "id": "new",\n      "tokens": ["x"]\n    }\n  ]\n}',
        3,
    ),
    "more keys behind": (
        '{\n "cases": [{"id": "]}"}],\n "$schema": "x"\n}',
        '{\n "cases": [{"id": "]}"}, {"id": "new", "tokens": ["x"]}],\n "$schema": "x"\n}',
        2,
    ),
}


@pytest.mark.parametrize(("text", "due", "line"), SHAPES.values(), ids=SHAPES)
def test_the_layout_is_the_files_own(text: str, due: str, line: int) -> None:
    """Indentation, line ends, keys around the list and the end of the file stay."""
    path = ("cases",) if text.startswith("{") else ()
    assert append_object(JsonText("f", text), path, NEW) == (due, line)


ITEMS = st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=4) | st.lists(st.text())))


@given(ITEMS, st.sampled_from([None, 0, 1, 4, "\t"]), st.booleans())
def test_only_the_new_item_is_added(items: list[object], indent: int | None, wrapped: bool) -> None:
    """Whatever the file holds, it holds the same and one more, and the line is its own."""
    value: object = {"cases": items, "more": 1} if wrapped else items
    path = ("cases",) if wrapped else ()
    document = JsonText("f", json.dumps(value, indent=indent))
    text, line = append_object(document, path, NEW)
    changed = json.loads(text)
    assert (changed["cases"] if wrapped else changed) == [*items, NEW]
    assert JsonText("f", text).lines_of_items(path)[-1] == line
    kept = text.partition('"id": "new"')[0].rstrip(" \n\t{,")
    assert document.text.startswith(kept)
