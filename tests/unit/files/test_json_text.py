"""The places of values in a JSON text."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from routing_action.files.json_text import JsonText

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 0, 2]), st.booleans())
def test_each_item_of_a_list_has_its_line(
    items: list[object], indent: int | None, wrapped: bool
) -> None:
    """However a case file is laid out, a finding names the right line."""
    path = ("cases",) if wrapped else ()
    document = JsonText(
        "f", json.dumps({"a": 1, "cases": items} if wrapped else items, indent=indent)
    )
    lines = document.lines_of_items(path)
    assert lines == [document.line_of((*path, place)) for place in range(len(items))]


def test_what_is_no_list_has_no_items() -> None:
    """A path that leads nowhere, or to an object, gives nothing."""
    document = JsonText("f", '{"cases": {"a": [1]}}')
    assert document.lines_of_items(["cases"]) == []
    assert document.lines_of_items(["other"]) == []
    assert document.lines_of_items(["cases", "a"]) == [1]


@given(
    st.dictionaries(st.text(max_size=3), VALUES, max_size=6),
    st.sets(st.integers(0, 5)),
    st.sampled_from([None, 0, 2]),
    st.sampled_from([",", ", ", " ,\n"]),
)
def test_members_are_cut_out_and_nothing_else(
    value: dict[str, object], places: set[int], indent: int | None, comma: str
) -> None:
    """However a file is laid out, what is left has its values, its order and its spelling."""
    text = json.dumps({"a": 1, "of": value}, indent=indent, separators=(comma, ":"))
    cut = [key for place, key in enumerate(value) if place in places]
    document = JsonText("f", text)
    at = dict(document.members(0))["of"]
    left = json.loads(document.without(at, cut))
    expected = {key: one for key, one in value.items() if key not in cut}
    assert left == {"a": 1, "of": expected}
    assert list(left["of"]) == list(expected)
    assert document.without(at, []) == text
