"""Finds what results are compared with: both baselines, and the cases that a change edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from routing_action.corpus.baseline import Baseline, BaselineEntry, Status, iterate_pairs
from routing_action.corpus.cases_file import (
    DEFAULT_CASE_FILES,
    Corpus,
    find_cases_file,
    parse_cases,
)
from routing_action.errors import DocumentError
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES, parse_baseline, read_baseline
from routing_action.gate.histories import History
from routing_action.gate.model import BaselineSource
from routing_action.git.base_commit import BaseCommit, is_edited
from routing_action.results.measured import MeasuredBatch


@dataclass(frozen=True, slots=True)
class BaselineRequest:
    """Which baseline decides: at the merge base, at a ref, in a file, else the checked-in one.

    `beside` are further places of it at that commit: beside the cases.
    """

    path: Path
    merge_base_of: str | None = None
    ref: str | None = None
    base_file: Path | None = None
    beside: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Files:
    """What a comparison reads; `base` is a replay set's own copy of the merge base's baseline."""

    cases: Path
    baseline: Path | None
    base: Path | None


def locate_files(
    batches: Sequence[MeasuredBatch], root: Path, *, cases: Path | None, baseline: Path | None
) -> Files:
    """The named files, else those that the results were made with, else the repository's."""
    options = [batch.options for batch in batches]
    made_with = {Path(one.cases_file) for one in options if one.cases_file}
    known = next(iter(made_with)) if len(made_with) == 1 else None
    if cases is None:
        cases = known if known is not None and known.is_file() else find_cases_file(root)
    beside = cases.parent / "provider-baseline.json"
    if baseline is None and beside.is_file():
        baseline = beside
    replays = {one.replay for one in options}
    replay = next(iter(replays)) if len(replays) == 1 else None
    copy = Path(replay) / BASE_COPY if replay else None
    return Files(cases, baseline, copy if copy is not None and copy.is_file() else None)


BASE_COPY = "base-baseline.json"
"""In a folder of recordings: the baseline that stands for the one at the merge base."""


@dataclass(frozen=True, slots=True)
class Baselines:
    """The deciding baseline (None where that commit has none), the current one, and the source.

    `commit` is the one that the deciding baseline was read at, None for a file that is here.
    """

    deciding: Baseline | None
    current: Baseline
    source: BaselineSource
    commit: BaseCommit | None = None


def read_baselines(request: BaselineRequest, root: Path, history: History) -> Baselines:
    """Both baselines; DocumentError where the current file is missing or malformed."""
    current, document = read_baseline(request.path)
    if request.base_file is not None:
        copy, base = read_baseline(request.base_file)
        how = f"the merge base's copy in {request.base_file}"
        edited = base.text != document.text
        return Baselines(copy, current, _here(request.path, how, edited=edited))
    commit = _commit(request, history)
    if commit is None:
        return Baselines(current, current, _here(request.path, "the checked-in file"))
    places = (request.path, *request.beside, *(root / name for name in DEFAULT_BASELINE_FILES))
    path, data = _find_at(commit, places, history)
    if data is None:
        path, data = _find_moved(commit, places[0], history)
    found: list[Baseline] = []
    if data is not None:
        same = data == document.text.encode()  # most changes leave it alone: it is read once
        found.append(current if same else _parse_at(commit.sha, path, data))
    for sha in commit.others:
        other, more = _find_at(replace(commit, sha=sha), (path, *places), history)
        found += [] if more is None else [_parse_at(sha, other, more)]
    deciding = _strictest(found) if len(found) > 1 else next(iter(found), None)
    source = BaselineSource(
        path=str(path),
        commit=commit.sha,
        date=commit.date,
        how=commit.how,
        present=data is not None,
        edited=path != request.path or is_edited(path, data),
    )
    return Baselines(deciding, current, source, commit)


def _parse_at(sha: str, path: Path, data: bytes) -> Baseline:
    """A baseline as a commit has it; what is wrong there can no longer be corrected there."""
    try:
        return parse_baseline(data, f"{path} at {sha[:12]}")
    except DocumentError as error:
        error.remedy = (
            f"commit {sha[:12]} cannot be edited any more: rebase this change onto a commit whose "
            "baseline can be read, or judge by another commit with --baseline-ref (in the action: "
            "the input baseline-ref); `--baseline-ref HEAD` judges by the change's own baseline"
        )
        raise


def _find_at(
    commit: BaseCommit, paths: Sequence[Path], history: History
) -> tuple[Path, bytes | None]:
    """The first of the paths that the commit has, so that moving the file hides nothing."""
    for path in dict.fromkeys(paths):
        data = history.read(commit, path)
        if data is not None:
            return path, data
    return paths[0], None


def _find_moved(commit: BaseCommit, path: Path, history: History) -> tuple[Path, bytes | None]:
    """A baseline that the commit has in a place where none is looked for now.

    Raises DocumentError where it has several: nobody could tell which one decided.
    """
    moved = history.list_files(commit, DEFAULT_BASELINE_FILES[0])
    if len(moved) > 1:
        names = ", ".join(str(one) for one in moved[:5])
        raise DocumentError(
            f"does not exist at {commit.sha[:12]}, where these do: {names}",
            file=str(path),
            remedy="put the baseline back to its place, or name that place with --baseline",
        )
    return _find_at(commit, moved, history) if moved else (path, None)


_DEMAND = {Status.FAIL: 0, Status.INFRA_ERROR: 1, Status.PASS: 2}


def _strictest(found: Sequence[Baseline]) -> Baseline:
    """Of each pair the entry that asks most: pass before infra_error before fail."""
    merged: dict[str, dict[str, BaselineEntry]] = {}
    for baseline in found:
        for (case_id, agent), entry in iterate_pairs(baseline):
            own = merged.setdefault(case_id, {})
            both = (own.get(agent, entry), entry)
            own[agent] = max(
                both, key=lambda one: (_DEMAND[one.expected_status], not one.allow_timeout)
            )
    return merged


def edited_cases(
    commit: BaseCommit | None, corpus: Corpus, root: Path, history: History
) -> tuple[str, ...]:
    """The cases whose prompt or expectations differ from those at the commit that decides."""
    if commit is None:
        return ()
    places = (Path(corpus.file), *(root / name for name in DEFAULT_CASE_FILES))
    path, data = _find_at(commit, places, history)
    if data is None:
        return ()
    earlier = {case.case_id: case for case in parse_cases(data, str(path)).cases}
    return tuple(case.case_id for case in corpus.cases if earlier.get(case.case_id, case) != case)


def _here(path: Path, how: str, *, edited: bool = False) -> BaselineSource:
    return BaselineSource(
        path=str(path), commit=None, date=None, how=how, present=True, edited=edited
    )


def _commit(request: BaselineRequest, history: History) -> BaseCommit | None:
    if request.merge_base_of is not None:
        return history.find_merge_base(request.merge_base_of)
    if request.ref is not None:
        return history.find_commit(request.ref)
    return None
