"""Run a batch: every unit, then results.json, the proof log and the gate of the run alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from routing_action.app.confirm import in_order, units_to_confirm
from routing_action.app.plan import Plan
from routing_action.app.ports import Ports, format_time
from routing_action.app.unit import Launcher, UnitRunner
from routing_action.domain.baseline import Baseline
from routing_action.domain.plan import Unit
from routing_action.domain.results import (
    Options,
    PairSummary,
    Results,
    UnitResult,
    summarise,
    summarise_pairs,
)
from routing_action.domain.transcript import EndedBy
from routing_action.domain.verdict import Status
from routing_action.errors import ExitCode
from routing_action.harness.lifecycle import LifecycleLog, UnitState
from routing_action.harness.redaction import Redactor
from routing_action.harness.scheduler import run_units
from routing_action.settings import RunSettings
from routing_action.store.batch import BatchFolder

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


async def run_batch(
    plan: Plan,
    settings: RunSettings,
    *,
    folder: BatchFolder,
    batch_run_id: str,
    launcher: Launcher,
    redactor: Redactor,
    ports: Ports,
    cancel: asyncio.Event,
    shard: Shard,
    baseline: Baseline | None = None,
) -> Batch:
    """Run every unit of the plan; what ended is written even where the batch was interrupted.

    `baseline` says which pairs `--confirm` runs again.
    """
    lifecycle = LifecycleLog(ports.write_error, ports.now, batch_run_id, settings.no_progress)
    lifecycle.artifact_dir(str(folder.path))
    runner = UnitRunner(
        providers=dict(plan.providers),
        settings=settings,
        folder=folder,
        launcher=launcher,
        lifecycle=lifecycle,
        redactor=redactor,
        ports=ports,
        cancel=cancel,
    )
    if plan.selection.sample is not None:
        lifecycle.note(f"sample={plan.selection.sample} seed={plan.selection.seed}")
    queue = _Queue(runner, lifecycle, ports, settings.max_parallel, cancel)
    try:
        await queue.run(plan.units)
        if settings.confirm and baseline is not None:
            more = units_to_confirm(queue.ended, plan.units, baseline, settings.confirm)
            await queue.run(more)
    finally:
        results = _results(plan, settings, shard, queue, batch_run_id, ports)
        folder.write_results(results, *([settings.output] if settings.output else []))
        folder.write_proof_log(results, *([settings.proof_log] if settings.proof_log else []))
    lifecycle.summary(results.summary)
    if settings.stop_early:
        lifecycle.note(describe_stops(queue.ended, runner.unread_bytes))
    code, reason = judge_run(results, settings.fail_on_infra)
    return Batch(results, folder, code, reason)


def describe_stops(rows: Sequence[UnitResult], unread_bytes: int) -> str:
    """How many units were stopped early; of replayed ones also how much was not read."""
    stopped = sum(row.ended_by is EndedBy.STOPPED_EARLY for row in rows)
    unread = f", {unread_bytes} bytes of their recordings not read" if unread_bytes else ""
    return f"stopped early: {stopped} of {len(rows)} units{unread}"


class _Queue:
    """Runs units in one or two rounds and keeps the rows that ended."""

    def __init__(
        self,
        runner: UnitRunner,
        lifecycle: LifecycleLog,
        ports: Ports,
        max_parallel: int,
        cancel: asyncio.Event,
    ) -> None:
        self._runner = runner
        self._lifecycle = lifecycle
        self._ports = ports
        self._max_parallel = max_parallel
        self._cancel = cancel
        self._rows: list[UnitResult | None] = []
        self._units: list[Unit] = []

    @property
    def ended(self) -> list[UnitResult]:
        """The rows so far, in case-then-provider order."""
        return in_order([row for row in self._rows if row is not None], self._units)

    @property
    def complete(self) -> bool:
        """True where every unit ended and nothing was cancelled."""
        return None not in self._rows and not self._cancel.is_set()

    async def run(self, units: Sequence[Unit]) -> None:
        """Run a round; an error of the harness ends it, and what had ended is kept."""
        first = len(self._rows)
        ids = {unit.index: self._ports.new_id() for unit in units}
        for unit in units:
            self._lifecycle.unit(ids[unit.index], unit.key, UnitState.QUEUED)

        async def work(unit: Unit) -> UnitResult:
            place = f"[{unit.index + 1}/{first + len(units)}]"
            return await self._runner.run(unit, ids[unit.index], place)

        self._units += units
        rows: list[UnitResult | None] = [None] * len(units)
        try:
            await run_units(units, work, self._max_parallel, self._cancel, rows)
        finally:
            self._rows += rows


def _results(
    plan: Plan,
    settings: RunSettings,
    shard: Shard,
    queue: _Queue,
    batch_run_id: str,
    ports: Ports,
) -> Results:
    ended = queue.ended
    return Results(
        batch_run_id=batch_run_id,
        generated_at_utc=format_time(ports.now()),
        complete=queue.complete,
        summary=summarise(ended),
        pairs=summarise_pairs(ended),
        options=_options(plan, settings, shard),
        results=tuple(ended),
    )


def judge_run(results: Results, fail_on_infra: bool) -> tuple[ExitCode, str]:
    """The exit code of a run on its own, and the reason in a sentence.

    A batch that was interrupted is 130. Any failed pair is 1. So is a batch of which less than
    half was measured, and any infra_error where `fail_on_infra` asks for it.
    """
    if not results.complete:
        return ExitCode.INTERRUPTED, "interrupted: the results hold what had ended"
    failed = [pair for pair in results.pairs if pair.status is Status.FAIL]
    infra = [pair for pair in results.pairs if pair.status is Status.INFRA_ERROR]
    if failed:
        return ExitCode.GATE_FAILED, f"{_count(failed)} failed"
    if infra and fail_on_infra:
        return ExitCode.GATE_FAILED, f"{_count(infra)} could not be measured (--fail-on-infra)"
    if len(results.pairs) - len(infra) < MEASURED_FLOOR * len(results.pairs):
        return ExitCode.GATE_FAILED, f"{_count(infra)} of {len(results.pairs)} not measured"
    return ExitCode.PASSED, "every measured pair passed"


def _count(pairs: Sequence[PairSummary]) -> str:
    return f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'}"


def _options(plan: Plan, settings: RunSettings, shard: Shard) -> Options:
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
        log_scan=settings.scans_logs,
        workspace="shared" if settings.workspace == "shared" else "isolated",
        replay=str(settings.replay) if settings.replay else None,
        fail_on_infra=settings.fail_on_infra,
    )
