"""Finds what results are compared with: both baselines, and the cases as they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from routing_action.corpus.baseline import Baseline, BaselineEntry, Status, iterate_pairs
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import (
    DEFAULT_CASE_FILES,
    Corpus,
    find_cases_file,
    parse_cases,
)
from routing_action.errors import DocumentError, HarnessError
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
    if request.merge_base_of is not None:
        commit = history.find_merge_base(request.merge_base_of)
    elif request.ref is not None:
        commit = history.find_commit(request.ref)
    else:
        return Baselines(current, current, _here(request.path, "the checked-in file"))
    places = (request.path, *request.beside, *(root / name for name in DEFAULT_BASELINE_FILES))
    path, data = _find_at(commit, places, history)
    elsewhere = [] if data is not None else _find_elsewhere(commit, current, root, history)
    found: list[Baseline] = [entries for _, _, entries in elsewhere]
    if elsewhere:
        path, data, _ = elsewhere[0]
    elif data is not None:
        same = data == document.text.encode()  # most changes leave it alone: it is read once
        found.append(current if same else _parse_at(commit.sha, path, data))
    for sha in commit.others:
        other, more = _find_at(replace(commit, sha=sha), (path, *places), history)
        found += [] if more is None else [_parse_at(sha, other, more)]
    deciding = _strictest(found) if len(found) > 1 else next(iter(found), None)
    source = BaselineSource(
        path=str(path.relative_to(root) if path.is_relative_to(root) else path),
        commit=commit.sha,
        date=commit.date,
        how=commit.how,
        present=data is not None,
        edited=is_edited(request.path, data),
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


def _find_elsewhere(
    commit: BaseCommit, current: Baseline, root: Path, history: History
) -> list[tuple[Path, bytes, Baseline]]:
    """The baselines that the commit has in places where none is looked for now.

    That is the only one of all, else those that know a pair of the current one.
    """
    found = [
        (root / path, data, _parse_if_possible(data))
        for path, data in _find_by_text(commit, b'"expected_status"', history)
    ]
    known = {pair for pair, _ in iterate_pairs(current)}
    related = [one for one in found if any(pair in known for pair, _ in iterate_pairs(one[2]))]
    return found if len(found) == 1 else related


def _find_by_text(commit: BaseCommit, text: bytes, history: History) -> Iterator[tuple[str, bytes]]:
    """The JSON files of the commit that hold a text, wherever they are and whatever their names."""
    try:
        tree = history.list_tree(commit.sha)
    except HarnessError:
        return
    files = {path: one.blob for path, one in tree.items() if path.endswith(".json")}
    contents = history.read_blobs(files.values(), _LARGEST_JSON)
    yield from (
        (path, contents[blob]) for path, blob in files.items() if text in contents.get(blob, b"")
    )


def _parse_if_possible(data: bytes) -> Baseline:
    """The entries of a file that may be no baseline; none then."""
    try:
        return parse_baseline(data, "")
    except DocumentError:
        return {}


_LARGEST_JSON = 8 * 2**20
_DEMAND = {Status.FAIL: 0, Status.INFRA_ERROR: 1, Status.PASS: 2}


def _strictest(found: Sequence[Baseline]) -> Baseline:
    """Of each pair the entry that asks most: pass before infra_error before fail."""
    merged: dict[str, dict[str, BaselineEntry]] = {}
    for baseline in found:
        for (case_id, agent), entry in iterate_pairs(baseline):
            own = merged.setdefault(case_id, {})
            both = (own.get(agent, entry), entry)
            own[agent] = max(both, key=_rank_demand)
    return merged


def _rank_demand(entry: BaselineEntry) -> tuple[float | str | bool, ...]:
    """The more, the more it asks; of two flaky ones the higher rate, then the earlier end."""
    flaky = entry.flaky
    rate = flaky.rate if flaky else 1.0
    days = -int(flaky.until.replace("-", "")) if flaky else 0
    return _DEMAND[entry.expected_status], not entry.allow_timeout, rate, days


def read_earlier_cases(
    commit: BaseCommit, corpus: Corpus, root: Path, history: History
) -> tuple[Path | None, dict[str, Case]]:
    """The case file of a commit and its cases by id; none where it had none that can be read.

    Of several merge bases a case is taken from one where it was another than now.
    """
    places = (Path(corpus.file), *(root / name for name in DEFAULT_CASE_FILES))
    now = {case.case_id: case for case in corpus.cases}
    file, found = None, dict[str, Case]()
    for sha in (commit.sha, *commit.others):
        one = replace(commit, sha=sha)
        path, data = _find_at(one, places, history)
        texts = [(path, data)] if data is not None else [
            (root / where, text) for where, text in _find_by_text(one, b'"prompt"', history)
        ]  # fmt: skip
        for where, text in texts:
            earlier = _parse_cases_if_possible(text)
            if data is None and not earlier.keys() & now.keys():
                continue
            file = file or where
            changed = {name for name in found if found[name] != now.get(name)}
            found |= {name: case for name, case in earlier.items() if name not in changed}
    return file, found


def _parse_cases_if_possible(data: bytes) -> dict[str, Case]:
    try:
        return {case.case_id: case for case in parse_cases(data, "").cases}
    except DocumentError:  # broken, which is what the change repairs, or no case file
        return {}


def read_earlier_baseline(
    commit: BaseCommit, current: Path, root: Path, history: History
) -> tuple[Path | None, Baseline]:
    """The baseline of a commit that does not decide, and its file; none where it had none."""
    places = (current, *(root / name for name in DEFAULT_BASELINE_FILES))
    path, data = _find_at(commit, places, history)
    return (None, {}) if data is None else (path, _parse_if_possible(data))


def _here(path: Path, how: str, *, edited: bool = False) -> BaselineSource:
    return BaselineSource(
        path=str(path), commit=None, date=None, how=how, present=True, edited=edited
    )
