"""Reads what a change is: its edits, the cases as they were, and how unusual its measuring was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from routing_action.agents.provider import Provider
from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.influences import Influence, find_influence
from routing_action.errors import RoutingActionError
from routing_action.gate.edits.entries import Cases
from routing_action.gate.edits.find import Versions, find_edits, path_in
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
    providers: Mapping[str, Provider] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a change is looked at: the checkout, its baseline, and files of names of their own.

    `named` holds paths from the checkout's folder, of files and of whole folders. `since` is the
    commit before the change, "" for the one that decides.
    """

    root: Path
    baseline: Path
    named: Mapping[str, Influence] = field(default_factory=dict)
    since: str = ""


def read_change(place: Place, baselines: Baselines, corpus: Corpus, history: History) -> Change:
    """Everything since the commit that the place names, else since the one that decides."""
    top = find_work_tree(place.root)
    if top is None:
        return Change()
    case_file = path_in(top, place.root / corpus.file)
    paths = {path_in(top, place.root / name): what for name, what in place.named.items()}
    paths[case_file] = Influence.CASES
    named = {path: what for path, what in paths.items() if path and path != "."}

    def matters(path: str) -> bool:
        return find_influence(path, named) is not None

    uncommitted = uncommitted_paths(top, matters)
    commit = baselines.commit
    try:
        commit = history.find_commit(place.since) if place.since else commit
    except RoutingActionError as error:
        note = f"what this change edits is not known: {error.cause}"
        return Change(notes=(note,), uncommitted=uncommitted)
    if commit is None:
        return Change(uncommitted=uncommitted)
    file, earlier = read_earlier_cases(commit, corpus, place.root, history)
    if place.since:
        old_file, old = read_earlier_baseline(commit, place.baseline, place.root, history)
    else:
        old_file, old = Path(baselines.source.path), baselines.deciding or {}
    now = {case.case_id: case for case in corpus.cases}
    versions = Versions(
        (earlier, now),
        (old, baselines.current),
        (path_in(top, place.root / file) if file else None, case_file),
        (
            path_in(top, place.root / old_file) if old_file and old else None,
            path_in(top, place.root / place.baseline),
        ),
        named,
    )
    edits, notes = find_edits(history, commit.sha, versions)
    change = Change(edits, notes, earlier, uncommitted)
    return change if baselines.commit else replace(change, earlier={})
