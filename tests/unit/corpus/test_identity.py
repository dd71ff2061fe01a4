"""Names and paths are resolved to the skills that are known."""

from __future__ import annotations

from pathlib import Path

from routing_action.corpus.identity import KnownSkill, SkillIndex
from routing_action.corpus.skill_files import index_skills, parse_skill_file

A, B = KnownSkill("deploy", plugin="a"), KnownSkill("deploy", plugin="b")


def titles(index: SkillIndex, name: str) -> tuple[str, ...]:
    return index.titles(name)


def test_a_name_is_found_by_text_before_display_form() -> None:
    """Case and composition do not matter; the qualifier does."""
    index = SkillIndex([KnownSkill("pp", "Pair Programming"), A, B])
    assert titles(index, "PAIR programming") == ("pp",)
    assert titles(index, "pair_programming") == ("pp",)
    assert titles(index, "deploy") == ("a:deploy", "b:deploy")
    assert titles(index, "B:Deploy") == ("b:deploy",)
    assert titles(index, "c:deploy") == titles(index, "none") == titles(index, "") == ()


def test_a_path_is_found_by_its_folder_its_plugin_and_its_place() -> None:
    """Its SKILL.md or its folder; a declared name stands in where no folder fits."""
    index = SkillIndex([KnownSkill("pp", "buddy", place=".claude/skills/pp"), A, B])
    assert titles(index, "/w/.claude/skills/PP/SKILL.md") == ("pp",)
    assert titles(index, "skills/buddy/SKILL.md") == ("pp",)
    assert titles(index, "SKILL.md") == ()
    assert [one.title for one in index.at("/x/plugins/b/skills/deploy")] == ["b:deploy"]
    assert [one.title for one in index.at("/x/deploy", "a")] == ["a:deploy"]
    assert len(index.at("/x/deploy")) == 2


def test_copies_are_one_skill_and_twins_are_told_apart_by_their_place() -> None:
    """The same name in two folders is a copy; another declared name is another skill."""
    one, two = (KnownSkill("pp", name, place=f".{name}/skills/pp") for name in ("x", "y"))
    assert len(SkillIndex([one, one]).skills) == 1
    twins = SkillIndex([one, two])
    assert titles(twins, "pp") == ("pp at .x/skills/pp", "pp at .y/skills/pp")
    assert titles(twins, "/w/.y/skills/pp/SKILL.md") == ("pp at .y/skills/pp",)
    assert set(twins.all_names("pp")) == {"pp", "x", "y"}


def test_the_files_of_a_plugin_make_an_index() -> None:
    """With the plugin's name before each."""
    text = b"---\nname: Foo Bar\ndescription: Does\n  it.\n---\n"
    index = index_skills([parse_skill_file("foo", Path("foo/SKILL.md"), text)], "acme")
    (skill,) = index.skills
    assert (skill.title, skill.names, skill.description) == (
        "acme:foo",
        ("foo", "Foo Bar"),
        "Does it.",
    )
