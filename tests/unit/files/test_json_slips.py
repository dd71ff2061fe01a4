"""A slip in a JSON file is named in plain words, with its own line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.errors import DocumentError
from routing_action.files import json_slips
from routing_action.files.json_text import JsonText

CASE = '  {"case_id": "one", "prompt": "x"}'
SLIPS = {
    "comma after the last item": (f"[\n{CASE},\n]", 2, "a comma too many on line 2"),
    "comma after the last field": ('[\n  {\n    "a": 1,\n  }\n]', 3, "a comma too many on line 3"),
    "comma before blank lines": ("[1,\n\n\n]", 1, "a comma too many on line 1"),
    "two commas": ("[1,\n,2]", 2, "a comma too many on line 2"),
    "comma first": ("[\n,1]", 2, "a comma too many on line 2"),
    "comma after the end": ("[\n1\n],", 3, "a comma too many on line 3"),
    "no comma between items": (f"[\n{CASE}\n{CASE}]", 2, "a missing comma at the end of line 2"),
    "no comma between fields": ('{"a": 1\n"b": 2}', 1, "a missing comma at the end of line 1"),
    "no comma on a line": ("[\n1 2]", 2, "a missing comma on line 2"),
    "no value": ('{"a":\n,}', 2, "an unexpected , on line 2"),
    "single quotes": ("[\n{'a': 1}]", 2, "single quotes on line 2"),
    "single quotes of a value": ('{"a": \'b\'}', 1, "single quotes on line 1"),
    "typographic quotes": ("[“a”]", 1, "the quotation mark “ on line 1"),
    "line comment": ('[\n1, // the "first"\n2]', 2, "a comment on line 2"),
    "line comment after the last item": ("[\n1 // one\n]", 2, "a comment on line 2"),
    "hash comment": ("# cases\n[]", 1, "a comment on line 1"),
    "block comment": ("[\n/* one */ 1]", 2, "a comment on line 2"),
    "no end of the list": (f"[\n{CASE}\n\n", 1, "the [ of line 1 is not closed at the end"),
    "no end of the list after a comma": (f"[\n{CASE},\n", 1, "the [ of line 1 is not closed"),
    "no end of an object": ('[\n{"a": {\n"b": 1}', 2, "the { of line 2 is not closed at the end"),
    "object not closed before the list": (
        '[\n{"a": 1,\n"b": 2\n]', 2, "the { of line 2 is not closed before the ] of line 4"),
    "object not closed before the next": (
        '[\n{"a": 1,\n{"a": 2}]', 2, "the { of line 2 is not closed before the { of line 3"),
    "list not closed before a field": (
        '{\n"a": ["x",\n"b": 1}', 2, "the [ of line 2 is not closed before the : of line 3"),
    "list not closed before the object's end": (
        '{"a": ["x"\n}', 1, "the [ of line 1 is not closed before the } of line 2"),
    "bracket too many": ("[1]\n]", 2, "a ] too many on line 2"),
    "no closing quote": ('{"a": "b,\n"c": 1}', 1, "a text without its closing quote on line 1"),
    "no closing quote at all": ('{\n"a": "b', 2, "a text without its closing quote on line 2"),
    "tab in a text": ('["a\tb"]', 1, "a tab in a text on line 1"),
    "control character": ('["a\x01b"]', 1, "the control character U+0001 in a text on line 1"),
    "path with backslashes": ('["C:\\dir"]', 1, "a single backslash in a text on line 1"),
    "quote inside a text": ('["say "hi" now"]', 1, "a quote inside a text on line 1, before hi"),
    "name without quotes": ("{\ncase_id: 1}", 2, "the name case_id without double quotes"),
    "word of another language": ('{"a": True}', 1, "True is no JSON value on line 1"),
    "text without quotes": ('{"a": widgets}', 1, "widgets is no JSON value on line 1"),
    "equals sign": ('{"a" = 1}', 1, "no colon after the name on line 1"),
    "no colon": ('{\n"a" 1}', 2, "no colon after the name on line 2"),
    "two documents": ("[]\n[]", 2, "more after the end of the document, on line 2"),
    "no-break space": ('[\n\xa0"a"]', 2, "an invisible character (U+00A0) on line 2"),
    "second byte order mark": ("\ufeff[]", 1, "an invisible character (U+FEFF) on line 1"),
    "lone sign": ("[\n?]", 2, "an unexpected ? on line 2"),
    "empty": ("", 1, "the file is empty"),
    "blank": (" \n\n", 1, "the file is empty"),
    "merge conflict": (
        "[\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n]", 2, "an unresolved merge conflict"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "said"), SLIPS.values(), ids=SLIPS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_slip_is_named_with_its_line(text: str, line: int, said: str, ends: str) -> None:
    """The line is the one to edit, not the next one where the decoder noticed."""
    with pytest.raises(DocumentError) as caught:
        JsonText("cases.json", text.replace("\n", ends)).decode()
    assert caught.value.line == line
    assert said in caught.value.cause
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "remedy"),
    [('{"a": True}', "write true"), ('{"a": None}', "write null"), ('{"a": x}', "double quotes")],
)
def test_a_word_of_another_language_gets_its_json_word(text: str, remedy: str) -> None:
    """Python's words are answered with JSON's."""
    with pytest.raises(DocumentError) as caught:
        JsonText("f", text).decode()
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ('[{"prompt": 1},\n{"prompt": 2},\n{"prompt": 3,\n"prompt": 4}]', 4, "prompt"),
        ('{"a": "x", "b": "a\\" : {",\n"c": [{"a": 1}],\n"a": 2}', 3, "a"),
        ('{"\\u0061": 1,\n"a": 2}', 2, "a"),
        ('{"o": {"k": [],\n"k": {}}}', 2, "k"),
    ],
)
def test_a_repeated_key_is_named_where_it_is_repeated(text: str, line: int, key: str) -> None:
    """Not where another object has the same key."""
    with pytest.raises(DocumentError) as caught:
        JsonText("f", text).decode()
    assert (caught.value.line, caught.value.field) == (line, key)


def test_a_text_too_long_to_be_searched_is_still_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A huge file costs no more than the decoder; then an error has less to say."""
    monkeypatch.setattr(json_slips, "MAX_SCANNED", 3)
    for text in ('{"a": 1, "a": 2}', '[{"a": 1'):
        with pytest.raises(DocumentError):
            JsonText("f", text).decode()


@given(st.text(alphabet="[]{}\",:'/#\\ \n\tau1é\xa0", max_size=30))
def test_whatever_is_no_json_gets_words_and_a_line(text: str) -> None:
    """No text makes the search for a slip itself fail."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        slip = json_slips.find_slip(text, error)
        assert slip.cause
        assert slip.remedy
        assert 0 <= slip.offset <= len(text)
