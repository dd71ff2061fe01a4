"""Finds the cases that are near an edited skill: those that name it, or that it ever took."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.naming import fold, is_skill_file
from routing_action.corpus.skill_edits import find_cases_of_skill, name_skill
from routing_action.gate.baselines import MAX_BASELINE_BYTES
from routing_action.gate.edits.here import read_here
from routing_action.gate.histories import History
from routing_action.git.base_commit import BaseCommit
from routing_action.git.changes import follow_links
from routing_action.git.command import require_work_tree


def find_near_cases(
    root: Path,
    commit: BaseCommit,
    history: History,
    corpus: Corpus,
    taken: Mapping[str, Collection[str]],
) -> list[str]:
    """The ids of the cases, in their order, whose wanted or taken skill changed since the commit.

    `taken` holds for each case the skills that were loaded for it earlier. Raises as git does.
    """
    names = frozenset(_name_edited(root, commit, history))
    loaded = {case.case_id: [*map(fold, taken.get(case.case_id, ()))] for case in corpus.cases}
    return find_cases_of_skill(corpus.cases, names, loaded) if names else []


def _name_edited(root: Path, commit: BaseCommit, history: History) -> Iterator[str]:
    """The names, as they were and as they are, of the skills whose SKILL.md was edited."""
    here, read = read_here(require_work_tree(root), {}, history, MAX_BASELINE_BYTES)
    after = follow_links(here, read)
    before = follow_links(history.list_tree(commit.sha), read)
    for path in sorted(filter(is_skill_file, before.keys() | after.keys())):
        blobs = [tree[path].blob for tree in (before, after) if path in tree]
        if len(set(blobs)) == 1 and len(blobs) == 2:
            continue
        folder = str(PurePosixPath(path).parent)
        contents = read(blobs)
        for blob in blobs:
            yield from name_skill(folder, contents.get(blob, b""))
