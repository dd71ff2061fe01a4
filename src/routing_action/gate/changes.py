"""Reads what a change is: its edits, the cases as they were, and how unusual its measuring was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.influences import Influence, find_influence
from routing_action.errors import RoutingActionError
from routing_action.gate.edits.entries import Cases
from routing_action.gate.edits.find import Versions, find_edits, names_in, path_in
from routing_action.gate.find_baselines import (
    Baselines,
    read_earlier_baseline,
    read_earlier_cases,
)
from routing_action.gate.histories import History
from routing_action.gate.model import Edit
from routing_action.git.changes import uncommitted_paths
from routing_action.git.command import find_work_tree


@dataclass(frozen=True, slots=True)
class Change:
    """What a change edits. `notes` say what could not be found out.

    `earlier` are the cases of the commit that decides, by their ids; `uncommitted` the paths that
    differ from the commit where it is judged.
    """

    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()
    earlier: Cases = field(default_factory=dict)
    uncommitted: tuple[str, ...] = ()


def read_change(
    root: Path,
    since: str,
    baseline: Path,
    baselines: Baselines,
    corpus: Corpus,
    history: History,
    named: Mapping[str, Influence],
) -> Change:
    """Everything since a commit ("": the one that decides), with files of names of their own."""
    top = find_work_tree(root)
    if top is None:
        return Change()
    inner = names_in(top, root, named)
    uncommitted = uncommitted_paths(top, lambda path: find_influence(path, inner) is not None)
    commit = baselines.commit
    try:
        commit = history.find_commit(since) if since else commit
    except RoutingActionError as error:
        note = f"what this change edits is not known: {error.cause}"
        return Change(notes=(note,), uncommitted=uncommitted)
    if commit is None:
        return Change(uncommitted=uncommitted)
    file, earlier = read_earlier_cases(commit, corpus, root, history)
    if since:
        old_file, old = read_earlier_baseline(commit, baseline, root, history)
    else:
        old_file, old = Path(baselines.source.path), baselines.deciding or {}
    now = {case.case_id: case for case in corpus.cases}
    versions = Versions(
        (earlier, now),
        (old, baselines.current),
        (path_in(top, root / file) if file else None, path_in(top, root / corpus.file)),
        (
            path_in(top, root / old_file) if old_file and old else None,
            path_in(top, root / baseline),
        ),
        inner,
    )
    edits, notes = find_edits(history, commit.sha, versions)
    return Change(edits, notes, earlier if baselines.commit else {}, uncommitted)
