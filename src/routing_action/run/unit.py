"""Runs one unit: launch, process, reading, evidence, log fallback, verdict and row."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from routing_action.agents.provider import Provider, ReadContext
from routing_action.corpus.units import Unit
from routing_action.errors import HarnessError
from routing_action.evidence.evidence import Hit
from routing_action.evidence.outcome import RunEnd
from routing_action.evidence.transcript import EndedBy, Reading
from routing_action.results.model import UnitResult
from routing_action.run.evaluate import CaseJudge
from routing_action.run.launcher import Launch, Parts
from routing_action.run.lifecycle import LifecycleLog, format_time
from routing_action.run.limits import Brakes
from routing_action.run.other_sources import (
    VersionProbe,
    learn_renewed,
    read_session_logs,
    version_command,
)
from routing_action.run.output.capture import TranscriptSink
from routing_action.run.process.process import ProcessLimits, ProcessResult, run_process
from routing_action.run.rows import (
    RunRecord,
    build_row,
    explain_failure,
    make_excerpt,
)
from routing_action.run.settings import RunSettings
from routing_action.run.workspace.custody import Witness


@dataclass(slots=True)
class _Run:
    """A unit while it runs."""

    unit: Unit
    unit_run_id: str
    launch: Launch
    judge: CaseJudge
    taken: int = 0
    tails: tuple[bytes, bytes] = (b"", b"")
    sha256s: tuple[str | None, str | None] = (None, None)
    over_budget: bool = False


class UnitRunner:
    """Runs units of one batch, each once; `brakes` say which ones no longer."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        settings: RunSettings,
        parts: Parts,
        lifecycle: LifecycleLog,
        brakes: Brakes,
    ) -> None:
        """Everything that a unit needs and does not own."""
        self.providers = providers
        self.settings = settings
        self.parts = parts
        self.lifecycle = lifecycle
        self.brakes = brakes
        self.unread_bytes = 0
        self._versions = VersionProbe()
        self._witness = Witness()

    async def run(self, unit: Unit, unit_run_id: str) -> tuple[UnitResult, Reading]:
        """Run a unit once, to its end; what its transcript read as comes with its row.

        It is not started where the brakes say so.
        """
        refusal = self.brakes.refusal(unit.agent)
        if refusal:
            return self.not_run(unit, unit_run_id, refusal), Reading()
        try:
            launch = await asyncio.to_thread(self.parts.launcher.prepare, unit, unit_run_id)
        except HarnessError as error:
            return self.not_run(unit, unit_run_id, f"not started: {error}"), Reading()
        try:
            refusal = self.brakes.refusal(unit.agent)  # what ended while the workspace was made
            if refusal:
                row, reading = self.not_run(unit, unit_run_id, refusal), Reading()
            else:
                judge = self._judge(unit, launch.context)
                row, reading = await self._launched(_Run(unit, unit_run_id, launch, judge))
                self.brakes.spend(unit.agent, reading.cost_usd, row.ended_by)
        finally:
            left = await asyncio.to_thread(launch.close)
        if left:
            row = row.model_copy(update={"notes": (*row.notes, *left)})
        return row, reading

    def _judge(self, unit: Unit, context: ReadContext) -> CaseJudge:
        provider = self.providers[unit.agent]
        count = self.settings.count_subagents
        return CaseJudge(provider, unit.case, context, count_subagents=count)

    async def _launched(self, run: _Run) -> tuple[UnitResult, Reading]:
        launch, evidence = run.launch, run.judge.evidence
        started = self.parts.ports.now()
        files = tuple(map(Path, self.parts.folder.transcript_files(run.unit_run_id)))
        seen = self._witness.over(run.unit_run_id, run.unit.key, launch.custody, files[0])
        async with seen as foreign:
            result = await self._process(run)
        if foreign:
            return self.not_run(run.unit, run.unit_run_id, foreign[0]), Reading()
        provider, redactor = self.providers[run.unit.agent], self.parts.redactor
        run.sha256s = learn_renewed(provider, launch.context, redactor, files, run.sha256s)
        evidence.extend(run.judge.reader.finish(result.exit_code))
        reading = launch.supplement(run.judge.reader.reading)
        new = launch.new_log_lines
        logs = await asyncio.to_thread(self._scan_logs, run, new) if new else (None, {})
        ended_by = result.ended_by
        if ended_by is EndedBy.STOPPED_EARLY and run.over_budget:
            ended_by = EndedBy.COST_LIMIT
        end = RunEnd.by(ended_by, result.exit_code)
        verdict = run.judge.judge(reading, end)
        version = launch.cli_version or await self._version(run, end)
        cause = self._cause(run, result, ended_by)
        record = RunRecord(
            launch.argv,
            ended_by,
            exit_code=result.exit_code,
            duration_ms=result.duration_ms,
            survivors=result.survivors,
            started_at_utc=format_time(started),
            ended_at_utc=format_time(self.parts.ports.now()),
            output_excerpt=make_excerpt(*run.tails),
            error=explain_failure(run.unit.agent, verdict.outcome, reading, cause, run.tails[1]),
            notes=(*launch.notes, *self._saved(run, end)),
            cli_version=version,
            model=launch.model,
            matched_log_file=logs[0],
            log_hits=logs[1],
            sha256s=run.sha256s,
        )
        row = build_row(run.unit, run.unit_run_id, record, verdict, reading, evidence, redactor)
        if version and not row.timed_out:
            found = self.parts.launcher.fingerprint(run.unit, version)
            row = row.model_copy(update={"fingerprint": found})
        return row, reading

    async def ask_version(self, unit: Unit) -> str | None:
        """The version of a unit's CLI, before any unit is run; None where it does not tell."""
        unit_run_id = self.parts.ports.new_id()
        try:
            launch = await asyncio.to_thread(self.parts.launcher.prepare, unit, unit_run_id)
        except HarnessError:
            return None
        try:
            return await self._ask(unit.agent, launch, unit_run_id)
        finally:
            await asyncio.to_thread(launch.close)

    def _cause(self, run: _Run, result: ProcessResult, ended_by: EndedBy) -> str:
        """Why the harness ended the unit, or could not start it; "" where neither is so."""
        if ended_by is EndedBy.COST_LIMIT:
            cap = self.settings.limits.max_unit_cost_usd
            return f"ended, since it had cost {cap:g} USD or more (--max-unit-cost-usd)"
        if ended_by is EndedBy.OUTPUT_LIMIT:
            most = self.settings.limits.max_output_mb
            return f"printed more than {most} MB, the limit of --max-output-mb"
        return result.start_error

    def _saved(self, run: _Run, end: RunEnd) -> tuple[str, ...]:
        """What is known of the part that an early stop left out."""
        if not end.stopped_early:
            return ()
        note = "stopped early: usage and cost of the whole run are not known"
        size = run.launch.output_bytes
        if size is None:
            return (note,)
        unread = max(0, size - run.taken)
        self.unread_bytes += unread
        return (note, f"{unread} of {size} bytes of the recording were not read")

    async def _version(self, run: _Run, end: RunEnd) -> str | None:
        """Asked of a live CLI that started, once in a batch, though its stream may say it too.

        A later run that looks for this one's fingerprint has no stream yet, and asks as well.
        """
        if self.settings.replay or not end.started or end.cancelled:
            return None
        return await self._ask(run.unit.agent, run.launch, run.unit_run_id)

    async def _ask(self, agent: str, launch: Launch, marker: str) -> str | None:
        argv = version_command(self.providers[agent], launch.argv)
        return (
            await self._versions.ask(agent, argv, launch.cwd, launch.env, marker) if argv else None
        )

    async def _process(self, run: _Run) -> ProcessResult:
        """Start the agent; its output is redacted, stored and read while it comes."""
        files = self.parts.folder.transcript_files(run.unit_run_id)
        reader, evidence = run.judge.reader, run.judge.evidence
        stdout = TranscriptSink(
            files[0],
            self.parts.redactor,
            lambda line: evidence.extend(reader.feed(line)),
            terminal_seen=lambda: reader.terminal_seen,
            settled=lambda: (
                (self.settings.stop_early and run.judge.is_settled()) or self._is_over_budget(run)
            ),
        )
        stderr = TranscriptSink(files[1], self.parts.redactor, reader.feed_stderr)
        limits = self.settings.limits
        result = await run_process(
            run.launch.argv,
            cwd=run.launch.cwd,
            env=run.launch.env,
            stdout=stdout,
            stderr=stderr,
            limits=ProcessLimits(
                wall_seconds=run.launch.wall_seconds or limits.timeout_for(run.unit.agent),
                idle_seconds=limits.idle_timeout_seconds,
                output_bytes=limits.max_output_mb * 1e6,
            ),
            marker=run.unit_run_id,
            cancel=self.parts.stop.cancel,
            hurry=self.parts.stop.hurry,
        )
        run.taken, run.tails = stdout.taken, (stdout.tail, stderr.tail)
        run.sha256s = (stdout.sha256, stderr.sha256)
        return result

    def _is_over_budget(self, run: _Run) -> bool:
        """True where the stream reports that the unit has cost as much as it may."""
        cap = self.settings.limits.max_unit_cost_usd
        reports = self.providers[run.unit.agent].reports_cost == "during"
        if cap is None or self.settings.replay or not reports:
            return False
        run.over_budget = (run.judge.reader.reading.cost_usd or 0.0) >= cap
        return run.over_budget

    def _scan_logs(
        self, run: _Run, new_lines: Callable[[], Sequence[tuple[str, bytes]]]
    ) -> tuple[str | None, Mapping[str, Hit]]:
        """Read what the session logs gained: the best log, and the hits that do not count."""
        make_reader = self.providers[run.unit.agent].log_reader
        if make_reader is None:
            return None, {}
        found = run.judge.new_collector()
        file = read_session_logs(
            new_lines(), make_reader, run.launch.context, self.parts.redactor, found
        )
        if self.settings.gates_on_logs:
            run.judge.evidence.merge(found)
        return file, {} if self.settings.gates_on_logs else found.hits

    def not_run(
        self, unit: Unit, unit_run_id: str, cause: str, *, missing: bool = False
    ) -> UnitResult:
        """The row of a unit that is not started; `missing` where its CLI is not there."""
        judge, reading = self._judge(unit, ReadContext()), Reading()
        verdict = judge.judge(reading, RunEnd(started=False, exit_code=None, not_run=not missing))
        record = RunRecord((), EndedBy.NOT_STARTED, error=cause)
        return build_row(
            unit, unit_run_id, record, verdict, reading, judge.evidence, self.parts.redactor
        )
