"""Warnings about cases that cannot measure what they claim."""

from __future__ import annotations

from routing_action.corpus.case import Case
from routing_action.corpus.case_warnings import check_cases
from routing_action.corpus.cases_file import Corpus


def rules(**fields: object) -> list[str]:
    """The rules that a case breaks."""
    case = Case.model_validate({"case_id": "a", "prompt": "Do the thing.", **fields})
    return [found.rule for found in check_cases(Corpus("f", (case,), {"a": 3}, "0"))]


def test_d12_a_prompt_that_names_the_skill_measures_nothing() -> None:
    """The expected, required and disallowed skills count, bare and whole."""
    prompt = "Use widget-testing here."
    assert rules(prompt=prompt, expected_skill="acme:widget-testing") == ["prompt-names-skill"]
    assert rules(prompt=prompt, expected_skill="widget-test") == []
    assert rules(prompt="Review it.", expected_skill="review") == []


def test_an_explicit_prompt_can_never_show_a_load() -> None:
    """Slash and dollar prompts leave no trace."""
    assert rules(prompt="/foo do it", expected_skill="x-y") == ["explicit-prompt"]
    assert rules(prompt="$foo do it", expected_skill="x-y") == ["explicit-prompt"]


def test_a_case_that_expects_nothing_is_told() -> None:
    """Any completed run would pass it."""
    assert rules() == ["no-expectation"]
    assert rules(required_files=["a/b.md"]) == []


def test_a_prompt_that_is_still_to_be_written_is_told() -> None:
    """`cases init` leaves such prompts; a run would pay for nothing."""
    assert rules(prompt="FILL IN: a request", expected_skill="x-y") == ["fill-in-prompt"]
