"""Finds the cases that a change can move, and why: the plan measures these, the gate asks for them.

A case that it does not name cannot have changed: nothing that its measurement depends on did.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    find_near_cases,
    find_owner,
    is_read_early,
    name_skill,
    read_reworded,
)
from routing_action.corpus.skill_files import parse_skill_file
from routing_action.errors import RoutingActionError
from routing_action.gate.baselines import MAX_BASELINE_BYTES, parse_baseline
from routing_action.gate.edits.find import name_files, names_in
from routing_action.gate.edits.here import read_here
from routing_action.gate.histories import History
from routing_action.gate.wording import count, name_few
from routing_action.git.base_commit import BaseCommit
from routing_action.git.changes import Read, Tree, follow_links
from routing_action.git.command import require_work_tree
from routing_action.results.model import Results, UnitResult
from routing_action.results.past.history import HistoryLine

_SHOWN = 3

Why = tuple[str, Collection[str] | None]
"""What changed, and the cases that it can move; None for all of them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured, and with what: files and folders by their names, as the caller gave them.

    `earlier` results and the lines of a history tell which skills a case loaded. They count where
    all the agents have them. `near`: a changed description moves only the cases near to it.
    """

    corpus: Corpus
    agents: tuple[str, ...]
    named: Mapping[str, Influence]
    earlier: Sequence[Results] = ()
    lines: Sequence[HistoryLine] = ()
    near: bool = False


def find_moved_cases(
    root: Path, commit: BaseCommit, history: History, measured: Measured
) -> dict[str, str]:
    """What changed since the commit for each case that it can move, in the order of the cases.

    Raises as git does, and HarnessError where the history lists no files.
    """
    cases = measured.corpus.cases
    found: dict[str, str] = {}
    for change in _open_changes(root, commit, history, measured):
        for told, moved in change.explain():
            # A path can hold any byte.
            reason = "".join(one if one.isprintable() else "?" for one in told)
            if moved is None:
                return {case.case_id: reason for case in cases}
            found |= {case_id: reason for case_id in moved if case_id not in found}
    return {one.case_id: found[one.case_id] for one in cases if one.case_id in found}


def find_cases_near_edits(
    root: Path, commit: BaseCommit, history: History, measured: Measured
) -> list[str]:
    """The cases, in their order, that are near a skill whose SKILL.md was edited since the commit.

    They name the skill, have ever loaded it, or their prompt is near to what it says or said.
    Raises as git does.
    """
    changes = _open_changes(root, commit, history, measured)
    near = {case_id for change in changes for case_id in change.find_near()}
    return [case.case_id for case in measured.corpus.cases if case.case_id in near]


def _open_changes(
    root: Path, commit: BaseCommit, history: History, measured: Measured
) -> Iterator[_Change]:
    """What is here against each commit that it is compared with."""
    top = require_work_tree(root)
    named = names_in(top, root, measured.named)
    here, read = read_here(top, named, history, MAX_BASELINE_BYTES)
    after = follow_links(here, read)
    for sha in (commit.sha, *commit.others):
        trees = (follow_links(history.list_tree(sha), read), after)
        yield _Change(measured, trees, name_files(trees, read, named), read)


def describe_selection(
    moved: Mapping[str, str], case_ids: Sequence[str], near: bool = False
) -> str:
    """How many of the cases are measured, why, and which are not; `near` as it was asked for."""
    chosen = [case_id for case_id in case_ids if case_id in moved]
    left = [case_id for case_id in case_ids if case_id not in moved]
    reasons = dict.fromkeys(moved[case_id] for case_id in chosen)
    share = f"{len(chosen)} of" if left or len(case_ids) == 1 else "all"
    text = f"{share} {count(len(case_ids), 'case')}: {name_few(reasons, _SHOWN, '; ')}"
    if left:
        why = "not near to what changed" if near else "nothing that they depend on changed"
        text += f"; left out: {', '.join(left)} ({why})"
    return text


@dataclass(frozen=True)
class _Change:
    """The files of a commit, and those that are here."""

    measured: Measured
    trees: tuple[Tree, Tree]
    named: Mapping[str, Influence]
    read: Read

    def explain(self) -> Iterator[Why]:
        """Each change that can move a case."""
        before, after = self.trees
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                try:
                    yield from self._explain_path(path)
                except RoutingActionError as error:
                    yield f"{path} cannot be compared with what it was ({error.cause})", None
        if Influence.CASES not in self.named.values():
            yield "the case file is none of this repository's", None

    def _explain_path(self, path: str) -> Iterator[Why]:
        influence = find_influence(path, self.named)
        owner = find_owner(path, self._skills)
        is_root = owner == "." and path == self._skills["."] and self._is_file(path)
        if influence in (Influence.CASES, Influence.BASELINE):
            yield from self._explain_document(path, influence)
        elif is_root or (influence in (None, Influence.SKILL) and owner not in (None, ".")):
            yield self._explain_skill(path, owner or "")
        elif influence in MOVES_PROMPTS:
            yield f"{path} changed, {_article(influence)}", None
        if cases := find_cases_of_file(self.measured.corpus.cases, path):
            yield f"{path} changed, a file that cases ask for", cases

    def _explain_document(self, path: str, influence: Influence) -> Iterator[Why]:
        before, after = self._contents(path) if self._is_file(path) else (None, None)
        if before is None or after is None:
            yield f"{path} is not where it was, or no regular file", None
            return
        edited = (_edited_cases if influence is Influence.CASES else _edited_pairs)(before, after)
        if edited:
            yield f"{path} edits {name_few(edited, _SHOWN)}", edited

    def _explain_skill(self, path: str, owner: str) -> Why:
        own = self._skills[owner]
        if not self._is_file(path):
            return f"{path} is or was a link or a submodule", None
        if path == own:
            if reason := explain_skill_file(path, *self._contents(path)):
                return reason, self._find_near(owner)
        elif is_read_early(path.removeprefix(f"{owner}/")):
            return f"{path} changed, which agents read before they load the skill", None
        names = name_skill(owner, self._contents(own)[1] or b"")
        cases = find_cases_of_skill(self.measured.corpus.cases, names, self._loaded)
        return f"{path} changed, which counts once the skill is loaded", cases

    def _find_near(self, owner: str) -> list[str] | None:
        """The cases that name or took a skill, and those near to what it says; None for all."""
        versions = self._contents(self._skills[owner])
        reworded = read_reworded(*versions) if self.measured.near else None
        if reworded is None:
            return None
        cases, names = self.measured.corpus.cases, name_skill(owner, versions[1] or b"")
        named = find_cases_of_skill(cases, names, self._loaded)
        return [*named, *find_near_cases(cases, reworded, self._descriptions)]

    def find_near(self) -> Iterator[str]:
        """The cases near a skill whose SKILL.md is another one than it was."""
        before, after = self.trees
        cases = self.measured.corpus.cases
        # Nothing is near for want of a history.
        loaded = {case.case_id: self._loaded.get(case.case_id, frozenset()) for case in cases}
        for owner, path in self._skills.items():
            if before.get(path) != after.get(path) and self._is_file(path):
                versions = [data for data in self._contents(path) if data is not None]
                names = frozenset(name for one in versions for name in name_skill(owner, one))
                yield from find_cases_of_skill(cases, names, loaded)
                texts = [parse_skill_file("", Path(owner), data).description for data in versions]
                if any(texts):
                    yield from find_near_cases(cases, texts, self._descriptions)

    @cached_property
    def _descriptions(self) -> dict[str, str]:
        """What each skill says of itself now, by all of its names."""
        found: dict[str, str] = {}
        for owner, path in self._skills.items():
            data = self._contents(path)[1] or b""
            text = parse_skill_file("", Path(owner), data).description
            found |= dict.fromkeys(name_skill(owner, data), text)
        return found

    def _is_file(self, path: str) -> bool:
        """Whether it only ever was a regular file."""
        return all(tree[path].mode.startswith("100") for tree in self.trees if path in tree)

    def _contents(self, path: str) -> tuple[bytes | None, bytes | None]:
        before, after = (tree[path].blob if path in tree else "" for tree in self.trees)
        found = self.read(filter(None, (before, after)))
        return found.get(before), found.get(after)

    @cached_property
    def _skills(self) -> dict[str, str]:
        """The folder of each skill that there is or was, with the path of its SKILL.md."""
        paths = (path for tree in self.trees for path in tree)
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
        for line in self.measured.lines:
            if line.measured:
                agents.setdefault(line.case_id, set()).add(line.agent)
                used = {fold(bare_name(name)) for name in line.loaded}
                loaded.setdefault(line.case_id, set()).update(used)
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


def _article(influence: Influence | None) -> str:
    word = influence.value if influence else ""
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"
