"""Compare results with the baseline at the merge base, and say what it comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from routing_action.app.ports import format_time
from routing_action.domain.baseline import Baseline
from routing_action.domain.comparison import Comparison, DeltaKind, DeltaRow, Tree, compare
from routing_action.domain.delta import BaselineSource, Delta, DeltaEntry, DeltaProof, Totals
from routing_action.domain.gate import Policy, decide_gate
from routing_action.domain.measured import (
    MeasuredPair,
    Measurement,
    NamedBatch,
    gather,
)
from routing_action.domain.rerun import RUN_PROGRAM, build_run_command
from routing_action.domain.verdict import Status
from routing_action.harness.history import (
    BaseCommit,
    find_merge_base,
    is_edited_since,
    read_file_at,
    resolve_commit,
)
from routing_action.store.baselines import DEFAULT_BASELINE_FILES, parse_baseline, read_baseline
from routing_action.store.documents import DEFAULT_CASE_FILES, Corpus, find_cases_file, parse_cases


@dataclass(frozen=True, slots=True)
class BaselineRequest:
    """Which baseline decides: at the merge base, at a ref, in a file, else the checked-in one."""

    path: Path
    merge_base_of: str | None = None
    ref: str | None = None
    base_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Files:
    """What a comparison reads; `base` is a replay set's own copy of the merge base's baseline."""

    cases: Path
    baseline: Path | None
    base: Path | None


def locate_files(
    batches: Sequence[NamedBatch], root: Path, *, cases: Path | None, baseline: Path | None
) -> Files:
    """The named files, else those that the results were made with, else the repository's."""
    options = [named.batch.options for named in batches]
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
    """The deciding baseline (None where that commit has none), the current one, and the source."""

    deciding: Baseline | None
    current: Baseline
    source: BaselineSource


def read_baselines(request: BaselineRequest, root: Path, environ: Mapping[str, str]) -> Baselines:
    """Both baselines; DocumentError where the current file is missing or malformed."""
    current, _ = read_baseline(request.path)
    if request.base_file is not None:
        return _from_file(request, request.base_file, current)
    commit = _commit(request, root, environ)
    if commit is None:
        source = BaselineSource(
            path=str(request.path),
            commit=None,
            date=None,
            how="the checked-in file",
            present=True,
            edited=False,
        )
        return Baselines(current, current, source)
    path, data = _find_at(commit, (request.path, *_places(root)), environ)
    deciding = None
    if data is not None:
        deciding = parse_baseline(data, f"{path} at {commit.sha[:12]}")
    source = BaselineSource(
        path=str(path),
        commit=commit.sha,
        date=commit.date,
        how=commit.how,
        present=data is not None,
        edited=path != request.path or is_edited_since(commit, path, environ=environ),
    )
    return Baselines(deciding, current, source)


def _places(root: Path) -> tuple[Path, ...]:
    return tuple(root / name for name in DEFAULT_BASELINE_FILES)


def _find_at(
    commit: BaseCommit, paths: Sequence[Path], environ: Mapping[str, str]
) -> tuple[Path, bytes | None]:
    """The first of the paths that the commit has, so that moving the file hides nothing."""
    for path in dict.fromkeys(paths):
        data = read_file_at(commit, path, environ=environ)
        if data is not None:
            return path, data
    return paths[0], None


def edited_cases(
    request: BaselineRequest, corpus: Corpus, root: Path, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The cases whose prompt or expectations differ from those at the commit that decides."""
    commit = _commit(request, root, environ) if request.base_file is None else None
    if commit is None:
        return ()
    places = (Path(corpus.file), *(root / name for name in DEFAULT_CASE_FILES))
    path, data = _find_at(commit, places, environ)
    if data is None:
        return ()
    earlier = {case.case_id: case for case in parse_cases(data, str(path)).cases}
    return tuple(case.case_id for case in corpus.cases if earlier.get(case.case_id, case) != case)


def _from_file(request: BaselineRequest, base: Path, current: Baseline) -> Baselines:
    deciding, document = read_baseline(base)
    source = BaselineSource(
        path=str(request.path),
        commit=None,
        date=None,
        how=f"the merge base's copy in {base}",
        present=True,
        edited=document.text != read_baseline(request.path)[1].text,
    )
    return Baselines(deciding, current, source)


def _commit(request: BaselineRequest, root: Path, environ: Mapping[str, str]) -> BaseCommit | None:
    if request.merge_base_of is not None:
        return find_merge_base(root, request.merge_base_of, environ=environ)
    if request.ref is not None:
        return resolve_commit(root, request.ref, environ=environ)
    return None


def build_delta(
    batches: Sequence[NamedBatch],
    baselines: Baselines,
    corpus: Corpus,
    *,
    providers: Sequence[str],
    unmeasured: Mapping[str, str],
    policy: Policy,
    now: datetime,
    edited: Sequence[str] = (),
    commit: str | None = None,
    program: str = RUN_PROGRAM,
    partial: bool = False,
) -> Delta:
    """Add the batches up, compare, decide the gate, and describe it all.

    `commit` is the one that the results must be of, `program` how a run is started here,
    `partial` says that the providers are a choice for this once.
    """
    measurement = gather(batches, commit)
    tree = Tree(
        case_ids=frozenset(case.case_id for case in corpus.cases),
        baseline=baselines.current,
        providers=frozenset(providers) if providers else None,
        unmeasured=dict(unmeasured),
        partial=partial,
    )
    comparison = compare(measurement, baselines.deciding, tree)
    gate = decide_gate(comparison, policy)
    counts = Counter(row.kind for row in comparison.rows)
    return Delta(
        generated_at_utc=format_time(now),
        conclusion=gate.conclusion,
        reasons=gate.reasons,
        baseline=baselines.source,
        cases_file=corpus.file,
        commit=_only_commit(measurement),
        agents=tuple(providers) or measurement.agents,
        run_commands={
            agent: build_run_command(options, agent, program)
            for agent, options in measurement.run_options.items()
        },
        counts={kind: counts[kind] for kind in DeltaKind if counts[kind]},
        not_selected=comparison.not_selected,
        notes=(*_notes(measurement, baselines, corpus, comparison), *_edits(edited)),
        totals=_totals(batches),
        rows=tuple(_entry(row, corpus.lines) for row in comparison.rows),
    )


def _only_commit(measurement: Measurement) -> str | None:
    (commit,) = measurement.commits if len(measurement.commits) == 1 else (None,)
    return commit


def _notes(
    measurement: Measurement, baselines: Baselines, corpus: Corpus, comparison: Comparison
) -> tuple[str, ...]:
    notes = []
    if baselines.deciding is None:
        notes.append(
            f"no baseline: {baselines.source.path} does not exist at "
            f"{(baselines.source.commit or '')[:12]}, so every pair is new and held to its own "
            "declaration; it decides from the next change on"
        )
    if baselines.source.edited:
        notes.append(
            "this change edits the baseline; known pairs are judged against the one at the merge "
            "base all the same"
        )
    commits = sorted(commit[:12] for commit in measurement.commits if commit)
    if len(commits) > 1:
        notes.append(f"the results are of several commits: {', '.join(commits)}")
    if measurement.corpora - {corpus.sha256}:
        notes.append(f"the results were made with another version of {corpus.file}")
    if any(row.not_alike for row in comparison.rows):
        notes.append("some rows were measured with another CLI or model than their baseline")
    return tuple(notes)


def _edits(edited: Sequence[str]) -> tuple[str, ...]:
    if not edited:
        return ()
    more = f" and {len(edited) - 10} more" if len(edited) > 10 else ""
    names = ", ".join(edited[:10]) + more
    return (f"this change edits the prompt or the expectations of {names}: review that first",)


def _entry(row: DeltaRow, lines: Mapping[str, int]) -> DeltaEntry:
    case_id, agent = row.pair
    measured = row.measured
    return DeltaEntry(
        case_id=case_id,
        agent=agent,
        kind=row.kind,
        gates=row.gates,
        was=Status(row.expected) if row.expected else None,
        got=Status(row.got) if row.got else None,
        why=row.why,
        line=lines.get(case_id),
        not_alike=row.not_alike,
        **(_evidence(measured) if measured else {}),  # type: ignore[arg-type]
    )


def _evidence(measured: MeasuredPair) -> dict[str, object]:
    row = measured.row
    return {
        "failure_kind": row.failure_kind,
        "error": row.error,
        "missing_evidence": row.missing_evidence,
        "disallowed_hits": row.disallowed_hits,
        "loaded_skills": row.loaded_skills,
        "proofs": _proofs(measured),
        "flaky": measured.flaky,
        "timed_out": measured.timed_out,
        "passed": measured.passed,
        "trials": measured.trials,
        "unit_run_id": row.unit_run_id,
    }


def _proofs(measured: MeasuredPair) -> tuple[DeltaProof, ...]:
    hits = ((token, measured.row.token_hits.get(token)) for token in measured.row.missing_evidence)
    return tuple(
        DeltaProof.model_validate(
            {
                "token": token,
                "tier": hit.tier,
                "source_detail": hit.source_detail,
                "proof_line": hit.proof_line,
            }
        )
        for token, hit in hits
        if hit is not None
    )


def _totals(batches: Sequence[NamedBatch]) -> Totals:
    rows = [row for named in batches for row in named.batch.results]
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    versions: dict[str, dict[str, None]] = {}
    models: dict[str, dict[str, None]] = {}
    for row in rows:
        for found, value in ((versions, row.cli_version), (models, row.model)):
            if value:
                found.setdefault(row.agent, {})[value] = None
    return Totals(
        trials=len(rows),
        duration_ms=sum(row.duration_ms for row in rows),
        cost_usd=sum(costs) if costs else None,
        cli_versions={agent: tuple(values) for agent, values in versions.items()},
        models={agent: tuple(values) for agent, values in models.items()},
    )
