"""Requests are derived from descriptions, and never name the skill."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.corpus.case import Case
from routing_action.corpus.first_corpus import (
    build_seeds,
    derive_prompts,
    fill_in_prompt,
    find_twins,
    similarity,
)
from routing_action.corpus.skill_files import SkillFile

DERIVED = {
    "gerund": ("Fills. Use when working with PDF files.", "I need help working with PDF files."),
    "user wants": ("Use this skill whenever the user wants to edit it.", "Please edit it."),
    "you need": ("Use when you need to mend tests, or if CI is red.", "Please mend tests."),
    "asked about": ("Use this when asked about their deployments.",
                    "I have a question about my deployments."),
    "asks for": ("Use if the user asks for a changelog.", "I need a changelog."),
    "should be used": ("Guide. This skill should be used when users want to create a skill.",
                       "Please create a skill."),
    "you are": ("Use when you are writing a migration.",
                "I am writing a migration. Please help me with that."),
    "a situation": ("Use when a schema change must be applied. Not for reads.",
                    "In my project, a schema change must be applied. Please take care of that."),
    "over lines": ("Does it.\nUse when  adding\n a case.", "I need help adding a case."),
}  # fmt: skip


@pytest.mark.parametrize("name", DERIVED)
def test_a_request_is_derived(name: str) -> None:
    """As a user would say it."""
    description, expected = DERIVED[name]
    assert derive_prompts(description, ["some-skill"])[0] == expected


@pytest.mark.parametrize(
    "description",
    [
        "",
        "Toolkit for testing web applications.",
        "Use for release notes.",
        "Do not use when reading files.",
        "Never to be used when reading files.",
        "Use when something odd happens.",
        "Use when the user mentions PDFs.",
        "Use when asked to run the some-skill steps.",
        "Use when working on Some Skill files.",
    ],
)
def test_nothing_is_derived_where_nothing_is_certain(description: str) -> None:
    """A wrong prompt is worse than one to be filled in."""
    assert derive_prompts(description, ["some-skill"]) == []


def test_a_prompt_to_fill_in_says_what_it_is_for() -> None:
    """Without the names of skills."""
    assert fill_in_prompt("The some-skill way to fly. More.", ["some-skill"], "Swims.") == (
        "FILL IN: a request that should lead to: The this way to fly, and not to: Swims"
    )
    assert fill_in_prompt("", []).endswith("what the expected skill is for")


def skill(folder: str, description: str) -> SkillFile:
    return SkillFile(folder, Path(folder), folder, description)


def test_twins_are_found_by_their_words() -> None:
    """The measure is documented; what has nothing in common is no twin."""
    one = skill("reading-pdf-files", "Reads text and tables of PDF files.")
    other = skill("filling-pdf-forms", "Fills the forms of PDF files from tables.")
    stranger = skill("writing-changelogs", "Writes release notes.")
    assert find_twins([one, other, stranger]) == [(one, other)]
    assert similarity(frozenset(), frozenset()) == 0
    assert similarity(frozenset("ab"), frozenset("bc")) == 1 / 3


def test_a_twin_case_uses_a_request_of_its_own() -> None:
    """The skill with two situations is expected; its second one is the prompt."""
    one = skill("a-x", "Reads PDF files. Use when reading PDF files.")
    other = skill("b-x", "Fills PDF files. Use when filling PDF files, or when signing PDF files.")
    case = build_seeds([one, other]).cases[2]
    assert (case["case_id"], case["prompt"]) == ("b-x-not-a-x", "I need help signing PDF files.")
    assert (case["expected_skill"], case["disallowed_skills"]) == ("b-x", ["a-x"])


NAMES = st.text(min_size=1, max_size=8).filter(lambda name: bool(name.strip()))


@given(
    st.dictionaries(
        NAMES, st.text(max_size=40) | st.just("Use when reading PDF files."), min_size=1, max_size=5
    )
)
def test_any_skills_give_cases_that_are_valid(described: dict[str, str]) -> None:
    """Odd folder names and descriptions never give a case file that is refused."""
    seeds = build_seeds([skill(folder, text) for folder, text in described.items()])
    cases = [Case.model_validate(fields) for fields in seeds.cases]
    ids = [case.case_id.casefold() for case in cases]
    assert len(set(ids)) == len(ids) >= len(described) + 1
