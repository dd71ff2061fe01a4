"""Describe a comparison: the delta that reports and the action read."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from routing_action import __version__
from routing_action.agents.provider import Provider
from routing_action.corpus.baseline import Pair, count_passing
from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.influences import Influence, find_influence
from routing_action.evidence.chance import Record
from routing_action.evidence.outcome import Outcome
from routing_action.files.program import own_program
from routing_action.gate.conclusion import Policy, decide_gate
from routing_action.gate.edits.conditions import list_conditions
from routing_action.gate.edits.earlier_cases import judge_edited_cases
from routing_action.gate.edits.find import Change
from routing_action.gate.edits.stakes import list_skills_at_stake
from routing_action.gate.find_baselines import Baselines
from routing_action.gate.judging.certainty import Certainty
from routing_action.gate.judging.describe_row import describe_row
from routing_action.gate.judging.tree import Tree
from routing_action.gate.left_out import describe_attempts, describe_stale, find_doubt
from routing_action.gate.model import (
    Delta,
    DeltaLeftOut,
    Totals,
)
from routing_action.gate.rules import Comparison, DeltaKind, compare
from routing_action.results.measured import (
    MeasuredBatch,
    Measurement,
    gather,
)
from routing_action.results.notes import notes_of_agents
from routing_action.results.rerun import RUN_PROGRAM, build_run_command
from routing_action.run.lifecycle import format_time

_LONGEST_PROMPT = 600
_NOTHING = Change()
_NO_RECORDS: Mapping[Pair, Record] = {}


def build_delta(
    batches: Sequence[MeasuredBatch],
    baselines: Baselines,
    corpus: Corpus,
    *,
    unmeasured: Mapping[str, str],
    policy: Policy,
    now: datetime,
    change: Change = _NOTHING,
    providers: Mapping[str, Provider] | None = None,
    program: str = RUN_PROGRAM,
    moved: Mapping[str, str] | None = None,
    last_attempt: int | None = None,
    records: Mapping[Pair, Record] = _NO_RECORDS,
) -> Delta:
    """Add the batches up, compare, decide the gate, and describe it all.

    `program` is how a run is started here; `moved` holds what can have changed a case; `records`
    how often each pair passed before.
    """
    corpus_sha256 = corpus.sha256 if policy.commit else None
    measurement = gather(batches, policy.commit, corpus_sha256, policy.excused)
    tree = Tree(
        case_ids=frozenset(case.case_id for case in corpus.cases),
        baseline=baselines.current,
        providers=frozenset(policy.providers) if policy.providers else None,
        unmeasured=dict(unmeasured),
        partial=policy.partial,
        all_agents=policy.all_agents,
        planned=policy.planned,
        allow_infra=policy.excused,
        certainty=Certainty(
            policy.sequential,
            records,
            count_passing(baselines.deciding or {}),
            now.date().isoformat(),
        ),
        edited=judge_edited_cases(
            change.earlier,
            {case.case_id: case for case in corpus.cases},
            measurement.latest,
            providers or {},
        ),
    )
    comparison = compare(measurement, baselines.deciding, tree)
    doubt = find_doubt(comparison, moved, by_change=policy.by_change)
    gate = decide_gate(comparison, policy, doubt, describe_stale(measurement))
    commits = measurement.commits
    counts = Counter(row.kind for row in comparison.rows)
    # A push edits the baseline too, though it decides as it is checked in. A move has no name.
    is_edited = any(edit.influence is Influence.BASELINE and edit.name for edit in change.edits)
    source = baselines.source.model_copy(update={"edited": baselines.source.edited or is_edited})
    return Delta(
        written_by=__version__,
        generated_at_utc=format_time(now),
        conclusion=gate.conclusion,
        reasons=gate.reasons,
        errors=comparison.errors,
        baseline=source,
        cases_file=corpus.file,
        commit=next(iter(commits)) if len(commits) == 1 else None,
        agents=policy.providers or measurement.agents,
        run_commands={
            agent: build_run_command(options, agent, program)
            for agent, options in measurement.run_options.items()
        },
        counts={kind: counts[kind] for kind in DeltaKind if counts[kind]},
        not_selected=len(comparison.left_out),
        left_out=tuple(
            DeltaLeftOut(case_id=case_id, agent=agent) for case_id, agent in comparison.left_out
        ),
        edits=change.edits,
        edits_known=change.is_known
        and (bool(policy.commit) or not _was_undone(measurement, change)),
        measured_with=list_conditions(
            (batch.options for batch in measurement.latest), change.uncommitted
        ),
        notes=(
            *describe_attempts(comparison, measurement, last_attempt),
            *notes_of_agents(note for batch in batches for row in batch.rows for note in row.notes),
            *_notes(measurement, corpus, comparison),
            *_unasked(tree),
            *change.notes,
        ),
        totals=_totals(measurement),
        skills=tuple(list_skills_at_stake(measurement.latest, comparison, change.edits)),
        prompts=_list_prompts(corpus, comparison),
        rows=tuple(
            describe_row(
                row,
                corpus.lines,
                baselines,
                comparison.red_before.get(row.pair, ()),
                measurement.stale.get(row.pair),
            )
            for row in comparison.rows
        ),
    )


def _was_undone(measurement: Measurement, change: Change) -> bool:
    """Whether something was measured that was edited, and is now neither edited nor committed."""
    told = {*change.uncommitted, *(edit.path for edit in change.edits)}
    measured = {path for batch in measurement.latest for path in batch.options.uncommitted}
    return any(find_influence(path, {}) for path in measured - told)


def _unasked(tree: Tree) -> tuple[str, ...]:
    """Entries of agents that the gate does not measure: red from the next change on."""
    if tree.providers is None or tree.partial:
        return ()
    entered = {agent for agents in tree.baseline.values() for agent in agents}
    unasked = sorted(entered - tree.providers)
    if not unasked:
        return ()
    command = f"{own_program()} baseline update --prune-agents {shlex.quote(','.join(unasked))}"
    note = (
        f"the baseline has entries of {', '.join(unasked)}, which this gate does not measure: "
        f"measure them, or remove the entries with `{command}`; once merged, they turn every "
        "change red"
    )
    return (note,)


def _notes(measurement: Measurement, corpus: Corpus, comparison: Comparison) -> tuple[str, ...]:
    notes = []
    commits = sorted(commit[:12] for commit in measurement.commits if commit)
    if len(commits) > 1:
        notes.append(f"the results are of several commits: {', '.join(commits)}")
    if measurement.corpora - {corpus.sha256}:
        notes.append(f"the results were made with another version of {corpus.file}")
    if any(row.not_alike for row in comparison.rows):
        notes.append("some rows were measured with another CLI or model than their baseline")
    return tuple(notes)


def _list_prompts(corpus: Corpus, comparison: Comparison) -> dict[str, str]:
    """How the case of each row asks."""
    known = {row.pair[0] for row in comparison.rows}
    return {one.case_id: _shorten(one.prompt) for one in corpus.cases if one.case_id in known}


def _shorten(prompt: str) -> str:
    """As much of a prompt as tells which one it is, on one line."""
    text = " ".join(prompt[: 4 * _LONGEST_PROMPT].split())
    return text if len(text) <= _LONGEST_PROMPT else f"{text[: _LONGEST_PROMPT - 1]}…"


def _totals(measurement: Measurement) -> Totals:
    rows = [row for batch in measurement.latest for row in batch.rows]
    versions: dict[str, dict[str, None]] = {}
    models: dict[str, dict[str, None]] = {}
    for row in rows:
        for found, value in ((versions, row.cli_version), (models, row.model)):
            if value:
                found.setdefault(row.agent, {})[value] = None
    rows = [row for row in rows if not row.reused_from]
    return Totals(
        trials=sum(row.failure_kind != Outcome.NOT_RUN for row in rows),
        duration_ms=sum(row.duration_ms for row in rows),
        cost_usd=_sum_costs(measurement.latest),
        cost_trials=sum(row.cost_usd is not None for row in rows),
        superseded_cost_usd=_sum_costs(measurement.superseded),
        cli_versions={agent: tuple(values) for agent, values in versions.items()},
        models={agent: tuple(values) for agent, values in models.items()},
    )


def _sum_costs(batches: Sequence[MeasuredBatch]) -> float | None:
    """What the CLIs reported; None where none of them did."""
    rows = (row for batch in batches for row in batch.rows if not row.reused_from)
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return sum(costs) if costs else None
