"""Trigger files of skill-creator and its kin, as cases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routing_action.corpus.cases_file import parse_cases
from routing_action.corpus.trigger_files import TriggerFile, cases_of, parse_trigger_file
from routing_action.errors import DocumentError
from routing_action.files.json_text import JsonText

PAIR = [{"query": "fill the form", "should_trigger": True}, {"query": "x", "should_trigger": False}]


def read(value: Any) -> TriggerFile | None:  # noqa: ANN401 - any JSON
    return parse_trigger_file(JsonText("evals.json", json.dumps(value)), value)


@pytest.mark.parametrize(
    ("value", "skill"),
    [
        (PAIR, ""),
        ({"evals": PAIR}, ""),
        ({"skill_name": "pdf", "evals": PAIR}, "pdf"),
        ({"skill_name": 7, "evals": PAIR}, ""),
        ([{"prompt": one["query"], "should_trigger": one["should_trigger"]} for one in PAIR], ""),
        ([{**one, "id": 7, "note": "kept apart"} for one in PAIR], ""),
    ],
)
def test_every_form_gives_the_same_queries(value: object, skill: str) -> None:
    """With the skill, where the file names it."""
    found = read(value)
    assert found is not None
    assert found.skill == skill
    assert [(one.query, one.should_trigger) for one in found.triggers] == [
        ("fill the form", True),
        ("x", False),
    ]


def test_prompts_of_a_skill_should_all_trigger_it() -> None:
    """evals.json of skill-creator has prompts with the output that is expected."""
    value = {"skill_name": "pdf", "evals": [{"id": 1, "prompt": "fill it", "files": []}]}
    found = read(value)
    assert found is not None
    assert cases_of(found, found.skill) == [
        {
            "case_id": "trigger-1",
            "category": "trigger",
            "prompt": "fill it",
            "expected_skill": "pdf",
        }
    ]


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        7,
        [{"case_id": "a", "prompt": "p"}],
        {"cases": [{"case_id": "a", "prompt": "p", "query": "p"}]},
        [{"prompt": "p"}],
        ["a"],
        {"skill_name": "pdf", "evals": []},
        {"skill_name": "pdf", "evals": ["a"]},
    ],
)
def test_what_is_no_trigger_file_is_left_alone(value: object) -> None:
    """A case file with mistakes keeps the messages of a case file."""
    assert read(value) is None


def test_a_wrong_trigger_is_named_with_its_line() -> None:
    """Though most of the file is fine."""
    text = '{"evals": [\n{"query": "a", "should_trigger": true},\n{"query": "b",\n'
    text += '"should_trigger": "no"}]}'
    with pytest.raises(DocumentError, match=r"evals.json:4: field evals\[1\].should_trigger"):
        parse_trigger_file(JsonText("evals.json", text), json.loads(text))


@pytest.mark.parametrize(
    ("file", "value", "command"),
    [
        (
            "my evals.json",
            PAIR,
            "routing-action cases import 'my evals.json' --output imported-cases.json`",
        ),
        (
            "evals.json",
            {"skill_name": "pdf", "evals": PAIR},
            "routing-action cases import evals.json --skill pdf --output imported-cases.json`",
        ),
        (
            "a/cases.json",
            PAIR,
            "routing-action cases import a/cases.json --output imported-cases.json`",
        ),
    ],
)
def test_as_a_case_file_it_is_refused_with_the_command_that_imports_it(
    file: str, value: object, command: str
) -> None:
    """Not with the first field that cases have and triggers lack."""
    with pytest.raises(DocumentError, match="this is a trigger file") as caught:
        parse_cases(json.dumps(value).encode(), file)
    assert command in caught.value.remedy


def test_cases_of_both_kinds_are_accepted() -> None:
    """What should trigger expects the skill, and what should not must not use it."""
    found = read(PAIR)
    assert found is not None
    corpus = parse_cases(json.dumps(cases_of(found, "pdf")).encode(), "cases.json")
    wanted, unwanted = corpus.cases
    assert (wanted.expected_skill, wanted.disallowed_skills) == ("pdf", ())
    assert (unwanted.expected_skill, unwanted.disallowed_skills) == ("", ("pdf",))
