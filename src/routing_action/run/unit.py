"""Runs one unit: launch, process, reading, evidence, log fallback, verdict and row."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from routing_action.corpus.case import Expectations, expectations_for
from routing_action.corpus.units import Unit
from routing_action.errors import HarnessError
from routing_action.evidence.early_stop import is_settled
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.evidence_collector import make_collector
from routing_action.evidence.outcome import RunEnd
from routing_action.evidence.reader_protocol import Provider, ReadContext, Reader
from routing_action.evidence.transcript import EndedBy, Reading
from routing_action.evidence.verdict import Verdict, judge
from routing_action.files.redaction import Redactor
from routing_action.results.batch_folder import BatchFolder
from routing_action.results.model import OfferedSkill, UnitResult
from routing_action.run.brakes import Brakes
from routing_action.run.lifecycle import LifecycleLog
from routing_action.run.log_fallback import read_session_logs
from routing_action.run.output.capture import TranscriptSink, each_line
from routing_action.run.pace import Pace
from routing_action.run.ports import Ports, format_time
from routing_action.run.process.process import ProcessLimits, ProcessResult, run_process
from routing_action.run.rows import (
    RunRecord,
    add_install_hint,
    build_row,
    explain_failure,
    make_excerpt,
)
from routing_action.run.settings import RunSettings
from routing_action.run.versions import VersionProbe


@dataclass(slots=True)
class Launch:
    """One unit, ready to start. `new_log_lines` gives what session logs gained since the start.

    `wall_seconds` is a deadline of this unit's own; None takes the settings'. `output_bytes` is
    how much it is going to print, where that is known: in a replay. `complete` adds what is known
    of a run apart from its output. `close` takes everything away again and gives notes about what
    it could not; before it, `close_quickly` does that at once and without a note, if it can.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    context: ReadContext
    notes: tuple[str, ...] = ()
    cli_version: str | None = None
    model: str | None = None
    wall_seconds: float | None = None
    output_bytes: int | None = None
    complete: Callable[[Reading], Reading] = field(default=lambda reading: reading)
    new_log_lines: Callable[[], Sequence[tuple[str, bytes]]] | None = None
    close: Callable[[], Sequence[str]] = field(default=lambda: ())
    close_quickly: Callable[[], bool] = field(default=lambda: False)


class Launcher(Protocol):
    """Prepares units; live or from recordings. `is_quick` where that is never worth a thread."""

    is_quick: bool

    def prepare(self, unit: Unit, unit_run_id: str) -> Launch:
        """Make everything that the unit needs; HarnessError where that fails."""
        ...

    def offered_skills(self) -> tuple[OfferedSkill, ...]:
        """The skills that lie where the agents look; none where that is not known."""
        ...


@dataclass(slots=True)
class _Trace:
    """A run while it is read."""

    expectations: Expectations
    evidence: EvidenceCollector
    reader: Reader
    taken: int = 0
    tails: tuple[bytes, bytes] = (b"", b"")
    over_budget: bool = False


class UnitRunner:
    """Runs units of one batch, each once; `brakes` say which ones no longer."""

    def __init__(
        self,
        *,
        providers: dict[str, Provider],
        settings: RunSettings,
        folder: BatchFolder,
        launcher: Launcher,
        lifecycle: LifecycleLog,
        redactor: Redactor,
        ports: Ports,
        brakes: Brakes,
        cancel: asyncio.Event,
        hurry: asyncio.Event | None = None,
    ) -> None:
        """Everything that a unit needs and does not own."""
        self.providers = providers
        self.settings = settings
        self.folder = folder
        self.launcher = launcher
        self.lifecycle = lifecycle
        self.redactor = redactor
        self.ports = ports
        self.cancel = cancel
        self.hurry = hurry
        self.brakes = brakes
        self.unread_bytes = 0
        self._versions = VersionProbe()
        self._pace = Pace()

    async def run(self, unit: Unit, unit_run_id: str) -> tuple[UnitResult, Reading]:
        """Run a unit once, to its end; what its transcript read as comes with its row.

        It is not started where the brakes say so.
        """
        refusal = self.brakes.refusal(unit.agent)
        if refusal:
            return self._not_run(unit, unit_run_id, refusal), Reading()
        try:
            launch = await self._prepared(unit, unit_run_id)
        except HarnessError as error:
            cause = f"the workspace could not be made: {error}"
            return self._not_run(unit, unit_run_id, cause), Reading()
        try:
            refusal = self.brakes.refusal(unit.agent)  # what ended while the workspace was made
            if refusal:
                row, reading = self._not_run(unit, unit_run_id, refusal), Reading()
            else:
                row, reading = await self._launched(unit, unit_run_id, launch)
                self.brakes.budget.add(unit.agent, reading.cost_usd, row.ended_by)
        finally:
            left = () if launch.close_quickly() else await asyncio.to_thread(launch.close)
        if left:
            row = row.model_copy(update={"notes": (*row.notes, *left)})
        return row, reading

    async def _prepared(self, unit: Unit, unit_run_id: str) -> Launch:
        if self.launcher.is_quick:
            return self.launcher.prepare(unit, unit_run_id)
        return await self._pace.do(unit.agent, lambda: self.launcher.prepare(unit, unit_run_id))

    async def _launched(
        self, unit: Unit, unit_run_id: str, launch: Launch
    ) -> tuple[UnitResult, Reading]:
        trace = self._trace(unit, launch)
        started = self.ports.now()
        result = await self._process(unit, unit_run_id, launch, trace)
        trace.evidence.extend(trace.reader.finish(result.exit_code))
        reading = launch.complete(trace.reader.reading)
        log_file = None
        if launch.new_log_lines is not None:
            log_file = await asyncio.to_thread(self._scan_logs, unit, launch, trace)
        ended_by = result.ended_by
        if ended_by is EndedBy.STOPPED_EARLY and trace.over_budget:
            ended_by = EndedBy.COST_LIMIT
        cause = add_install_hint(result.start_error, self.providers[unit.agent])
        if ended_by is EndedBy.COST_LIMIT:
            cap = self.settings.max_unit_cost_usd
            cause = f"ended, since it had cost {cap:g} USD or more (--max-unit-cost-usd)"
        end = _run_end(ended_by, result.exit_code)
        verdict = judge(unit.case, trace.expectations, trace.evidence, reading, end)
        version = launch.cli_version or await self._version(unit, unit_run_id, launch, reading, end)
        record = RunRecord(
            unit=unit,
            unit_run_id=unit_run_id,
            command=launch.argv,
            ended_by=ended_by,
            exit_code=result.exit_code,
            duration_ms=result.duration_ms,
            survivors=result.survivors,
            started_at=format_time(started),
            ended_at=format_time(self.ports.now()),
            excerpt=make_excerpt(*trace.tails),
            error=explain_failure(unit.agent, verdict.outcome, reading, cause, trace.tails[1]),
            notes=(*launch.notes, *self._saved(launch, trace, end)),
            cli_version=version,
            model=launch.model,
            matched_log_file=log_file,
        )
        return build_row(record, verdict, reading, trace.evidence, self.redactor), reading

    def _saved(self, launch: Launch, trace: _Trace, end: RunEnd) -> tuple[str, ...]:
        """What is known of the part that an early stop left out."""
        if not end.stopped_early:
            return ()
        note = "stopped early: usage and cost of the whole run are not known"
        if launch.output_bytes is None:
            return (note,)
        unread = max(0, launch.output_bytes - trace.taken)
        self.unread_bytes += unread
        return (note, f"{unread} of {launch.output_bytes} bytes of the recording were not read")

    async def _version(
        self, unit: Unit, unit_run_id: str, launch: Launch, reading: Reading, end: RunEnd
    ) -> str | None:
        """Asked only of a live CLI that started and did not say it in its stream."""
        if reading.cli_version or self.settings.replay or not end.started or end.cancelled:
            return None
        argv = (launch.argv[0], *self.providers[unit.agent].version_arguments)
        return await self._versions.ask(unit.agent, argv, launch.cwd, launch.env, unit_run_id)

    def _trace(self, unit: Unit, launch: Launch) -> _Trace:
        provider = self.providers[unit.agent]
        expectations = expectations_for(
            unit.case, provider.name, drops_skill_files=provider.drops_skill_file_tokens
        )
        evidence = self._collector(unit, expectations)
        context = replace(
            launch.context,
            may_name=evidence.may_name,
            naming_lines=evidence.naming_lines,
            needs_mentions=evidence.needs_mentions,
            is_settled=partial(is_settled, unit.case, expectations, evidence),
        )
        return _Trace(expectations, evidence, provider.reader(context))

    def _collector(self, unit: Unit, expectations: Expectations) -> EvidenceCollector:
        return make_collector(
            unit.agent, expectations, count_subagents=self.settings.count_subagents
        )

    async def _process(
        self, unit: Unit, unit_run_id: str, launch: Launch, trace: _Trace
    ) -> ProcessResult:
        """Start the agent; its output is redacted, stored and read while it comes."""
        files = self.folder.transcript_files(unit_run_id)
        reader, evidence = trace.reader, trace.evidence
        stdout = TranscriptSink(
            files[0],
            self.redactor,
            lambda block: evidence.extend(reader.feed_block(block)),
            terminal_seen=lambda: reader.terminal_seen,
            settled=lambda: self._is_settled(unit, trace) or self._is_over_budget(unit, trace),
        )
        stderr = TranscriptSink(files[1], self.redactor, each_line(reader.feed_stderr))
        limits = ProcessLimits(
            wall_seconds=launch.wall_seconds or self.settings.timeout_for(unit.agent),
            idle_seconds=self.settings.idle_timeout_seconds,
        )
        result = await run_process(
            launch.argv,
            cwd=launch.cwd,
            env=launch.env,
            stdout=stdout,
            stderr=stderr,
            limits=limits,
            marker=unit_run_id,
            cancel=self.cancel,
            hurry=self.hurry,
        )
        trace.taken, trace.tails = stdout.taken, (stdout.tail, stderr.tail)
        return result

    def _is_settled(self, unit: Unit, trace: _Trace) -> bool:
        return self.settings.stop_early and is_settled(
            unit.case, trace.expectations, trace.evidence
        )

    def _is_over_budget(self, unit: Unit, trace: _Trace) -> bool:
        """True where the stream tells that the unit has cost as much as it may."""
        cap = self.settings.max_unit_cost_usd
        if cap is None or self.settings.replay or self.providers[unit.agent].cost_told != "during":
            return False
        trace.over_budget = (trace.reader.reading.cost_usd or 0.0) >= cap
        return trace.over_budget

    def _scan_logs(self, unit: Unit, launch: Launch, trace: _Trace) -> str | None:
        """Read what the session logs gained; diagnostics only unless logs may gate."""
        provider = self.providers[unit.agent]
        if launch.new_log_lines is None or provider.log_reader is None:
            return None
        found = self._collector(unit, trace.expectations)
        file = read_session_logs(
            launch.new_log_lines(), provider.log_reader, launch.context, self.redactor, found
        )
        if self.settings.gates_on_logs:
            trace.evidence.merge(found)
        return file

    def _not_run(self, unit: Unit, unit_run_id: str, cause: str) -> UnitResult:
        provider = self.providers[unit.agent]
        expectations = expectations_for(
            unit.case, unit.agent, drops_skill_files=provider.drops_skill_file_tokens
        )
        evidence = self._collector(unit, expectations)
        end = RunEnd(started=False, exit_code=None, not_run=True)
        verdict: Verdict = judge(unit.case, expectations, evidence, Reading(), end)
        record = RunRecord(unit, unit_run_id, (), EndedBy.NOT_STARTED, error=cause)
        return build_row(record, verdict, Reading(), evidence, self.redactor)


def _run_end(ended_by: EndedBy, exit_code: int | None) -> RunEnd:
    return RunEnd(
        started=ended_by is not EndedBy.START_FAILED,
        exit_code=exit_code,
        timed_out=ended_by.is_deadline,
        cancelled=ended_by in (EndedBy.CANCELLED, EndedBy.NOT_STARTED),
        limit=ended_by is EndedBy.COST_LIMIT,
        stopped_early=ended_by is EndedBy.STOPPED_EARLY,
    )
