"""Finds what a change edits between the commit that it is compared with and what was measured.

Also the cases as they were, and what is here beside HEAD.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from routing_action.corpus.brought_in import find_set, name_brought
from routing_action.corpus.cases_file import DEFAULT_CASE_FILES, Corpus
from routing_action.corpus.influences import Influence, find_influence, find_skill_folder
from routing_action.errors import RoutingActionError
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES
from routing_action.gate.edits.contents import compare_skills, compare_texts
from routing_action.gate.edits.entries import (
    Cases,
    find_kind,
    list_baseline_edits,
    list_case_edits,
)
from routing_action.gate.edits.here import read_here
from routing_action.gate.edits.renames import Renames, find_renames
from routing_action.gate.find_baselines import (
    Baselines,
    read_earlier_baseline,
    read_earlier_cases,
)
from routing_action.gate.histories import History
from routing_action.gate.model import UNKNOWN, Edit, EditKind
from routing_action.git.changes import (
    MAX_BLOB_BYTES,
    Entry,
    Read,
    Tree,
    follow_links,
    readable,
    uncommitted_paths,
)
from routing_action.git.command import find_work_tree

# Another change could have them used: they are in view whichever is used now.
_DEFAULTS = {
    **dict.fromkeys(DEFAULT_CASE_FILES, Influence.CASES),
    **dict.fromkeys(DEFAULT_BASELINE_FILES, Influence.BASELINE),
}
_ORDER = {influence: place for place, influence in enumerate(Influence)}


@dataclass(frozen=True, slots=True)
class Change:
    """What a change edits, the most telling first. `notes` say what could not be found out.

    `earlier` are the cases of the commit that decides, by their ids; `uncommitted` the paths that
    differ from the commit where it is judged. `is_known`: there is no edit but these.
    """

    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()
    earlier: Cases = field(default_factory=dict)
    uncommitted: tuple[str, ...] = ()
    is_known: bool = False


def path_in(root: Path, path: Path) -> str | None:
    """A file's path in a repository with `/`; None for one outside of it."""
    whole = os.path.normpath(root.resolve() / path)
    inner = os.path.relpath(whole, root.resolve()).replace(os.sep, "/")
    return None if inner.startswith("../") else inner


def names_in(top: Path, root: Path, named: Mapping[str, Influence]) -> dict[str, Influence]:
    """The named files and folders that lie in a repository, by their paths in it."""
    inner = {path_in(top, root / name): what for name, what in named.items() if name}
    return {path: what for path, what in inner.items() if path and path != "."}


def read_change(
    root: Path,
    since: str,
    baseline: Path,
    baselines: Baselines,
    corpus: Corpus,
    history: History,
    named: Mapping[str, Influence],
    *,
    at_desk: bool = False,
) -> Change:
    """Everything since a commit ("": the one that decides), with files of names of their own.

    `at_desk`: the files are those that are here; else those of HEAD, which a workflow measures.
    """
    top = find_work_tree(root)
    if top is None:
        return Change()
    inner = names_in(top, root, {**_DEFAULTS, **named})
    uncommitted = uncommitted_paths(top, lambda path: find_influence(path, inner) is not None)
    try:
        commit = history.find_commit(since) if since else baselines.commit
    except RoutingActionError as error:
        note = f"what this change edits is not known: {error.cause}"
        return Change(notes=(note,), uncommitted=uncommitted)
    if commit is None:
        return Change(uncommitted=uncommitted)
    old_cases, earlier = read_earlier_cases(commit, corpus, root, history)
    if since:
        old_baseline, old = read_earlier_baseline(commit, baseline, root, history)
    else:
        old_baseline, old = Path(baselines.source.path), baselines.deciding or {}
    files: dict[Influence, list[str | None]] = {
        influence: [path_in(top, root / path) if path else None for path in both]
        for influence, both in (
            (Influence.CASES, (old_cases, Path(corpus.file))),
            (Influence.BASELINE, (old_baseline if old else None, baseline)),
        )
    }
    now = {case.case_id: case for case in corpus.cases}
    edits = [
        *_list_moved(files),
        *list_case_edits(earlier, now, files[Influence.CASES][1] or "the case file"),
        *list_baseline_edits(
            old, baselines.current, files[Influence.BASELINE][1] or "the baseline"
        ),
    ]
    notes: tuple[str, ...] = ()
    try:
        before = history.list_tree(commit.sha)
        if at_desk and uncommitted:
            after, read = read_here(top, inner, history, MAX_BLOB_BYTES)
        else:
            after, read = history.list_tree("HEAD"), history.read_blobs
        shown = {*chain(*files.values())}
        renames = _list_files((before, after), read, inner, shown, edits)
        earlier = {name: renames.follow(case) for name, case in earlier.items()}
    except RoutingActionError as error:
        notes = (f"what this change edits beside cases and baseline is not known: {error.cause}",)
    edits.sort(key=_rank)
    earlier = earlier if baselines.commit else {}
    return Change(tuple(edits), notes, earlier, uncommitted, is_known=not notes)


def _rank(edit: Edit) -> tuple[bool, int, int, str]:
    """What many of them could hide the rest with comes last.

    That is a new entry, then the text below a frontmatter; of the others what is new.
    """
    fields = {one.field for one in edit.fields}
    is_entry = edit.influence in (Influence.CASES, Influence.BASELINE)
    is_quiet = edit.influence is Influence.SKILL and fields.isdisjoint(("description", "name"))
    is_last = edit.what == "added" if is_entry else is_quiet
    return is_last, edit.what == "added", _ORDER[edit.influence], edit.path


def _list_moved(files: Mapping[Influence, Sequence[str | None]]) -> Iterator[Edit]:
    for influence, (before, after) in files.items():
        if before and before != after:
            place = after or "outside of the repository"
            yield Edit(path=place, path_before=before, influence=influence, what="renamed")


def _list_files(
    trees: tuple[Tree, Tree],
    read: Read,
    named: Mapping[str, Influence],
    shown: Collection[str | None],
    edits: list[Edit],
) -> Renames:
    """Append the edits of all files that are not shown; gives the skills that were renamed."""
    if trees[0] == trees[1]:
        return Renames()
    before, after = trees = (follow_links(trees[0], read), follow_links(trees[1], read))
    named = name_files(trees, read, named)
    changed = [
        (path, influence)
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
        and path not in shown
        and (influence := find_influence(path, named)) is not None
    ]
    blobs = [tree[path].blob for path, _ in changed for tree in trees if path in tree]
    renames = find_renames(trees, read)
    edits += _describe(changed, trees, read(blobs), renames.paths)
    return renames


def name_files(
    trees: tuple[Tree, Tree], read: Read, named: Mapping[str, Influence]
) -> dict[str, Influence]:
    """The named files and folders, with those that plugins, settings and instructions bring in."""
    found = dict(named)
    for tree in trees:
        found |= name_brought(tree.keys(), partial(_read_paths, tree, read), found)
    changed = {path for path in {*trees[0], *trees[1]} if trees[0].get(path) != trees[1].get(path)}
    unknown = [path for path in changed if find_influence(path, found) is None]
    blobs = {
        entry.blob
        for tree in trees
        for path, entry in tree.items()
        if unknown and find_influence(path, found) is Influence.SETTINGS
    }
    return found | dict.fromkeys(find_set(unknown, read(blobs).values()), Influence.SETTINGS)


def _read_paths(tree: Tree, read: Read, paths: Iterable[str]) -> dict[str, bytes]:
    blobs = {path: tree[path].blob for path in paths}
    contents = read(blobs.values())
    return {path: contents[blob] for path, blob in blobs.items() if blob in contents}


def _describe(
    changed: Sequence[tuple[str, Influence]],
    trees: tuple[Tree, Tree],
    blobs: Mapping[str, bytes],
    skills: Mapping[str, str],
) -> Iterator[Edit]:
    """Each file; one that is gone and one that is new with its content are a renamed one.

    So are `skills`, which give the earlier path.
    """
    before, after = trees
    gone = {before[path].blob: path for path, _ in changed if path not in after}
    renamed = {
        path: gone.pop(after[path].blob)
        for path, _ in changed
        if path not in before and after[path].blob in gone and path not in skills
    }
    renamed |= skills
    left = set(renamed.values())
    for path, influence in changed:
        if path in left:
            continue
        folder = find_skill_folder(path) if influence is Influence.SKILL else None
        told: dict[str, Any] = {
            "path": readable(path),
            "influence": influence,
            "name": readable(posixpath.basename(folder)) if folder else "",
        }
        old, new = before.get(renamed.get(path, path)), after.get(path)
        is_skill = posixpath.basename(path).casefold() == "skill.md"
        compared = _compare(old, new, blobs, is_skill=is_skill)
        what: EditKind = find_kind(old, new)
        if path in renamed:
            what, told["path_before"] = "renamed", readable(renamed[path])
        yield Edit(what=what, fields=compared[0], summary=compared[1], **told)


def _compare(
    old: Entry | None, new: Entry | None, blobs: Mapping[str, bytes], *, is_skill: bool
) -> tuple[tuple[Any, ...], str]:
    found = [b"" if one is None else blobs.get(one.blob) for one in (old, new)]
    if found[0] is None or found[1] is None:
        return (), UNKNOWN
    fields, summary = (compare_skills if is_skill else compare_texts)(found[0], found[1])
    if old and new and old.mode != new.mode:
        summary = ", ".join(filter(None, (summary, f"mode {old.mode} is now {new.mode}")))
    return fields, summary
