"""Skills are staged where the provider looks, and it is known what it should offer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.run.workspace import staging
from routing_action.run.workspace.answer_keys import AnswerKeys
from routing_action.run.workspace.staging import (
    Skill,
    find_skills,
    stage_skills,
    staged_skills,
)
from tests.support.sandbox import files_below, ordinary_user, provider, write

CODEX = provider("codex", skill_folders=(".agents/skills", ".codex/skills"))
CLAUDE = provider("claude", skill_folders=(".claude/skills",))
SKILL = "---\nname: {}\ndescription: d\n---\nbody\n"


def skill_files(folder: str, *names: str) -> dict[str, str]:
    return {f"{folder}/{name}/SKILL.md": SKILL.format(name) for name in names}


def stage(workspace: Path, source: Path, *hidden: Path) -> tuple[str, ...]:
    workspace.mkdir(exist_ok=True)
    keys = AnswerKeys.of(source, hidden)
    return stage_skills(workspace, CODEX, find_skills(source), keys)


# --- what --skills names ------------------------------------------------------------------------


def test_a_folder_of_skills_gives_each_folder_with_a_skill_file(tmp_path: Path) -> None:
    """Other folders and files beside them are no skills."""
    write(tmp_path, {**skill_files(".", "b", "a"), "docs/x.md": "", "README.md": ""})
    assert [skill.name for skill in find_skills(tmp_path)] == ["a", "b"]


def test_one_skill_can_be_named(tmp_path: Path) -> None:
    """The folder of a single skill is enough."""
    write(tmp_path, {"one/SKILL.md": SKILL.format("declared-one"), "one/sub/SKILL.md": ""})
    assert find_skills(tmp_path / "one") == (Skill("one", tmp_path / "one"),)


def test_a_plugin_gives_its_skills_and_those_it_lists(tmp_path: Path) -> None:
    """`skills/` and what plugin.json adds, a folder of skills or one skill."""
    write(
        tmp_path,
        {
            ".claude-plugin/plugin.json": json.dumps(
                {"name": "p", "skills": ["./extra", "./single"]}
            ),
            **skill_files("skills", "a"),
            **skill_files("extra", "b"),
            "single/SKILL.md": "",
            **skill_files("elsewhere", "c"),
        },
    )
    assert [skill.name for skill in find_skills(tmp_path)] == ["a", "b", "single"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no valid JSON"),
        ('{"skills": 3}', "field skills"),
        ('{"skills": ["../other"]}', "inside the plugin"),
        ('{"skills": "/etc"}', "inside the plugin"),
    ],
)
def test_a_malformed_plugin_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    """File, field and remedy."""
    write(tmp_path, {".claude-plugin/plugin.json": text, **skill_files("skills", "a")})
    with pytest.raises(DocumentError, match=told) as caught:
        find_skills(tmp_path)
    assert caught.value.file.endswith("plugin.json")
    assert caught.value.remedy


@pytest.mark.parametrize("name", ["missing", "empty", "skill.txt"])
def test_a_path_without_a_skill_is_refused(tmp_path: Path, name: str) -> None:
    """A typing error in --skills must not become a red gate."""
    write(tmp_path, {"skill.txt": "", "empty/docs/x.md": ""})
    with pytest.raises(UsageError, match=r"no skill|no such folder"):
        find_skills(tmp_path / name)


# --- staging ------------------------------------------------------------------------------------


def test_skills_are_copied_into_the_first_folder_of_the_provider(tmp_path: Path) -> None:
    """With their files and executable bits, without caches, git and answer keys."""
    source = tmp_path / "skills"
    write(
        source,
        {
            **skill_files(".", "a", "b"),
            "a/run.sh": "#!/bin/sh\n",
            "a/.git": "gitdir: x",
            "a/__pycache__/x.pyc": "",
            "a/evals/answers.json": "key",
        },
    )
    (source / "a/run.sh").chmod(0o755)
    (source / "a/out").symlink_to(tmp_path)

    notes = stage(tmp_path / "ws", source, source / "a/evals")

    assert files_below(tmp_path / "ws") == [
        ".agents/skills/a/SKILL.md",
        ".agents/skills/a/run.sh",
        ".agents/skills/b/SKILL.md",
    ]
    assert (tmp_path / "ws/.agents/skills/a/run.sh").stat().st_mode & 0o100
    assert notes == ("left out (links out of the tree): out",)


def test_a_staged_skill_replaces_the_workspace_s_own_of_that_name(tmp_path: Path) -> None:
    """The agent must not load an older copy; other skills of the workspace stay."""
    write(tmp_path / "skills", skill_files(".", "a"))
    write(
        tmp_path / "ws",
        {
            ".agents/skills/a/OLD.md": "",
            ".codex/skills/a/SKILL.md": "",
            ".codex/skills/own/SKILL.md": "",
            ".claude/skills/a/SKILL.md": "",
        },
    )
    notes = stage(tmp_path / "ws", tmp_path / "skills")
    assert files_below(tmp_path / "ws") == [
        ".agents/skills/a/SKILL.md",
        ".claude/skills/a/SKILL.md",
        ".codex/skills/own/SKILL.md",
    ]
    assert notes == (
        ".agents/skills/a was replaced by the staged skill",
        ".codex/skills/a was replaced by the staged skill",
    )


def test_the_repository_s_own_skill_is_staged_without_a_word(tmp_path: Path) -> None:
    """Named by `--skills`, it makes room for itself."""
    write(tmp_path / "skills", skill_files(".", "a"))
    write(tmp_path / "ws", skill_files(".codex/skills", "a"))
    assert stage(tmp_path / "ws", tmp_path / "skills") == ()
    assert files_below(tmp_path / "ws") == [".agents/skills/a/SKILL.md"]


@pytest.mark.parametrize("target", ["../other", "nowhere"])
def test_a_skill_folder_that_is_a_link_is_used(tmp_path: Path, target: str) -> None:
    """A link inside the workspace is followed; a link to nothing makes room."""
    write(tmp_path / "skills", skill_files(".", "a"))
    write(tmp_path / "ws", {"other/x": "x", ".agents/y": "y"})
    (tmp_path / "ws/.agents/skills").symlink_to(target)
    stage(tmp_path / "ws", tmp_path / "skills")
    assert (tmp_path / "ws/.agents/skills/a/SKILL.md").is_file()
    assert staged_skills(tmp_path / "ws", CODEX).names == ("a",)


def test_a_provider_without_a_skill_folder_is_refused(tmp_path: Path) -> None:
    """`--skills` with such a provider is an error of use."""
    with pytest.raises(UsageError, match="has no skill folder"):
        stage_skills(tmp_path, provider("bare"), (), AnswerKeys.of(tmp_path))


def test_a_workspace_that_cannot_be_written_is_an_error_of_the_harness(tmp_path: Path) -> None:
    """With the reason and a remedy."""
    write(tmp_path / "skills", skill_files(".", "a"))
    (tmp_path / "ws").write_text("a file")
    with pytest.raises(HarnessError, match=r"could not be staged(.|\n)*TMPDIR"):
        stage_skills(
            tmp_path / "ws", CODEX, find_skills(tmp_path / "skills"), AnswerKeys.of(tmp_path)
        )


def test_an_own_skill_that_cannot_make_room_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two copies of a skill would make the verdict worthless."""
    write(tmp_path / "skills", skill_files(".", "a"))
    write(tmp_path / "ws", skill_files(".agents/skills", "a"))
    stuck = ("a: Operation not permitted",)
    monkeypatch.setattr(staging, "remove_tree", lambda _: stuck)
    with pytest.raises(HarnessError, match="could not be replaced"):
        stage(tmp_path / "ws", tmp_path / "skills")


def test_skills_that_cannot_be_looked_at_are_none() -> None:
    """A closed folder of another user is no crash."""
    with ordinary_user() as base:
        write(base, {**skill_files("skills", "a", "closed"), "ws/x": ""})
        (base / "skills/closed").chmod(0)
        assert [skill.name for skill in find_skills(base / "skills")] == ["a"]


# --- what should be offered ---------------------------------------------------------------------


def test_the_names_and_roots_of_all_folders_are_given(tmp_path: Path) -> None:
    """Each folder that holds skills is a root; a name counts once."""
    write(
        tmp_path,
        {
            **skill_files(".agents/skills", "b", "a"),
            **skill_files(".codex/skills", "a"),
            ".codex/skills/README.md": "",
            ".agents/skills/nothing/x.md": "",
        },
    )
    staged = staged_skills(tmp_path, CODEX)
    assert staged.names == ("a", "b")
    assert staged.roots == (str(tmp_path / ".agents/skills"), str(tmp_path / ".codex/skills"))
    assert staged.notes == ()


def test_linked_folders_and_skills_count_where_they_really_lie(tmp_path: Path) -> None:
    """A CLI may print the resolved path; a read there is no wrong copy."""
    write(tmp_path, {**skill_files(".claude/skills", "a"), **skill_files("pool", "b")})
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents/skills").symlink_to("../.claude/skills")
    (tmp_path / ".claude/skills/b").symlink_to("../../pool/b")
    staged = staged_skills(tmp_path, CODEX)
    assert staged.names == ("a", "b")
    assert set(staged.roots) == {
        str(tmp_path / ".agents/skills"),
        str(tmp_path / ".claude/skills"),
        str(tmp_path / "pool"),
    }


def test_skills_in_another_provider_s_folder_are_told_and_not_copied(tmp_path: Path) -> None:
    """A repository with `.claude/skills` alone: codex finds nothing, and people are told why."""
    write(tmp_path, skill_files(".claude/skills", "a"))
    known = (*CLAUDE.skill_folders, *CODEX.skill_folders, ".github/skills")
    staged = staged_skills(tmp_path, CODEX, known)
    assert staged.names == ()
    assert staged.roots == ()
    (note,) = staged.notes
    assert "it looks in .agents/skills or .codex/skills" in note
    assert "skills are in .claude/skills" in note
    assert not (tmp_path / ".agents").exists()
    assert staged_skills(tmp_path, CLAUDE, known).notes == ()


def test_a_workspace_without_any_skill_needs_no_note(tmp_path: Path) -> None:
    """Nothing is wrong with a repository that has none."""
    assert staged_skills(tmp_path, CODEX, (".claude/skills",)).notes == ()
