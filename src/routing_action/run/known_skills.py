"""Reads the skills that an agent had, so that every name can be resolved to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from routing_action.agents.provider import Provider
from routing_action.corpus.identity import KnownSkill, SkillIndex
from routing_action.corpus.skill_files import known_skill, read_skill_file
from routing_action.run.workspace.staging import (
    SKILL_FILE,
    Skill,
    find_skills,
    plugin_name,
    skills_in,
    skills_of_plugin,
)


def index_staged(
    workspace: Path, staged: Sequence[Skill], source: Path | None, own: Sequence[Skill]
) -> SkillIndex:
    """The skills that lie in a workspace; those of `own` came from the plugin `source`."""
    plugin = plugin_name(source) if source else ""
    names = {skill.name for skill in own}
    return SkillIndex(
        _known(skill, plugin if skill.name in names else "", workspace) for skill in staged
    )


def read_index(source: Path, provider: Provider) -> SkillIndex:
    """The skills that a path holds: a skill, a folder of them, a plugin, plugins, a repository.

    Raises UsageError where there are none.
    """
    plugins = (source, *sorted(source.glob("*")), *sorted(source.glob("plugins/*")))
    found = [
        _known(skill, plugin_name(folder), source)
        for folder in plugins
        if plugin_name(folder)
        for skill in skills_of_plugin(folder)
    ]
    trees = (source / folder for folder in provider.skill_folders)
    found += [_known(skill, "", source) for tree in trees for skill in skills_in(tree)]
    if not found:
        found = [_known(skill, "", source) for skill in find_skills(source)]
    return SkillIndex(found)


def _known(skill: Skill, plugin: str, tree: Path) -> KnownSkill:
    inside = skill.path.is_relative_to(tree) and skill.path != tree
    place = skill.path.relative_to(tree).as_posix() if inside else skill.name
    return known_skill(read_skill_file(skill.name, skill.path / SKILL_FILE), plugin, place)
