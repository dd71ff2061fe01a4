"""Which skills agents were offered, and what these say, as results.json tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.run import offered
from routing_action.run.offered import find_offered
from routing_action.run.workspace.staging import find_skills

PROVIDERS = [all_providers()[name] for name in ("claude", "codex", "copilot")]


def write(folder: Path, description: str) -> None:
    folder.mkdir(parents=True)
    text = f"---\nname: {folder.name}\ndescription: {description}\n---\nBody.\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")


def told(tree: Path, *staged: Path) -> list[tuple[str, tuple[str, ...], str, str]]:
    skills = [skill for source in staged for skill in find_skills(source)]
    found = find_offered(tree, PROVIDERS, skills)
    return [(one.name, one.agents, one.path, one.description) for one in found]


def test_each_skill_is_told_with_its_place_its_agents_and_its_description(tmp_path: Path) -> None:
    """Copilot reads the folder of claude too; codex has its own copy, which says another thing."""
    write(tmp_path / ".claude/skills/foo", "Use for foo.")
    write(tmp_path / ".agents/skills/foo", "Use for foo on codex.")
    write(tmp_path / ".claude/skills/bar", ">-\n  Use for\n  bar.")
    both = tuple(p.name for p in PROVIDERS if ".claude/skills" in p.skill_folders)
    own = tuple(p.name for p in PROVIDERS if ".agents/skills" in p.skill_folders)
    assert "claude" in both
    assert "codex" in own
    assert told(tmp_path) == [
        ("bar", both, ".claude/skills/bar", "Use for bar."),
        ("foo", own, ".agents/skills/foo", "Use for foo on codex."),
        ("foo", both, ".claude/skills/foo", "Use for foo."),
    ]


def test_a_staged_skill_stands_in_for_the_trees_own(tmp_path: Path) -> None:
    """As it does in the workspaces."""
    write(tmp_path / "tree/.claude/skills/foo", "Old.")
    write(tmp_path / "new/foo", "New.")
    rows = told(tmp_path / "tree", tmp_path / "new")
    assert {(name, text) for name, _, _, text in rows} == {("foo", "New.")}
    assert {path for _, _, path, _ in rows} == {f"{p.skill_folders[0]}/foo" for p in PROVIDERS}


def test_a_staged_skill_tells_where_it_was_taken_from(tmp_path: Path) -> None:
    """So that a report can name the file to edit."""
    write(tmp_path / "tree/.claude/skills/own", "Own.")
    write(tmp_path / "new/foo", "New.")
    found = find_offered(tmp_path / "tree", PROVIDERS, find_skills(tmp_path / "new"))
    assert {one.name: one.staged_from for one in found} == {
        "foo": (tmp_path / "new/foo").as_posix(),
        "own": "",
    }


def test_a_description_is_one_line_of_bounded_length_and_may_be_missing(tmp_path: Path) -> None:
    """A file that no reader of YAML would take still has its place in the list."""
    write(tmp_path / ".claude/skills/long", "x" * 5000)
    (tmp_path / ".claude/skills/plain").mkdir()
    (tmp_path / ".claude/skills/plain/SKILL.md").write_bytes(b"\xff\x00 no frontmatter")
    rows = {name: text for name, _, _, text in told(tmp_path)}
    assert rows == {"long": "x" * 1023 + "…", "plain": ""}


def test_a_tree_of_very_many_skills_has_the_first_ones_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A results file stays readable."""
    monkeypatch.setattr(offered, "MOST_SKILLS", 2)
    for name in ("c", "a", "b"):
        write(tmp_path / f".claude/skills/{name}", name)
    assert [row[0] for row in told(tmp_path)] == ["a", "b"]
