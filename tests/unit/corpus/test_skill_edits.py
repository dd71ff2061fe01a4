"""What an edit of a skill can move."""

from __future__ import annotations

import pytest

from routing_action.corpus.case import Case
from routing_action.corpus.skill_edits import (
    explain_skill_file,
    find_cases_of_file,
    find_cases_of_skill,
    find_near_cases,
    find_owner,
    is_read_early,
    name_skill,
    read_reworded,
)

SKILL = b"---\nname: a\ndescription: Does a.\n---\n\nBody.\n"
FRONTMATTER = "s/SKILL.md changed its frontmatter"
FIELDS: list[dict[str, object]] = [
    {"expected_skill": "p:foo-bar"},
    {"expected_skill": "other", "required_skills": ["baz"]},
    {"optional_skills": ["FOO-BAR"]},
    {"disallowed_skills": ["baz"]},
    {"expected_skill": "q", "provider_aliases": {"codex": {"foo-bar": "q"}}},
    {"required_files": ["foo-bar/references/x.md"]},
    {"expected_skill": "foo"},
]
CASES = [
    Case.model_validate({"case_id": f"n{number}", "prompt": "p", **one})
    for number, one in enumerate(FIELDS)
]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param(None, SKILL, "s/SKILL.md is new", id="new"),
        pytest.param(SKILL, None, "s/SKILL.md was removed", id="removed"),
        pytest.param(SKILL, SKILL + b"More.\n---\n", "", id="body"),
        pytest.param(
            SKILL, SKILL.replace(b"Does", b"Is"), "s/SKILL.md changed its description", id="words"
        ),
        pytest.param(
            SKILL,
            SKILL.replace(b"\n---\n\n", b"\nmodel: x\n---\n\n"),
            FRONTMATTER,
            id="another field",
        ),
        pytest.param(b"Body", b"Other", FRONTMATTER, id="none at all"),
        pytest.param(b"---\na: b", b"---\na: b\nc", FRONTMATTER, id="open"),
        pytest.param(b"", b"\n---\na: b\n---\n", FRONTMATTER, id="late"),
    ],
)
def test_all_but_the_body_can_move_any_prompt(
    before: bytes | None, after: bytes | None, told: str
) -> None:
    """Agents read name and description of every skill before they choose."""
    assert explain_skill_file("s/SKILL.md", before, after) == told


def test_a_skill_selects_the_cases_that_name_it_in_any_field() -> None:
    """Expected, required, optional, disallowed, aliased, or by a file of theirs."""
    measured = {case.case_id: ["unrelated"] for case in CASES}
    names = frozenset({"foo-bar", "baz"})
    chosen = [f"n{number}" for number in range(6)]
    assert find_cases_of_skill(CASES, names, measured) == chosen


def test_a_skill_selects_the_cases_that_loaded_it_and_those_never_measured() -> None:
    """The text of a skill can send on whoever loads it."""
    measured = {case.case_id: ["unrelated"] for case in CASES} | {"n6": ["stranger"]}
    assert find_cases_of_skill(CASES, frozenset({"stranger"}), measured) == ["n6"]
    assert find_cases_of_skill(CASES, frozenset({"none"}), {}) == [one.case_id for one in CASES]


def test_a_file_belongs_to_the_innermost_skill() -> None:
    """Skills can lie in each other's folders."""
    skills = {"a", "a/b", "."}
    assert find_owner("a/b/c/x.md", skills) == "a/b"
    assert find_owner("x.md", skills) == "."
    assert find_owner("x.md", {"a"}) is None


def test_some_files_of_a_skill_are_read_before_it_is_loaded() -> None:
    """Codex keeps there when a skill may be used."""
    assert is_read_early("agents/openai.yaml")
    assert is_read_early("CLAUDE.md")
    assert not is_read_early("references/x.md")


def test_a_skill_is_known_by_its_folder_and_by_its_name() -> None:
    """Agents differ in which of the two they use."""
    assert name_skill("x/Folder", SKILL) == {"folder", "a"}
    assert name_skill("x/folder", b"") == {"folder"}


def test_a_file_selects_the_cases_that_ask_for_it() -> None:
    """By its path or the end of it."""
    assert find_cases_of_file(CASES, "docs/foo-bar/references/x.md") == ["n5"]
    assert find_cases_of_file(CASES, "docs/foo-bar/x.md") == []


@pytest.mark.parametrize(
    ("before", "after", "texts"),
    [
        (SKILL, SKILL.replace(b"Does a", b"Makes a"), ("Does a.", "Makes a.")),
        (SKILL, SKILL.replace(b"name: a", b"name: b"), None),
        (SKILL, b"Body.\n", None),
        (None, SKILL, None),
    ],
)
def test_a_description_is_reworded_where_nothing_else_of_the_head_changed(
    before: bytes | None, after: bytes | None, texts: tuple[str, str] | None
) -> None:
    """A skill that is new, renamed or without a head is more than that."""
    assert read_reworded(before, after) == texts


def test_what_an_edit_adds_makes_a_prompt_near_though_the_rest_is_long() -> None:
    """A long description is little nearer for a few new words."""
    long = "Runs migrations, seeds tables, tunes indexes, rotates backups and restores snapshots."
    notes = "Write release notes for customers from the merged pull requests"
    texts = {"data": long, "notes": "Writes release notes for customers from merged pull requests."}
    case = Case(case_id="notes", prompt=notes, expected_skill="notes")
    other = Case(case_id="colours", prompt="Choose colours for a chart", expected_skill="notes")
    cases = (case, other)
    added = f"{long} Also for merged customers."
    assert find_near_cases(cases, (long, f"{long} Also verifies checksums."), texts) == []
    assert find_near_cases(cases, (long, added), texts) == ["notes"]
    assert find_near_cases(cases, (added, added), texts) == []
