"""Finds the skills that a change renames, and has the cases as they were ask for the new names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from routing_action.corpus.case import Case
from routing_action.corpus.naming import SKILL_FILE, fold
from routing_action.corpus.skill_files import SkillFile, parse_skill_file
from routing_action.git.changes import Read, Tree

_NO_TOKENS = frozenset({"case_id", "category", "prompt"})


@dataclass(frozen=True, slots=True)
class Renames:
    """The earlier path of each renamed SKILL.md, and the new name by each folded earlier name."""

    paths: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def follow(self, case: Case) -> Case:
        """The case, asking for the new names."""
        fields = {name: getattr(case, name) for name in type(case).model_fields}
        return case.model_copy(
            update={name: self._put(one) for name, one in fields.items() if name not in _NO_TOKENS}
        )

    def _put(self, value: Any) -> Any:  # noqa: ANN401 - any field's value
        if isinstance(value, str):
            parts = re.split(r"([/\\:])", value)  # `acme:NAME`, `NAME/SKILL.md`
            return "".join(self.names.get(fold(part), part) for part in parts)
        if isinstance(value, dict):
            return {self._put(name): self._put(one) for name, one in value.items()}
        return tuple(map(self._put, value)) if isinstance(value, tuple) else value


def find_renames(trees: tuple[Tree, Tree], read: Read) -> Renames:
    """A skill that is gone and one that is new with its description are a renamed one.

    The new name must have been nobody's, and the earlier one must be nobody's now.
    """
    paths = [{one for one in tree if fold(PurePosixPath(one).name) == SKILL_FILE} for tree in trees]
    gone, came = paths[0] - paths[1], paths[1] - paths[0]
    if not (gone and came):
        return Renames()
    old, new = (_parse(tree, own, read) for tree, own in zip(trees, paths, strict=True))
    moved: dict[str, str] = {}
    names: dict[str, str] = {}
    for description in {old[one].description for one in gone} - {""}:
        befores = sorted(one for one in gone if old[one].description == description)
        afters = sorted(one for one in came if new[one].description == description)
        called = [{_name(old[one]) for one in befores}, {_name(new[one]) for one in afters}]
        earlier = {name for one in befores for name in _names(old[one])}
        now = {name for one in afters for name in _names(new[one])}
        is_free = now.isdisjoint(_all(old.values())) and earlier.isdisjoint(_all(new.values()))
        if is_free and [len(one) for one in called] == [1, 1]:
            moved |= dict(zip(afters, befores, strict=False))
            names |= dict.fromkeys(earlier, called[1].pop())
    return Renames(moved, names)


def _parse(tree: Tree, paths: set[str], read: Read) -> dict[str, SkillFile]:
    contents = read(tree[path].blob for path in paths)
    return {
        path: parse_skill_file(
            PurePosixPath(path).parent.name, Path(path), contents.get(tree[path].blob, b"")
        )
        for path in paths
    }


def _name(skill: SkillFile) -> str:
    return skill.name or skill.folder


def _names(skill: SkillFile) -> Iterator[str]:
    yield from (fold(one) for one in (skill.folder, skill.name) if one)


def _all(skills: Iterable[SkillFile]) -> set[str]:
    return {name for one in skills for name in _names(one)}
