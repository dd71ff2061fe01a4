"""Tells which skills agents were offered, with what each says about when to use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from routing_action.agents.provider import Provider
from routing_action.corpus.skill_files import MAX_DESCRIPTION, read_skill_file
from routing_action.results.model import OfferedSkill
from routing_action.run.workspace.staging import SKILL_FILE, Skill, skills_in

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
    files: dict[tuple[str, str], Path] = {}
    for provider in providers:
        for path, skill in _skills_of(tree, provider, staged):
            agents.setdefault((skill.name, path), []).append(provider.name)
            files[skill.name, path] = skill.path / SKILL_FILE
    return tuple(
        _describe(name, path, tuple(agents[name, path]), files[name, path])
        for name, path in sorted(agents)[:MOST_SKILLS]
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


def _describe(name: str, path: str, agents: tuple[str, ...], file: Path) -> OfferedSkill:
    """With its description on one line; of one that is longer than allowed, its start."""
    found = read_skill_file(name, file)
    text = " ".join(found.description.split())
    return OfferedSkill(
        name=name,
        agents=agents,
        path=path,
        description=text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…",
        declared_name="" if found.name == name else found.name[:MAX_DESCRIPTION],
    )
