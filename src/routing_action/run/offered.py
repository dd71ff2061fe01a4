"""Reads the skills that agents have: every name of each, and what it says about its use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from routing_action.agents.provider import Provider
from routing_action.corpus.identity import KnownSkill, SkillIndex
from routing_action.corpus.skill_files import MAX_DESCRIPTION, known_skill, read_skill_file
from routing_action.results.model import OfferedSkill
from routing_action.run.workspace.staging import (
    SKILL_FILE,
    Skill,
    StagedSkills,
    find_skills,
    plugin_name,
    skills_in,
    skills_of_plugin,
)
from routing_action.run.workspace.visible_files import shown

MOST_SKILLS = 1000
"""Skills that are described; a repository with more has the first ones described."""


def find_offered(
    tree: Path, providers: Iterable[Provider], staged: Sequence[Skill] = ()
) -> tuple[OfferedSkill, ...]:
    """The skills that lie in the skill folders of a tree, by name, then by path.

    `staged` are those of `--skills`, which come before the tree's own of the same name. A skill
    that several agents find in the same place stands there once.
    """
    agents: dict[tuple[str, str], list[str]] = {}
    skills: dict[tuple[str, str], Skill] = {}
    for provider in providers:
        for path, skill in _skills_of(tree, provider, staged):
            agents.setdefault((skill.name, path), []).append(provider.name)
            skills[skill.name, path] = skill
    return tuple(
        _describe(skills[key], key[1], tuple(agents[key]), staged)
        for key in sorted(agents)[:MOST_SKILLS]
    )


def _skills_of(
    tree: Path, provider: Provider, staged: Sequence[Skill]
) -> Iterable[tuple[str, Skill]]:
    """What a provider finds, each with the path that it has in what the agent works in."""
    ours = {skill.name for skill in staged}
    if provider.skill_folders:
        for skill in staged:
            yield f"{provider.skill_folders[0]}/{skill.name}", skill
    for folder in provider.skill_folders:
        for skill in skills_in(tree / folder):
            if skill.name not in ours:
                yield skill.path.relative_to(tree).as_posix(), skill


def _describe(
    skill: Skill, path: str, agents: tuple[str, ...], staged: Sequence[Skill]
) -> OfferedSkill:
    """With its description on one line; of one that is longer than allowed, its start."""
    known = _known(skill, "", skill.path)
    text = known.description
    return OfferedSkill(
        name=shown(skill.name),
        agents=agents,
        path=shown(path),
        description=text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…",
        declared_name="" if known.name == skill.name else known.name[:MAX_DESCRIPTION],
        staged_from=shown(skill.path.as_posix()) if skill in staged else "",
    )


def index_staged(
    workspace: Path, staged: StagedSkills, source: Path | None, own: Sequence[Skill]
) -> SkillIndex:
    """The skills that lie in a workspace; those of `own` came from the plugin `source`."""
    plugin = plugin_name(source) if source else ""
    names = {skill.name for skill in own}
    known = (_known(one, plugin if one.name in names else "", workspace) for one in staged.skills)
    return SkillIndex(known, staged.roots)


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
