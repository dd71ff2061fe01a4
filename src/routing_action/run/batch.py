"""Run a batch: every unit, then results.json, the proof log and the gate of the run alone."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from routing_action.corpus.baseline import Baseline, Status
from routing_action.errors import ExitCode, HarnessError
from routing_action.evidence.transcript import EndedBy
from routing_action.files.redaction import Redactor
from routing_action.results.batch_folder import BatchFolder
from routing_action.results.journal import Header, Journal
from routing_action.results.model import (
    OfferedSkill,
    Options,
    PairSummary,
    Results,
    UnitResult,
    summarise,
    summarise_pairs,
)
from routing_action.run.bounds import Bounds, describe_bounds
from routing_action.run.brakes import Brakes
from routing_action.run.budget import Budget
from routing_action.run.confirm import units_to_confirm
from routing_action.run.lifecycle import LifecycleLog
from routing_action.run.plan import Plan
from routing_action.run.ports import Ports, format_time
from routing_action.run.resume import end_survivors, tell_killed
from routing_action.run.retries import PatientRunner
from routing_action.run.rounds import Rounds
from routing_action.run.settings import RunSettings, agent_templates
from routing_action.run.unit import Launcher, UnitRunner

MEASURED_FLOOR = 0.5
"""A run of which less than this share of pairs was measured says too little to be green."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Which part of a matrix this batch is: names for the results, nothing else."""

    shard: str | None = None
    matrix_key: str | None = None
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Batch:
    """A finished batch: its results, where they stand, and what the exit code is to be."""

    results: Results
    folder: BatchFolder
    exit_code: ExitCode
    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    """How a batch is interrupted: `cancel` ends it in order, `hurry` without any grace."""

    cancel: asyncio.Event
    hurry: asyncio.Event


async def run_batch(
    plan: Plan,
    settings: RunSettings,
    *,
    folder: BatchFolder,
    batch_run_id: str,
    journal: Journal,
    arguments: tuple[str, ...],
    launcher: Launcher,
    redactor: Redactor,
    ports: Ports,
    stop: Stop,
    shard: Shard,
    bounds: Bounds,
    baseline: Baseline | None = None,
) -> Batch:
    """Run every unit that the journal does not know to have ended.

    What ended is written even where the batch was interrupted: at once when it is, and again
    when the running units are gone. `baseline` says which pairs `--confirm` runs again.
    """
    lifecycle = LifecycleLog(
        ports.write_error, ports.now, batch_run_id, settings.no_progress, ports.observer
    )
    lifecycle.artifact_dir(str(folder.path))
    if journal.earlier is None:
        tell_killed(folder.path.parent, folder.path, ports)
    end_survivors(journal, folder.path.parent, ports)
    runner = UnitRunner(
        providers=dict(plan.providers),
        settings=settings,
        folder=folder,
        launcher=launcher,
        lifecycle=lifecycle,
        redactor=redactor,
        ports=ports,
        brakes=_brakes(settings),
        cancel=stop.cancel,
        hurry=stop.hurry,
    )
    if plan.selection.sample is not None:
        lifecycle.note(f"sample={plan.selection.sample} seed={plan.selection.seed}")
    for line in describe_bounds(bounds):
        lifecycle.note(line)
    patient = PatientRunner(runner, 0 if settings.replay else settings.throttle_retries)
    room = {name: lane.room for name, lane in bounds.lanes.items()}
    rounds = Rounds(
        patient, journal, ports.new_id, lifecycle, settings.max_parallel, stop.cancel, room
    )
    options = _options(plan, settings, shard, bounds)

    def write() -> Results:
        skills = tuple(_redacted(skill, redactor) for skill in launcher.offered_skills())
        results = _results(options, skills, rounds, batch_run_id, ports)
        folder.write_results(results, *([settings.output] if settings.output else []))
        folder.write_proof_log(results, *([settings.proof_log] if settings.proof_log else []))
        return results

    early = asyncio.ensure_future(_write_early(stop.cancel, write))
    try:
        _open(journal, plan, settings, options, batch_run_id, arguments, redactor, ports)
        await rounds.run(plan.units)
        if settings.confirm and baseline is not None and rounds.complete:
            # Without what an earlier life ran again, so that a resumed batch decides the same.
            first = [row for row in rounds.ended if row.trial <= plan.selection.trials]
            await rounds.run(units_to_confirm(first, plan.units, baseline, settings.confirm))
    finally:
        early.cancel()
        results = write()
    if journal.earlier is not None:  # one that the dead harness was just starting
        end_survivors(journal, folder.path.parent, ports)
    code, reason = judge_run(results, settings.fail_on_infra)
    lifecycle.summary(results.summary)
    for line in _closing_notes(settings, runner, rounds.ended):
        lifecycle.note(line)
    return Batch(results, folder, code, reason)


def _open(
    journal: Journal,
    plan: Plan,
    settings: RunSettings,
    options: Options,
    batch_run_id: str,
    arguments: tuple[str, ...],
    redactor: Redactor,
    ports: Ports,
) -> None:
    """Write the journal's header, or that the batch continues."""
    now = format_time(ports.now())
    if journal.earlier is not None:
        journal.resume(now)
        return
    templates = agent_templates(plan.providers, settings.environ)
    journal.begin(
        Header(
            batch_run_id=batch_run_id,
            at_utc=now,
            arguments=tuple(map(redactor.text, arguments)),
            templates={name: redactor.text(text) for name, text in templates.items()},
            options=options,
            units=len(plan.units),
        )
    )


def _brakes(settings: RunSettings) -> Brakes:
    """In a replay nothing is spent, and nothing is refused."""
    live = settings.replay is None
    return Brakes(Budget(settings.max_cost_usd if live else None), live=live)


def _closing_notes(
    settings: RunSettings, runner: UnitRunner, rows: Sequence[UnitResult]
) -> Iterator[str]:
    if settings.max_cost_usd is not None and not settings.replay:
        yield runner.brakes.budget.describe()
    if settings.stop_early:
        yield describe_stops(rows, runner.unread_bytes)


async def _write_early(cancel: asyncio.Event, write: Callable[[], object]) -> None:
    """Have results on disk as soon as the batch is interrupted: a SIGKILL may follow."""
    await cancel.wait()
    with contextlib.suppress(HarnessError):  # the last writing tells it
        write()


def describe_stops(rows: Sequence[UnitResult], unread_bytes: int) -> str:
    """How many units were stopped early; of replayed ones also how much was not read."""
    stopped = sum(row.ended_by is EndedBy.STOPPED_EARLY for row in rows)
    unread = f", {unread_bytes} bytes of their recordings not read" if unread_bytes else ""
    return f"stopped early: {stopped} of {len(rows)} units{unread}"


def _redacted(skill: OfferedSkill, redactor: Redactor) -> OfferedSkill:
    description = redactor.text(skill.description)
    return skill.model_copy(update={"description": description})


def _results(
    options: Options,
    skills: tuple[OfferedSkill, ...],
    rounds: Rounds,
    batch_run_id: str,
    ports: Ports,
) -> Results:
    ended = rounds.ended
    return Results(
        batch_run_id=batch_run_id,
        generated_at_utc=format_time(ports.now()),
        complete=rounds.complete,
        summary=summarise(ended),
        pairs=summarise_pairs(ended),
        options=options,
        skills=skills,
        results=tuple(ended),
    )


def judge_run(results: Results, fail_on_infra: bool) -> tuple[ExitCode, str]:
    """The exit code of a run on its own, and the reason in a sentence.

    A batch that was interrupted is 130. Any failed pair is 1. So is a batch of which less than
    half was measured, and any infra_error where `fail_on_infra` asks for it.
    """
    if not results.complete:
        cause = "interrupted: the results hold what had ended"
        return ExitCode.INTERRUPTED, f"{cause}; `run --resume {results.batch_run_id}` continues it"
    failed = [pair for pair in results.pairs if pair.status is Status.FAIL]
    infra = [pair for pair in results.pairs if pair.status is Status.INFRA_ERROR]
    if failed:
        return ExitCode.GATE_FAILED, f"{_count(failed)} failed{_beside(infra)}"
    if infra and fail_on_infra:
        return ExitCode.GATE_FAILED, f"{_count(infra)} could not be measured (--fail-on-infra)"
    if len(results.pairs) - len(infra) < MEASURED_FLOOR * len(results.pairs):
        return ExitCode.GATE_FAILED, f"{_count(infra)} of {len(results.pairs)} not measured"
    return ExitCode.PASSED, f"every measured pair passed{_beside(infra)}"


def _beside(infra: Sequence[PairSummary]) -> str:
    """What a verdict leaves open; nothing where all was measured."""
    return f", {_count(infra)} not measured" if infra else ""


def _count(pairs: Sequence[PairSummary]) -> str:
    return f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'}"


def _options(plan: Plan, settings: RunSettings, shard: Shard, bounds: Bounds) -> Options:
    selection = plan.selection
    return Options(
        agents=selection.agents,
        categories=selection.categories,
        case_ids=selection.case_ids,
        selected_case_ids=tuple(case.case_id for case in plan.cases),
        sample=selection.sample,
        seed=selection.seed if selection.sample is not None else None,
        shard=shard.shard,
        matrix_key=shard.matrix_key,
        attempt=shard.attempt,
        cases_file=plan.corpus.file,
        commit=settings.commit,
        corpus_sha256=plan.corpus.sha256,
        trials=selection.trials,
        timeout_seconds=settings.timeout_seconds,
        idle_timeout_seconds=settings.idle_timeout_seconds,
        provider_timeouts=dict(settings.provider_timeouts),
        provider_models=dict(settings.provider_models),
        subagent_loads="count" if settings.count_subagents else "ignore",
        allow_log_fallback_pass=settings.allow_log_fallback_pass,
        stop_early=settings.stop_early,
        skills=str(settings.skills) if settings.skills else None,
        max_parallel=settings.max_parallel,
        provider_lanes={name: lane.room for name, lane in bounds.lanes.items()},
        max_cost_usd=settings.max_cost_usd,
        max_unit_cost_usd=settings.max_unit_cost_usd,
        max_turns=settings.max_turns,
        throttle_retries=settings.throttle_retries,
        not_enforced=dict(bounds.not_enforced),
        config_file=settings.config_file,
        config_sha256=settings.config_sha256,
        log_scan=settings.scans_logs,
        workspace="shared" if settings.workspace == "shared" else "isolated",
        replay=str(settings.replay) if settings.replay else None,
        fail_on_infra=settings.fail_on_infra,
    )
