"""From folders of results to a delta: finds what belongs to a comparison and decides the gate."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from routing_action.corpus.cases_file import read_cases
from routing_action.errors import DocumentError, UsageError
from routing_action.gate.baselines import find_baseline_file
from routing_action.gate.build_delta import build_delta
from routing_action.gate.conclusion import Policy
from routing_action.gate.find_baselines import (
    BaselineRequest,
    edited_cases,
    locate_files,
    read_baselines,
)
from routing_action.gate.histories import History
from routing_action.gate.model import Delta
from routing_action.results.find import has_results, read_unmeasured
from routing_action.results.measured import MeasuredBatch
from routing_action.results.read import read_batches


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is to be judged, by which files, and how strictly; paths are as the caller gave them.

    `merge_base_of`, `baseline_ref` and `base_file` exclude each other. `allow_none` takes folders
    without any result as what they are, legs that were all lost; without it they are an error.
    `last_attempt` is the run's own: no leg has a later one.
    """

    folders: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    cases: Path | None = None
    baseline: Path | None = None
    merge_base_of: str | None = None
    baseline_ref: str | None = None
    base_file: Path | None = None
    policy: Policy = field(default_factory=Policy)
    allow_none: bool = False
    last_attempt: int | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """The delta, None where the cases have no baseline, and what was read for it."""

    delta: Delta | None
    batches: tuple[MeasuredBatch, ...]
    cases: Path


def judge(
    asked: Judgement,
    root: Path,
    *,
    history: History,
    now: datetime,
    program: str,
    needs_baseline: bool = True,
) -> Judged:
    """Read the results and compare them; without `needs_baseline` a missing one is no error.

    Raises UsageError where the request names nothing or too much, DocumentError where a file
    cannot be used.
    """
    if not (asked.folders or asked.files):
        raise UsageError("nothing to judge", remedy="give --results-dir DIR or --results FILE")
    if sum(map(bool, (asked.merge_base_of, asked.baseline_ref, asked.base_file))) > 1:
        raise UsageError("give one of --merge-base-of, --baseline-ref and --base-file")
    # What is made here are no cycles; to look for them would take as long as all the rest.
    gc.set_threshold(100_000, 50, 100)
    unmeasured = read_unmeasured(asked.folders)
    batches = _read(asked, bool(unmeasured))
    place = locate_files(batches, root, cases=asked.cases, baseline=asked.baseline)
    if place.baseline is None and not needs_baseline:
        return Judged(None, tuple(batches), place.cases)
    by_commit = asked.merge_base_of or asked.baseline_ref
    request = BaselineRequest(
        place.baseline or find_baseline_file(root),
        asked.merge_base_of,
        asked.baseline_ref,
        asked.base_file or (None if by_commit else place.base),
        (place.cases.parent / "provider-baseline.json",),
    )
    corpus = read_cases(place.cases)
    baselines = read_baselines(request, root, history)
    delta = build_delta(
        batches,
        baselines,
        corpus,
        unmeasured=unmeasured,
        policy=asked.policy,
        now=now,
        edited=edited_cases(baselines.commit, corpus, root, history),
        program=program,
    )
    return Judged(delta, tuple(batches), place.cases)


def _read(asked: Judgement, marked: bool) -> Sequence[MeasuredBatch]:
    """Every batch; none where the folders hold markers alone, or may be empty."""
    may_be_empty = (marked or asked.allow_none) and not asked.files
    if may_be_empty and not has_results(asked.folders):
        return []
    batches = read_batches((*asked.folders, *asked.files))
    for batch in batches:
        if asked.last_attempt is not None and batch.attempt > asked.last_attempt:
            raise DocumentError(
                f"is of attempt {batch.attempt}, while this is attempt {asked.last_attempt}",
                file=batch.file,
                remedy="run the leg again: an agent may have written into its artifact",
            )
    return batches
