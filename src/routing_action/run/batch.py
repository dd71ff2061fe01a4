"""Run a batch: every unit, then results.json, the proof log and the gate of the run alone."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from routing_action import __version__
from routing_action.corpus.baseline import Pair, Status
from routing_action.corpus.units import Unit
from routing_action.errors import ExitCode, HarnessError
from routing_action.evidence.transcript import EndedBy
from routing_action.results.batch_folder import BatchFolder
from routing_action.results.journal import Header, Journal
from routing_action.results.measured import MEASURED_FLOOR
from routing_action.results.model import (
    Options,
    PairSummary,
    Results,
    UnitResult,
    summarise,
    summarise_pairs,
)
from routing_action.results.rerun import resume_command
from routing_action.run.launch import find_temp_root
from routing_action.run.launcher import Parts
from routing_action.run.lifecycle import LifecycleLog, format_time
from routing_action.run.limits import Bounds, Brakes, find_bounds
from routing_action.run.plan import Plan
from routing_action.run.process.memory import free_memory
from routing_action.run.readiness.own_commands import describe_plain_text, find_template_files
from routing_action.run.readiness.preflight import describe_obstacles, look_ahead
from routing_action.run.resume import end_survivors, remove_left_folders, tell_killed
from routing_action.run.reuse.reusable import find_reusable
from routing_action.run.rounds import Rounds
from routing_action.run.sequence import measure
from routing_action.run.settings import RunSettings, agent_templates
from routing_action.run.trials.confirm import Confirm
from routing_action.run.unit import UnitRunner


@dataclass(frozen=True, slots=True)
class Batch:
    """A finished batch: its results, where they stand, and what the exit code is to be."""

    results: Results
    folder: BatchFolder
    exit_code: ExitCode
    reason: str


async def run_batch(
    plan: Plan,
    settings: RunSettings,
    parts: Parts,
    journal: Journal,
    arguments: tuple[str, ...],
    confirm: Confirm | None = None,
    notes: Sequence[str] = (),
) -> Batch:
    """Run every unit that the journal does not know to have ended.

    What ended is written even where the batch was interrupted: at once when it is, and again when
    the running units are gone. `arguments` repeat the batch; `confirm` says which pairs run again;
    `notes` are said at the start.
    """
    folder, ports, earlier = parts.folder, parts.ports, journal.earlier
    batch_run_id = earlier.header.batch_run_id if earlier else folder.path.name
    lifecycle = LifecycleLog(
        ports.write_error,
        ports.now,
        batch_run_id,
        settings.outputs.no_progress,
        ports.observer,
    )
    lifecycle.artifact_dir(str(folder.path))
    _end_what_was_left(settings, parts, journal)
    # In a replay nothing is spent, and no agent is stopped.
    brakes = Brakes(
        settings.limits.max_cost_usd,
        live=settings.replay is None,
        outage_after=settings.limits.outage_after,
    )
    runner = UnitRunner(plan.providers, settings, parts, lifecycle, brakes)
    ahead = look_ahead(plan.providers, settings)
    obstacles = ahead.obstacles
    able = {name: one for name, one in plan.providers.items() if name not in obstacles}
    bounds = find_bounds(able, settings, free_memory())
    for line in describe_obstacles(obstacles, _not_ended(plan, journal)):
        ports.write_error(f"routing-action: {line}")
    opening = (*notes, *_opening_notes(plan, bounds, settings), *ahead.notes)
    for line in (*opening, *parts.launcher.missing_skills()):
        lifecycle.note(line)
    waiting = [one for one in _not_ended(plan, journal) if one.agent not in obstacles]
    reusable = await find_reusable(waiting, runner)
    rounds = Rounds(runner, journal, bounds.rooms, obstacles, reusable)
    options = _options(plan, settings, bounds)

    def write() -> Results:
        results = _results(batch_run_id, options, rounds, parts)
        outputs = settings.outputs
        folder.write_results(results, *_given(outputs.results_copy))
        folder.write_proof_log(results, *_given(outputs.proof_log_copy))
        return results

    early = asyncio.ensure_future(_write_early(parts.stop.cancel, write))
    try:
        if earlier is None:
            journal.begin(_header(batch_run_id, plan, runner, options, arguments))
        else:
            journal.resume(format_time(ports.now()))
        await measure(rounds, plan, runner, confirm or Confirm())
    finally:
        early.cancel()
        results = write()
    if earlier is not None:  # one that the dead harness was just starting
        end_survivors(journal, folder.path.parent, ports)
    code, reason = judge_run(results, settings.fail_on_infra, folder.path)
    lifecycle.summary(results.summary)
    for line in _closing_notes(runner, results.results):
        lifecycle.note(line)
    return Batch(results, folder, code, reason)


def _not_ended(plan: Plan, journal: Journal) -> list[Unit]:
    ended = journal.earlier.rows if journal.earlier else {}
    return [one for one in plan.units if (one.agent, one.case.case_id, one.trial) not in ended]


def _end_what_was_left(settings: RunSettings, parts: Parts, journal: Journal) -> None:
    """Of batches that were killed: their processes, and their folders with copied logins."""
    folder, ports = parts.folder.path, parts.ports
    if journal.earlier is None:
        tell_killed(folder.parent, folder, ports)
    end_survivors(journal, folder.parent, ports)
    remove_left_folders(
        journal, folder.parent, find_temp_root(settings.root, settings.environ), ports
    )


def _header(
    batch_run_id: str,
    plan: Plan,
    runner: UnitRunner,
    options: Options,
    arguments: tuple[str, ...],
) -> Header:
    redact = runner.parts.redactor.text
    templates = agent_templates(plan.providers, runner.settings.environ)
    return Header(
        written_by=__version__,
        batch_run_id=batch_run_id,
        at_utc=format_time(runner.parts.ports.now()),
        arguments=tuple(map(redact, arguments)),
        templates={name: redact(text) for name, text in templates.items()},
        options=options,
        units=len(plan.units),
    )


def _given(path: Path | None) -> tuple[Path, ...]:
    return () if path is None else (path,)


def _opening_notes(plan: Plan, bounds: Bounds, settings: RunSettings) -> Iterator[str]:
    if plan.selection.sample is not None:
        yield f"sample={plan.selection.sample} seed={plan.selection.seed}"
    yield from bounds.describe()
    if not settings.replay:
        absent = sum(case.depends_on_absence for case in plan.cases)
        yield from describe_plain_text(plan.providers, settings.environ, absent)


def _closing_notes(runner: UnitRunner, rows: Sequence[UnitResult]) -> Iterator[str]:
    settings = runner.settings
    if settings.limits.max_cost_usd is not None and settings.replay is None:
        yield runner.brakes.describe_cost()
    if settings.stop_early:
        stopped = sum(row.ended_by is EndedBy.STOPPED_EARLY for row in rows)
        unread = runner.unread_bytes
        rest = f", {unread} bytes of their recordings not read" if unread else ""
        yield f"stopped early: {stopped} of {len(rows)} units{rest}"


async def _write_early(cancel: asyncio.Event, write: Callable[[], object]) -> None:
    """Have results on disk as soon as the batch is interrupted: a SIGKILL may follow."""
    await cancel.wait()
    with contextlib.suppress(HarnessError):  # the last writing reports it
        write()


def _results(batch_run_id: str, options: Options, rounds: Rounds, parts: Parts) -> Results:
    ended = rounds.ended
    return Results(
        written_by=__version__,
        batch_run_id=batch_run_id,
        generated_at_utc=format_time(parts.ports.now()),
        complete=rounds.complete,
        summary=summarise(ended),
        pairs=summarise_pairs(ended),
        options=options,
        skills=tuple(
            one.model_copy(update={"description": parts.redactor.text(one.description)})
            for one in parts.launcher.offered_skills()
        ),
        results=tuple(ended),
    )


def judge_run(
    results: Results,
    fail_on_infra: bool,
    folder: Path | None = None,
    excused: Collection[Pair] = (),
    ended: Collection[Pair] = (),
) -> tuple[ExitCode, str]:
    """The exit code of a run on its own, and the reason in a sentence.

    `folder` is the batch's, where it can be continued. `excused` are pairs of which it is not
    proven that they got worse, `ended` those whose flaky entry is past its date. A batch that was
    interrupted is 130. Any failed or ended pair is 1. So is a batch of which less than half was
    measured, and any infra_error where `fail_on_infra` asks for it.
    """
    if not results.complete:
        cause = "interrupted: the results hold what had ended"
        hint = f"; `{resume_command(folder)}` continues it" if folder else ""
        return ExitCode.INTERRUPTED, f"{cause}{hint}"
    fails = [pair for pair in results.pairs if pair.status is Status.FAIL]
    told = {*excused, *ended}
    failed = [pair for pair in fails if (pair.case_id, pair.agent) not in told]
    infra = [pair for pair in results.pairs if pair.status is Status.INFRA_ERROR]
    beside = f", {_count(infra)} not measured" if infra else ""
    if failed or ended:
        entries = "1 flaky entry is" if len(ended) == 1 else f"{len(ended)} flaky entries are"
        counts = (f"{_count(failed)} failed" * bool(failed), f"{entries} over" * bool(ended))
        return ExitCode.GATE_FAILED, f"{' and '.join(filter(None, counts))}{beside}"
    if infra and fail_on_infra:
        return ExitCode.GATE_FAILED, f"{_count(infra)} could not be measured (--fail-on-infra)"
    if len(results.pairs) - len(infra) < MEASURED_FLOOR * len(results.pairs):
        return ExitCode.GATE_FAILED, f"{_count(infra)} of {len(results.pairs)} not measured"
    if fails:
        return ExitCode.PASSED, f"no pair is proven to be worse than before{beside}"
    return ExitCode.PASSED, f"every measured pair passed{beside}"


def _count(pairs: Sequence[PairSummary]) -> str:
    return f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'}"


def _options(plan: Plan, settings: RunSettings, bounds: Bounds) -> Options:
    selection, spaces = plan.selection, settings.workspaces
    templates = agent_templates(selection.agents, settings.environ)
    return Options(
        agents=selection.agents,
        categories=selection.categories,
        case_ids=selection.case_ids,
        selected_case_ids=tuple(case.case_id for case in plan.cases),
        sample=selection.sample,
        seed=selection.seed if selection.sample is not None else None,
        trials=selection.trials,
        cases_file=plan.corpus.file,
        corpus_sha256=plan.corpus.sha256,
        commit=settings.commit,
        uncommitted=settings.uncommitted,
        templates=tuple(templates),
        template_files=find_template_files(templates.values(), settings.root),
        provider_models=dict(settings.provider_models),
        subagent_loads="count" if settings.count_subagents else "ignore",
        allow_log_fallback_pass=settings.logs.allow_pass,
        stop_early=settings.stop_early,
        reuse=settings.reuse.mode,
        skills=str(spaces.skills) if spaces.skills else None,
        not_enforced=dict(bounds.not_enforced),
        config_file=settings.config_file,
        config_sha256=settings.config_sha256,
        log_scan=settings.scans_logs,
        log_max_files=settings.logs.max_files,
        log_max_bytes=settings.logs.max_bytes,
        workspace="shared" if spaces.shared else "isolated",
        replay=str(settings.replay.folder) if settings.replay else None,
        fail_on_infra=settings.fail_on_infra,
        history=str(settings.history) if settings.history else None,
        **settings.confirm.describe(),
        **asdict(settings.job),
        **{**asdict(settings.limits), "provider_lanes": bounds.rooms},
    )
