"""Case files are read strictly; each error names file, line or field, and a remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from routing_action.corpus.cases_file import find_cases_file, read_cases
from routing_action.errors import DocumentError
from tests.support.bad_files import expect_refusal

GOOD = {"case_id": "one", "prompt": "Do it.", "expected_skill": "foo"}

BAD_FILES = {
    "no json": ('[{"case_id": "a",}]', "1: no valid JSON", "comma"),
    "cut": ('[\n{"case_id": "a"', "2: no valid JSON", "add the missing }"),
    "merge conflict": (
        '[\n<<<<<<< HEAD\n{"case_id": "a"}\n=======\n>>>>>>> theirs\n]',
        "2: holds an unresolved merge conflict (<<<<<<< HEAD)",
        "keep one side",
    ),
    "two keys": (
        '[{"case_id": "a",\n "prompt": "p",\n "prompt": "q"}]',
        "3: field prompt: the key 'prompt' is given twice",
        "keep one",
    ),
    "nan": ('[{"case_id": "a", "prompt": NaN}]', "1: NaN is no JSON number", ""),
    "no list": ('"cases"', "1: must be a list of cases", "write ["),
    "other object": ('{"case": []}', "1: field case: unknown key", "the file is a list"),
    "empty object": ("{}", "field cases: is missing", "the file is a list"),
    "item is no object": ("[1]", "1: field [0]:", ""),
    "unknown field": (
        '[\n {"case_id": "a", "prompt": "p",\n  "expected_skills": "x"}\n]',
        "3: case a: field expected_skills: unknown field",
        "did you mean expected_skill?",
    ),
    "missing prompt": ('[\n {"case_id": "a"}\n]', "2: case a: field prompt: is missing", "add it"),
    "wrong type": (
        '{"cases": [\n {"case_id": "a", "prompt": "p", "required_skills": "x"}]}',
        "2: case a: field required_skills: must be a list",
        'write ["one", "two"]',
    ),
    "tier": (
        '[{"case_id": "a", "prompt": "p", "expected_skill_min_tier": 3}]',
        "1: case a: field expected_skill_min_tier: must be 1 or 2",
        "",
    ),
    "blank prompt": ('[{"case_id": "a", "prompt": "  "}]', "1: case a: prompt is blank", ""),
    "contradiction": (
        '[{"case_id": "a", "prompt": "p", "expected_skill": "x", "disallowed_skills": ["X"]}]',
        "1: case a: disallowed_skills also names a required skill: X",
        "",
    ),
    "bad id": ('[{"case_id": "../a", "prompt": "p"}]', "1: field [0].case_id:", "letters, digits"),
    "misspelt field that is needed": (
        '[{"case_id": "a",\n "promt": "p"}]',
        "2: case a: field promt: unknown field",
        "did you mean prompt?",
    ),
    "no id": ('{"cases": [{"prompt": "p"}]}', "1: field cases[0].case_id: is missing", "add it"),
    "unlike any field": (
        '[{"case_id": "a", "prompt": "p", "zzz": 1}]',
        "1: case a: field zzz: unknown field",
        "the fields here are case_id, category, prompt,",
    ),
    "duplicate": (
        '[\n{"case_id": "a", "prompt": "p"},\n{"case_id": "A", "prompt": "q"}]',
        "3: field case_id: case_id 'A' is also given on line 2",
        "of its own",
    ),
    "too deep": ("[" * 100_000, "nested too deeply", "plain lists"),
    "too many digits": (
        "[\n" + "9" * 5_000 + "]",
        "2: a number has thousands of digits",
        "shorten",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_case_file_says_where_and_how_to_mend_it(tmp_path: Path, name: str) -> None:
    """Each kind of mistake names the line or the field and the next step."""
    text, cause, remedy = BAD_FILES[name]
    expect_refusal(read_cases, tmp_path / "cases.json", text, cause=cause, remedy=remedy)


def test_bytes_that_are_no_utf8_name_their_line(tmp_path: Path) -> None:
    """An editor that saved Latin-1 is told which line."""
    path = tmp_path / "cases.json"
    path.write_bytes(b'[\n{"case_id": "a", "prompt": "caf\xe9"}]')
    with pytest.raises(DocumentError, match=r"cases\.json:2: not UTF-8 text"):
        read_cases(path)


def test_a_missing_file_a_folder_and_a_huge_file_are_told_apart(tmp_path: Path) -> None:
    """What cannot be opened is named with its remedy."""
    with pytest.raises(DocumentError, match="no such file"):
        read_cases(tmp_path / "none.json")
    with pytest.raises(DocumentError, match="this is a folder"):
        read_cases(tmp_path)
    huge = tmp_path / "huge.json"
    huge.write_bytes(b" " * (16 * 2**20 + 1))
    with pytest.raises(DocumentError, match="larger than"):
        read_cases(huge)


@pytest.mark.parametrize("shape", [[GOOD], {"cases": [GOOD]}, {"$schema": "x", "cases": [GOOD]}])
def test_a_list_and_an_object_with_cases_load_alike(tmp_path: Path, shape: object) -> None:
    """Both forms of the earlier harness's corpus are accepted, with or without a BOM."""
    path = tmp_path / "cases.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(shape).encode())
    corpus = read_cases(path)
    assert [case.case_id for case in corpus.cases] == ["one"]
    assert corpus.lines == {"one": 1}
    assert len(corpus.sha256) == 64


def test_each_case_knows_its_line(tmp_path: Path) -> None:
    """A report can link to the case's own line."""
    path = tmp_path / "cases.json"
    second = {**GOOD, "case_id": "two", "prompt": 'braces } and "quotes" ]'}
    path.write_text(f"[\n\n{json.dumps(second)},\n{json.dumps(GOOD)}\n]", encoding="utf-8")
    assert read_cases(path).lines == {"two": 3, "one": 4}


def test_the_case_file_is_found_in_its_two_places(tmp_path: Path) -> None:
    """The top level wins over the earlier harness's place; neither is an error with a remedy."""
    with pytest.raises(DocumentError, match="no case file"):
        find_cases_file(tmp_path)
    old = tmp_path / "tests" / "agent-routing" / "cases.json"
    old.parent.mkdir(parents=True)
    old.write_text("[]", encoding="utf-8")
    assert find_cases_file(tmp_path) == old
    (tmp_path / "cases.json").write_text("[]", encoding="utf-8")
    assert find_cases_file(tmp_path) == tmp_path / "cases.json"
