"""From folders of results to a delta: finds what belongs to a comparison and decides the gate."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from routing_action.agents.provider import Provider
from routing_action.corpus.cases_file import DEFAULT_CASE_FILES, Corpus, read_cases
from routing_action.corpus.influences import Influence, find_influence
from routing_action.corpus.units import DEFAULT_REUSE_DAYS
from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES, find_baseline_file
from routing_action.gate.build_delta import build_delta
from routing_action.gate.conclusion import Policy
from routing_action.gate.edits.find import Change, read_change
from routing_action.gate.edits.layout import UsedFile, check_layout
from routing_action.gate.find_baselines import (
    BaselineRequest,
    locate_files,
    read_baselines,
)
from routing_action.gate.histories import History
from routing_action.gate.judging.past_runs import add_past_runs
from routing_action.gate.judging.reused_pairs import (
    FindMoved,
    describe_reused,
    drop_unproven,
    reject_reused,
)
from routing_action.gate.judging.settle import list_flaky, settle_test
from routing_action.gate.model import Delta
from routing_action.gate.moved_cases import Measured, find_moved_cases
from routing_action.git.base_commit import BaseCommit
from routing_action.results.find import (
    find_result_files,
    has_results,
    read_unmeasured,
    split_attempts,
)
from routing_action.results.measured import MeasuredBatch, keep_newest
from routing_action.results.past.history import History as PastRuns
from routing_action.results.past.records import sum_recent
from routing_action.results.read import read_batches, read_results


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A workflow run that measured the same change before, and the folder of its results."""

    run: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is to be judged, by which files, and how strictly; paths are as the caller gave them.

    `folders` are searched; of the batches that `files` name, the newest one's count of each pair.
    `merge_base_of`, `baseline_ref` and `base_file` exclude each other. `allow_none` takes folders
    without any result as what they are, legs that were all lost; without it they are an error.
    `last_attempt` is the run's own: no leg has a later one. `earlier` are results of other runs,
    which tell what a case loads. `agents` are all that are known; `templates` is the folder of the
    reports' templates; `since` is the commit before the change, where another one decides, or none.
    `other_runs` measured the same change: of each pair the newest results count. Their caller has
    checked the files, and that they are of the commit that is judged. `past` is what runs on the
    default branch measured, of which `reuse_days` may stand for pairs that were not run.
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
    earlier: tuple[Path, ...] = ()
    agents: Mapping[str, Provider] = field(default_factory=dict)
    templates: str = ""
    since: str = ""
    other_runs: tuple[OtherRun, ...] = ()
    past: PastRuns = field(default_factory=PastRuns)
    reuse_days: int = DEFAULT_REUSE_DAYS


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
    others = tuple(one.folder for one in asked.other_runs)
    unmeasured = read_unmeasured((*asked.folders, *others))
    own, damaged = _read(asked, bool(unmeasured))
    batches = [*own, *_read_other_runs(asked)]
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
    if baselines.commit is not None:
        check_layout(baselines.commit, root, _name_used(asked, corpus, request.path), history)
    settled = settle_test(asked.policy, asked.past, batches)
    before = settled.past.without({batch.batch_run_id for batch in batches})
    flaky = list_flaky(baselines.deciding or {}, settled.policy.sequential, now.date().isoformat())
    named = _name_files(asked, request.path, corpus, batches)
    since = asked.since if asked.baseline_ref else ""
    batches, unproven = drop_unproven(
        batches,
        settled.past.lines,
        FindMoved(root, history, corpus, named),
        since or (baselines.commit.sha if baselines.commit else ""),
        asked.reuse_days,
    )
    # The checked-in files are judged for whoever works on them: nothing is edited.
    is_change = not (baselines.commit is None and asked.policy.commit is None)
    delta = build_delta(
        batches,
        baselines,
        corpus,
        unmeasured=unmeasured,
        policy=settled.policy,
        now=now,
        change=read_change(
            root,
            asked.since,
            request.path,
            baselines,
            corpus,
            history,
            {**_name_commands(batches), **named},
            at_desk=asked.policy.commit is None,
        )
        if is_change
        else Change(),
        providers=asked.agents,
        program=program,
        moved=_find_moved(asked, root, history, batches, corpus, baselines.commit, named),
        last_attempt=asked.last_attempt,
        records=sum_recent(before),
    )
    added = {
        "notes": (*settled.notes, *delta.notes, *flaky, *damaged),
        "measured_with": (*delta.measured_with, *describe_reused(batches)),
    }
    delta = add_past_runs(delta.model_copy(update=added), before.lines)
    return Judged(reject_reused(delta, unproven), tuple(batches), place.cases)


def _read_other_runs(asked: Judgement) -> Iterator[MeasuredBatch]:
    """Their batches, as results of the commit that is judged."""
    for other in asked.other_runs:
        files = find_result_files((other.folder,)) if has_results((other.folder,)) else []
        for batch in read_batches(files):
            commit = asked.policy.commit or batch.options.commit
            options = batch.options.model_copy(update={"commit": commit})
            yield replace(batch, run=other.run, options=options)


def _name_used(asked: Judgement, corpus: Corpus, baseline: Path) -> tuple[UsedFile, UsedFile]:
    """Both files; named cases also name the baseline beside them."""
    cases = Path(corpus.file)
    beside = asked.cases is not None and baseline.parent == cases.parent
    return (
        UsedFile(cases, "cases", () if asked.cases else DEFAULT_CASE_FILES),
        UsedFile(baseline, "baseline", () if asked.baseline or beside else DEFAULT_BASELINE_FILES),
    )


def _name_files(
    asked: Judgement, baseline: Path, corpus: Corpus, batches: Sequence[MeasuredBatch]
) -> dict[str, Influence]:
    """The files that bear names of their own choice."""
    named = {asked.templates: Influence.TEMPLATES}
    for batch in batches:
        named[batch.options.config_file or ""] = Influence.AGENTS
        named[batch.options.skills or ""] = Influence.SKILL
    return {**named, str(baseline): Influence.BASELINE, corpus.file: Influence.CASES}


def _name_commands(batches: Sequence[MeasuredBatch]) -> dict[str, Influence]:
    """The files that commands start in agents' places, but those that are something anyway."""
    files = {file for batch in batches for file in batch.options.template_files}
    unknown = (file for file in files if find_influence(file, {}) is None)
    return dict.fromkeys(unknown, Influence.AGENTS)


def _find_moved(
    asked: Judgement,
    root: Path,
    history: History,
    batches: Sequence[MeasuredBatch],
    corpus: Corpus,
    commit: BaseCommit | None,
    named: Mapping[str, Influence],
) -> dict[str, str] | None:
    """What can have changed each case; None where nobody asks for it or can tell."""
    if not asked.policy.by_change or commit is None:
        return None
    agents = dict.fromkeys(agent for one in batches for agent in one.options.agents)
    earlier = [read_results(path) for path in asked.earlier]
    try:
        measured = Measured(corpus, tuple(agents), named, earlier, asked.past.lines)
        return find_moved_cases(root, commit, history, measured)
    except HarnessError:
        return None


def _read(asked: Judgement, marked: bool) -> tuple[Sequence[MeasuredBatch], Sequence[str]]:
    """Every batch; none where the folders hold markers alone, or may be empty.

    With notes about those of earlier attempts that cannot be read: they decide nothing.
    """
    may_be_empty = (marked or asked.allow_none) and not asked.files
    if may_be_empty and not has_results(asked.folders):
        return [], []
    files, older = split_attempts(find_result_files((*asked.folders, *asked.files)))
    batches = read_batches(files)
    if not asked.folders:
        batches = keep_newest(batches)
    damaged = []
    for file in older:
        try:
            batches += read_batches((file,))
        except DocumentError as error:
            damaged.append(f"the results of an earlier attempt cannot be read: {error}")
    for batch in batches:
        if asked.last_attempt is not None and batch.attempt > asked.last_attempt:
            raise DocumentError(
                f"is of attempt {batch.attempt}, while this is attempt {asked.last_attempt}",
                file=batch.file,
                remedy="run the leg again: an agent may have written into its artifact",
            )
    return batches, damaged
