"""The skills that commands on case files look at: those of --skills, else this repository's."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from routing_action.agents.discovery import all_providers
from routing_action.corpus.identity import SkillIndex
from routing_action.corpus.skill_files import SkillFile, index_skills, read_skill_file
from routing_action.errors import UsageError
from routing_action.files.nearest import suggest
from routing_action.run.workspace.missing_skills import MissingSkill, find_missing_skills
from routing_action.run.workspace.staging import SKILL_FILE, find_skills, plugin_name, skills_in

SKILLS_HELP = "A skill, a folder of skills, or a plugin."
SKILLS_HERE = "Default: the folders here that agents look in, such as .claude/skills."
SKILL_FOLDERS = tuple(name for one in all_providers().values() for name in one.skill_folders)


@dataclass(frozen=True)
class SkillSet:
    """The skills below a path; `plugin` is the plugin's name, "" where there is none."""

    source: Path
    files: tuple[SkillFile, ...]
    plugin: str = ""

    @cached_property
    def index(self) -> SkillIndex:
        """The skills by every name that they go by."""
        return index_skills(self.files, self.plugin)

    def titles(self, token: str) -> tuple[str, ...]:
        """The skills that a name fits; where they are of no known plugin, whatever its plugin."""
        return self.index.titles(token if self.plugin else token.rpartition(":")[2])

    def suggest(self, token: str, otherwise: str = "") -> str:
        """The question whether another name was meant, where one is like it."""
        known = [name for one in self.files for name in (one.folder, one.name) if name]
        return suggest(token.rpartition(":")[2], known, otherwise)


def read_skills(source: Path) -> SkillSet:
    """The skills that a path names, as `--skills` of `run` finds them; UsageError for none."""
    try:
        found = find_skills(source)
    except UsageError as error:
        missing = find_missing((os.path.relpath(source),))
        error.remedy = str(missing[0]) if missing else error.remedy
        raise
    files = tuple(read_skill_file(skill.name, skill.path / SKILL_FILE) for skill in found)
    return SkillSet(source, files, plugin_name(source))


def skills_here() -> SkillSet | None:
    """Those of the first folder of this repository that agents look in and that holds any."""
    folders = map(Path, SKILL_FOLDERS)
    return next((read_skills(folder) for folder in folders if skills_in(folder)), None)


def find_missing(folders: Iterable[str]) -> tuple[MissingSkill, ...]:
    """The skills of folders below the current one that this checkout has not."""
    return find_missing_skills(Path(), (one for one in folders if not one.startswith("..")))
