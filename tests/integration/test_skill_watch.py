"""What providers find in a tree that agents change between two units."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from routing_action.evidence.reader_protocol import Provider
from routing_action.run.workspace import skill_watch
from routing_action.run.workspace.skill_watch import SkillWatch
from routing_action.run.workspace.staging import StagedSkills, staged_skills
from tests.support.sandbox import provider, write

CODEX = provider("codex", skill_folders=(".agents/skills", ".codex/skills"))
CLAUDE = provider("claude", skill_folders=(".claude/skills",))


def skill_files(folder: str, *names: str) -> dict[str, str]:
    return {f"{folder}/{name}/SKILL.md": f"---\nname: {name}\n---\n" for name in names}


def add_skill(tree: Path) -> None:
    write(tree, skill_files(".agents/skills", "new"))


def remove_file(tree: Path) -> None:
    (tree / ".agents/skills/a/SKILL.md").unlink()


def write_file_into_folder(tree: Path) -> None:
    (tree / ".agents/skills/empty/SKILL.md").write_text("---\nname: empty\n---\n", "utf-8")


def declare_otherwise(tree: Path) -> None:
    (tree / ".agents/skills/a/SKILL.md").write_text("---\nname: other\n---\n", "utf-8")


def link_away(tree: Path) -> None:
    (tree / ".agents").rename(tree / "moved")
    (tree / ".agents").symlink_to("moved")


def put_file_in_place(tree: Path) -> None:
    (tree / ".agents/skills").rename(tree / "gone")
    (tree / ".agents/skills").write_text("", "utf-8")


def add_other_folder(tree: Path) -> None:
    write(tree, skill_files(".codex/skills", "b"))


CHANGES = [
    add_skill,
    remove_file,
    write_file_into_folder,
    declare_otherwise,
    link_away,
    put_file_in_place,
    add_other_folder,
]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Which trees were read whole."""
    found: list[Path] = []

    def read(tree: Path, provider: Provider, known: Iterable[str]) -> StagedSkills:
        found.append(tree)
        return staged_skills(tree, provider, known)

    monkeypatch.setattr(skill_watch, "staged_skills", read)
    return found


@pytest.mark.parametrize("settled_ns", [0, skill_watch._SETTLED_NS])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_between_two_units_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled_ns: int, change: Callable[[Path], None]
) -> None:
    """Whatever an agent does to the skills, the next one is told what is there by then."""
    monkeypatch.setattr(skill_watch, "_SETTLED_NS", settled_ns)
    write(tmp_path, {**skill_files(".agents/skills", "a"), ".agents/skills/empty/x.md": ""})
    watch = SkillWatch(tmp_path, lambda: CLAUDE.skill_folders)
    assert watch.find(CODEX) == staged_skills(tmp_path, CODEX, CLAUDE.skill_folders)
    time.sleep(0 if settled_ns else 0.05)  # more than a tick of the file system's clock

    change(tmp_path)

    assert watch.find(CODEX) == staged_skills(tmp_path, CODEX, CLAUDE.skill_folders)


def test_a_tree_that_stays_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: list[Path]
) -> None:
    """For each provider; a tree that has only just changed is read again."""
    write(tmp_path, {**skill_files(".agents/skills", "a"), **skill_files(".claude/skills", "a")})
    watch = SkillWatch(tmp_path, tuple)
    watch.find(CODEX)
    watch.find(CODEX)
    assert len(reads) == 2

    monkeypatch.setattr(skill_watch, "_SETTLED_NS", 0)
    first = [watch.find(CODEX), watch.find(CLAUDE)]
    second = [watch.find(CODEX), watch.find(CLAUDE)]

    assert len(reads) == 4
    assert [id(found) for found in first] == [id(found) for found in second]


@pytest.mark.parametrize("linked", [True, False])
def test_a_tree_with_links_or_without_skills_is_always_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: list[Path], *, linked: bool
) -> None:
    """A link may lead elsewhere by now; without skills the other providers' folders matter."""
    monkeypatch.setattr(skill_watch, "_SETTLED_NS", 0)
    if linked:
        write(tmp_path, {**skill_files(".agents/skills", "a"), **skill_files("pool", "b")})
        (tmp_path / ".agents/skills/b").symlink_to("../../pool/b")
    watch = SkillWatch(tmp_path, tuple)

    watch.find(CODEX)
    watch.find(CODEX)

    assert len(reads) == 2
