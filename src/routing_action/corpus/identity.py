"""One identity for a skill: whatever names it is resolved to the skill that lies on the disk.

A skill goes by its folder, by the name that its file declares, by both with its plugin before
(`plugin:name`), and by their display forms. Nothing here reads a disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

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
    the same folder name apart. `description` is the one of its file, on one line. `is_twin`:
    another skill of that folder name and plugin declares another name.
    """

    folder: str
    name: str = ""
    plugin: str = ""
    place: str = ""
    description: str = ""
    is_twin: bool = False

    @property
    def title(self) -> str:
        """The one name that results and rules use; with its place where a twin has the same."""
        plain = f"{self.plugin}:{self.folder}" if self.plugin else self.folder
        return f"{plain} at {self.place}" if self.is_twin else plain

    @property
    def names(self) -> tuple[str, ...]:
        """Folder and declared name, each once, without the plugin."""
        return tuple(dict.fromkeys(name for name in (self.folder, self.name) if name))


class SkillIndex:
    """The skills that are known; copies of one (same folder, name and plugin) are one skill.

    `roots` are the absolute folders that they all lie in; none where that is not known.
    """

    def __init__(self, skills: Iterable[KnownSkill] = (), roots: Iterable[str] = ()) -> None:
        self._roots = [tuple(map(fold, split_path(root))) for root in roots]
        copies: dict[tuple[str, str, str], list[KnownSkill]] = {}
        for one in skills:
            copies.setdefault((one.plugin, one.folder, one.name), []).append(one)
        twins = Counter(key[:2] for key in copies)
        self._copies = {
            replace(same[0], is_twin=twins[key[:2]] > 1): same for key, same in copies.items()
        }
        self.skills = tuple(self._copies)

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
        found = found or (list(self.named(parts[-1])) if parts else [])
        if plugin:
            return tuple(one for one in found if fold(one.plugin) == fold(plugin))
        if len(found) > 1:
            shown = fold(plugin_of(path))
            found = [one for one in found if shown == fold(one.plugin)] or found
        if len(found) > 1:
            found = [one for one in found if self._lies_at(one, parts)] or found
        return tuple(found)

    @property
    def is_whole(self) -> bool:
        """True where these are all the skills that an agent was given, as in a run of ours."""
        return bool(self._roots)

    def is_elsewhere(self, path: str) -> bool:
        """True for an absolute path outside of all roots: another skill, whatever its name."""
        parts = tuple(map(fold, split_path(path)))
        is_whole = path.startswith("/") or (":" in path[:3] and "\\" in path[:4])
        return (
            is_whole
            and bool(self._roots)
            and not any(parts[: len(root)] == root for root in self._roots)
        )

    def _lies_at(self, skill: KnownSkill, parts: tuple[str, ...]) -> bool:
        places = (tuple(map(fold, split_path(one.place))) for one in self._copies[skill])
        return any(place and parts[-len(place) :] == place for place in places)

    def titles(self, token: str) -> tuple[str, ...]:
        """The titles of the skills that a token speaks of, a skill's name or its SKILL.md."""
        if not is_skill_file(token):
            return tuple(one.title for one in self.named(token))
        return tuple(one.title for one in self.at(token))

    def all_names(self, token: str) -> tuple[str, ...]:
        """Every bare name of the skills that a token speaks of; none where none is known."""
        titles = self.titles(token)
        return tuple(n for one in self.skills if one.title in titles for n in one.names)


NO_SKILLS = SkillIndex()
"""Nothing is known of the skills that the agent had."""


def describe_ambiguity(token: str, titles: Sequence[str]) -> str:
    """For people: which skills a name fits."""
    return f"{token} fits {len(titles)} skills ({', '.join(titles)}), so it proves neither"
