"""One identity for a skill: whatever names it is resolved to the skill that lies on the disk.

A skill goes by its folder, by the name that its file declares, by both with its plugin before
(`plugin:name`), and by their display forms. Nothing here reads a disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from routing_action.corpus.naming import (
    fold,
    is_skill_file,
    plugin_of,
    skill_folder,
    skill_key,
    split_path,
)


@dataclass(frozen=True, slots=True)
class KnownSkill:
    """A skill on the disk: its folder's name, the declared one, and its plugin ("" for none).

    `place` is its folder's path, relative to what agents work in or absolute; it tells skills of
    the same folder name apart. `description` is the one of its file, on one line.
    """

    folder: str
    name: str = ""
    plugin: str = ""
    place: str = ""
    description: str = ""

    @property
    def title(self) -> str:
        """The one name that results and rules use."""
        return f"{self.plugin}:{self.folder}" if self.plugin else self.folder

    @property
    def names(self) -> tuple[str, ...]:
        """Folder and declared name, each once, without the plugin."""
        return tuple(dict.fromkeys(name for name in (self.folder, self.name) if name))


class SkillIndex:
    """The skills that are known; copies of one (same folder, name and plugin) are one skill."""

    def __init__(self, skills: Iterable[KnownSkill] = ()) -> None:
        self._copies: dict[tuple[str, ...], list[KnownSkill]] = {}
        for one in skills:
            key = (fold(one.plugin), fold(one.folder), fold(one.name or one.folder))
            self._copies.setdefault(key, []).append(one)
        self.skills: tuple[KnownSkill, ...] = tuple(same[0] for same in self._copies.values())

    def named(self, name: str) -> tuple[KnownSkill, ...]:
        """The skills that a name fits: of the same text, else of the same display form.

        More than one where the name is ambiguous, none where no known skill bears it.
        """
        return self._bearing(name, fold) or self._bearing(name, skill_key)

    def _bearing(self, name: str, form: Callable[[str], str]) -> tuple[KnownSkill, ...]:
        plugin, _, bare = name.strip().rpartition(":")
        wanted = form(bare)
        return tuple(
            one
            for one in self.skills
            if wanted in map(form, one.names) and (not plugin or fold(plugin) == fold(one.plugin))
        )

    def at(self, path: str, plugin: str = "") -> tuple[KnownSkill, ...]:
        """The skills that can lie at a path, of their SKILL.md or their folder.

        Of several with that folder name the plugin decides (`plugin`, where it is known, else the
        one that the path shows), then the rest of the path.
        """
        parts = tuple(map(fold, skill_folder(path)))
        found = [one for one in self.skills if parts and fold(one.folder) == parts[-1]]
        if plugin:
            return tuple(one for one in found if fold(one.plugin) == fold(plugin))
        if len(found) > 1:
            shown = fold(plugin_of(path))
            found = [one for one in found if shown == fold(one.plugin)] or found
        if len(found) > 1:
            found = [one for one in found if self._lies_at(one, parts)] or found
        return tuple(found)

    def _lies_at(self, skill: KnownSkill, parts: tuple[str, ...]) -> bool:
        for same in self._copies.values():
            if same[0] is skill:
                places = (tuple(map(fold, split_path(one.place))) for one in same)
                return any(place and parts[-len(place) :] == place for place in places)
        return False

    def titles(self, token: str) -> tuple[str, ...]:
        """The titles of the skills that a token speaks of, a skill's name or its SKILL.md."""
        if not is_skill_file(token):
            return tuple(one.title for one in self.named(token))
        parts = skill_folder(token)
        found = self.at(token) or (self.named(parts[-1]) if parts else ())
        return tuple(one.title for one in found)

    def all_names(self, token: str) -> tuple[str, ...]:
        """Every bare name of the skills that a token speaks of; none where none is known."""
        titles = self.titles(token)
        return tuple(n for one in self.skills if one.title in titles for n in one.names)


NO_SKILLS = SkillIndex()
"""Nothing is known of the skills that the agent had."""


def describe_ambiguity(token: str, titles: Sequence[str]) -> str:
    """For people: which skills a name fits."""
    return f"{token} fits {len(titles)} skills ({', '.join(titles)}), so it proves neither"
