"""SKILL.md files are read as authors write them, and their mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.corpus.skill_files import SkillFile, parse_skill_file, read_skill_file

GOOD = "---\nname: foo\ndescription: Does foo.\n---\n# Foo\n"


def parse(text: str, folder: str = "foo") -> SkillFile:
    return parse_skill_file(folder, Path("foo/SKILL.md"), text.encode())


DESCRIPTIONS = {
    "plain": ("description: Does foo (see a:b). # a: comment", "Does foo (see a:b)."),
    "double quotes": ('description: "Does \\"foo\\" # really" # no', 'Does "foo" # really'),
    "simple quotes": ('description: "Does foo." # no', "Does foo."),
    "single quotes": ("description: 'It''s foo.'", "It's foo."),
    "folded": ("description: >-\n  Does\n  foo.\n\n  And bar.", "Does foo. And bar."),
    "literal": ("description: |\n  Does\n  foo.", "Does foo."),
    "continued": ("description: Does\n  foo.", "Does foo."),
    "on the next line": ("description:\n  Does foo.", "Does foo."),
    "any case": ("Description: Does foo.", "Does foo."),
    "between others": (
        "license: MIT\nmetadata:\n  a: b\ndescription: Does foo.\nx: y",
        "Does foo.",
    ),
    "twice": ("description: Does foo.\ndescription: Does bar.", "Does foo."),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_description_is_read_in_any_style(name: str, newline: str) -> None:
    """Plain, quoted, folded, literal or continued."""
    written, expected = DESCRIPTIONS[name]
    text = f"---\nname: foo\n{written}\n---\n# Foo\n".replace("\n", newline)
    found = parse(text)
    assert (found.name, found.description, found.problems) == ("foo", expected, ())


CONFLICT = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
BROKEN = {
    "no frontmatter": ("# Foo\n", "foo", [("frontmatter-missing", 1)]),
    "empty": ("", "foo", [("frontmatter-missing", 1)]),
    "mark": ("\ufeff" + GOOD, "foo", [("frontmatter-bom", 1)]),
    "open": (GOOD.replace("---\n# Foo", "# Foo"), "foo", [("frontmatter-open", 1)]),
    "open without a heading": ("---\nname: foo\ndescription: x", "foo", [("frontmatter-open", 1)]),
    "no name": (GOOD.replace("name: foo\n", ""), "foo", [("skill-name", 1)]),
    "blank name": (GOOD.replace("name: foo", "name:"), "foo", [("skill-name", 2)]),
    "other name": (GOOD, "bar", [("skill-name-differs", 2)]),
    "form of the name": (GOOD.replace("foo", "My Foo"), "My Foo", [("skill-name", 2)]),
    "long name": (GOOD.replace("name: foo", f"name: {'f' * 65}"), "f" * 65, [("skill-name", 2)]),
    "no description": ("---\nname: foo\n---\n", "foo", [("skill-description", 1)]),
    "blank description": ("---\nname: foo\ndescription: ''\n---\n", "foo",
                          [("skill-description", 3)]),
    "long description": (GOOD.replace("Does foo.", "x" * 1025), "foo", [("skill-description", 3)]),
    "conflict": (f"{GOOD}{CONFLICT}{CONFLICT}", "foo", [("conflict-marker", 6)]),
    "conflict in a code block": (f"{GOOD}```\n{CONFLICT}```\n", "foo", []),
    "half a conflict": (f"{GOOD}>>>>>>> b\n<<<<<<< a\n", "foo", []),
    "two mistakes": ("---\ndescription: x\n", "foo", [("frontmatter-open", 1), ("skill-name", 1)]),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_mistake_has_a_rule_and_a_line(name: str) -> None:
    """What makes an agent drop a skill, or know it by another name."""
    text, folder, expected = BROKEN[name]
    assert [(one.rule, one.line) for one in parse(text, folder).problems] == expected


def test_the_limits_themselves_are_fine() -> None:
    """64 characters of name, 1024 of description."""
    name = "f" * 64
    text = f"---\nname: {name}\ndescription: {'x' * 1024}\n---\n"
    assert parse(text, name).problems == ()


def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    """It does not stop the check of the others."""
    assert read_skill_file("foo", tmp_path / "SKILL.md").problems[0].rule == "skill-unreadable"
    (tmp_path / "SKILL.md").write_bytes(GOOD.encode() + b"\xff")
    assert read_skill_file("foo", tmp_path / "SKILL.md").problems[0].rule == "skill-not-utf8"


@pytest.mark.parametrize(
    "written",
    ["description: Use: when it breaks", "description: Use this when: it breaks", "license: a: b",
     "description: Use when it ends with:", "Description:  See x:\ty"],
)  # fmt: skip
def test_a_colon_that_yaml_takes_for_a_key_is_a_problem(written: str) -> None:
    """An agent whose YAML reader is strict does not see such a skill."""
    found = parse(f"---\nname: foo\n{written}\n---\n")
    (problem,) = [one for one in found.problems if one.rule == "frontmatter-yaml"]
    assert (problem.line, "put it between quotes" in problem.message) == (3, True)


@pytest.mark.parametrize(
    "value",
    ['"Use: when"', "'Use: when'", ">\n  Use: when", "[a: b]", "{a: b}", "see a::b", "a # b: c"],
)
def test_a_colon_that_yaml_reads_as_meant_is_none(value: str) -> None:
    """Quoted, in a block, in a list or an object, without a space, and in a comment."""
    found = parse(f"---\nname: foo\ndescription: {value}\n---\n")
    assert [one for one in found.problems if one.rule == "frontmatter-yaml"] == []
