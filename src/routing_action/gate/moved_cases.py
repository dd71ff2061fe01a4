"""Finds the cases that a change can move, and why: the plan measures these, the gate asks for them.

A case that it does not name cannot have changed: nothing that its measurement depends on did.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from routing_action.corpus.baseline import Status, find_entry, iterate_pairs
from routing_action.corpus.cases_file import Corpus, parse_cases
from routing_action.corpus.influences import MOVES_PROMPTS, Influence, find_influence
from routing_action.corpus.naming import bare_name, fold
from routing_action.corpus.skill_edits import (
    explain_skill_file,
    find_cases_of_file,
    find_cases_of_skill,
    find_owner,
    is_read_early,
    name_skill,
)
from routing_action.errors import RoutingActionError
from routing_action.gate.baselines import parse_baseline
from routing_action.gate.histories import History
from routing_action.git.base_commit import BaseCommit
from routing_action.git.changed_paths import find_links, list_tracked
from routing_action.git.command import require_work_tree
from routing_action.results.model import Results, UnitResult

_PLUGIN = ".claude-plugin/plugin.json"
_PLUGIN_FOLDERS = ("agents", "commands", "hooks")
_IMPORT = re.compile(r"(?:^|\s)@([\w./-]*[\w-])")
"""Claude Code and Gemini CLI include a file in their instructions so."""
_SHOWN = 3

Why = tuple[str, Collection[str] | None]
"""What changed, and the cases that it can move; None for all of them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured, and with what; paths are as the caller gave them.

    `earlier` results tell which skills a case loaded. They count where all the agents have them.
    """

    corpus: Corpus
    agents: tuple[str, ...]
    baseline: Path
    skills: Path | None = None
    config: Path | None = None
    earlier: Sequence[Results] = ()


def find_moved_cases(
    root: Path, commit: BaseCommit, history: History, measured: Measured
) -> dict[str, str] | None:
    """What changed since the commit for each case that it can move, in the order of the cases.

    None where the history lists no changes. Raises as git does.
    """
    changes = history.list_changes(commit)
    if changes is None:
        return None
    tree = _Tree(require_work_tree(root), history, measured, changes)
    found: dict[str, str] = {}
    for sha in (commit.sha, *commit.others):
        for told, moved in tree.explain(replace(commit, sha=sha)):
            # A path can hold any byte.
            reason = "".join(one if one.isprintable() else "?" for one in told)
            if moved is None:
                return {case.case_id: reason for case in measured.corpus.cases}
            found |= {case_id: reason for case_id in moved if case_id not in found}
    return {
        one.case_id: found[one.case_id] for one in measured.corpus.cases if one.case_id in found
    }


def describe_selection(moved: Mapping[str, str], case_ids: Sequence[str]) -> str:
    """How many of the cases are measured, why, and which are not."""
    chosen = [case_id for case_id in case_ids if case_id in moved]
    left = [case_id for case_id in case_ids if case_id not in moved]
    reasons = list(dict.fromkeys(moved[case_id] for case_id in chosen))
    more = f"; and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
    total = f"{len(case_ids)} case{'' if len(case_ids) == 1 else 's'}"
    count = f"{len(chosen)} of {total}" if left or len(case_ids) == 1 else f"all {total}"
    text = f"{count}: {'; '.join(reasons[:_SHOWN])}{more}"
    if left:
        text += f"; left out: {', '.join(left)} (nothing that they depend on changed)"
    return text


@dataclass(frozen=True)
class _Tree:
    """The working tree, and what changed in it."""

    top: Path
    history: History
    measured: Measured
    changes: Mapping[str, bool]

    def explain(self, commit: BaseCommit) -> Iterator[Why]:
        """Each change since the commit that can move a case."""
        for path, is_file in self.changes.items():
            try:
                yield from self._explain_path(path, is_file, commit)
            except RoutingActionError as error:
                yield f"{path} cannot be compared with {commit.sha[:12]} ({error.cause})", None
        if self._name(Path(self.measured.corpus.file)) is None:
            yield "the case file is none of this repository's", None

    def _explain_path(self, path: str, is_file: bool, commit: BaseCommit) -> Iterator[Why]:
        influence = find_influence(path, self._named)
        owner = find_owner(path, self._skills)
        if influence in (Influence.CASES, Influence.BASELINE):
            yield from self._explain_document(path, influence, is_file, commit)
        elif influence in (None, Influence.SKILL) and owner not in (None, "."):
            yield self._explain_skill(path, owner or "", is_file, commit)
        elif influence in MOVES_PROMPTS:
            is_root = owner == "." and path == self._skills["."] and is_file
            yield (
                self._explain_skill(path, ".", is_file, commit)
                if is_root
                else (f"{path} changed, {_article(influence)}", None)
            )
        if cases := find_cases_of_file(self.measured.corpus.cases, path):
            yield f"{path} changed, a file that cases ask for", cases

    def _explain_document(
        self, path: str, influence: Influence, is_file: bool, commit: BaseCommit
    ) -> Iterator[Why]:
        before, after = self._read(path, commit) if is_file else (None, None)
        if before is None or after is None:
            yield f"{path} is not where it was, or no regular file", None
            return
        edited = (_edited_cases if influence is Influence.CASES else _edited_pairs)(before, after)
        if edited:
            yield f"{path} edits {_list(edited)}", edited

    def _explain_skill(self, path: str, owner: str, is_file: bool, commit: BaseCommit) -> Why:
        own = self._skills[owner]
        if not is_file:
            return f"{path} is or was a link or a submodule", None
        if path == own:
            before, after = self._read(path, commit)
            if reason := explain_skill_file(path, before, after):
                return reason, None
        elif is_read_early(path.removeprefix(f"{owner}/")):
            return f"{path} changed, which agents read before they load the skill", None
        names = name_skill(owner, _read_file(self.top / own) or b"")
        cases = find_cases_of_skill(self.measured.corpus.cases, names, self._loaded)
        return f"{path} changed, which counts once the skill is loaded", cases

    def _read(self, path: str, commit: BaseCommit) -> tuple[bytes | None, bytes | None]:
        return self.history.read(commit, self.top / path), _read_file(self.top / path)

    def _name(self, path: Path | None) -> str | None:
        """The path from the top; None for one outside."""
        place = path.resolve() if path is not None else None
        top = self.top.resolve()
        inside = place is not None and place.is_relative_to(top) and place != top
        return place.relative_to(top).as_posix() if place is not None and inside else None

    @cached_property
    def _named(self) -> dict[str, Influence]:
        """What files and folders are that no name tells: named by the caller, linked, a plugin's.

        An agent that follows a link reads the file that it leads to.
        """
        own = self.measured
        tracked = [*list_tracked(self.top), *self.changes]
        plugins = [path.removesuffix(_PLUGIN) for path in tracked if path.endswith(_PLUGIN)]
        folders = (f"{plugin}{folder}" for plugin in plugins for folder in _PLUGIN_FOLDERS)
        named = dict.fromkeys(folders, Influence.SETTINGS)
        for file, influence in (
            (own.skills, Influence.SKILL),
            (own.config, Influence.AGENTS),
            (own.baseline, Influence.BASELINE),
            (Path(own.corpus.file), Influence.CASES),
        ):
            if name := self._name(file):
                named[name] = influence
        for link, target in find_links(self.top):
            linked = find_influence(link, named)
            if linked is not None and linked in MOVES_PROMPTS:
                named.setdefault(target, linked)
        named |= dict.fromkeys(self._find_imports(set(tracked), named), Influence.INSTRUCTIONS)
        return named

    def _find_imports(
        self, tracked: Collection[str], named: Mapping[str, Influence]
    ) -> Collection[str]:
        """The files that instructions include by `@path`, and those that these include."""
        found: dict[str, None] = {}
        open_files = [
            path for path in tracked if find_influence(path, named) is Influence.INSTRUCTIONS
        ]
        while open_files:
            path = open_files.pop()
            text = (_read_file(self.top / path) or b"").decode("utf-8", "replace")
            for name in _IMPORT.findall(text):
                place = os.path.normpath(PurePosixPath(path).parent / name)
                if place in tracked and place not in found:
                    found[place] = None
                    open_files.append(place)
        return found

    @cached_property
    def _skills(self) -> dict[str, str]:
        """The folder of each skill that there is or was, with the path of its SKILL.md."""
        paths = [*list_tracked(self.top), *self.changes]
        found = (path for path in paths if fold(PurePosixPath(path).name) == "skill.md")
        return {str(PurePosixPath(path).parent): path for path in found}

    @cached_property
    def _loaded(self) -> dict[str, frozenset[str]]:
        """The skills that each case loaded, of the cases that all agents have measured."""
        agents: dict[str, set[str]] = {}
        loaded: dict[str, set[str]] = {}
        for row in (row for one in self.measured.earlier for row in one.results):
            if row.status is not Status.INFRA_ERROR:
                agents.setdefault(row.case_id, set()).add(row.agent)
                loaded.setdefault(row.case_id, set()).update(_used(row))
        wanted = set(self.measured.agents)
        return {one: frozenset(loaded[one]) for one, seen in agents.items() if wanted <= seen}


def _used(row: UnitResult) -> Iterable[str]:
    tokens = (
        *(*row.loaded_skills, *row.subagent_skills),
        *(*row.optional_hits, *row.disallowed_hits, *row.disallowed_seen),
    )
    return {fold(bare_name(token)) for token in tokens}


def _edited_cases(before: bytes, after: bytes) -> list[str]:
    """The cases that were edited, or are new."""
    earlier = {case.case_id: case for case in parse_cases(before, "the earlier case file").cases}
    cases = parse_cases(after, "the case file").cases
    return [case.case_id for case in cases if earlier.get(case.case_id) != case]


def _edited_pairs(before: bytes, after: bytes) -> list[str]:
    """The cases of the pairs whose entry was edited, added or removed."""
    both = [parse_baseline(data, "the baseline") for data in (before, after)]
    pairs = dict.fromkeys(pair for one in both for pair, _ in iterate_pairs(one))
    edited = (pair for pair in pairs if find_entry(both[0], pair) != find_entry(both[1], pair))
    return list(dict.fromkeys(case_id for case_id, _ in edited))


def _read_file(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _article(influence: Influence | None) -> str:
    word = influence.value if influence else ""
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


def _list(case_ids: Sequence[str]) -> str:
    more = f" and {len(case_ids) - _SHOWN} more" if len(case_ids) > _SHOWN else ""
    return f"{', '.join(case_ids[:_SHOWN])}{more}"
