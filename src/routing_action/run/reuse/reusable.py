"""Finds the pairs that need no run: what an agent can see is what the default branch measured.

Only a pass is reused. A failure is evidence that a reviewer has to see, and a history has none.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence

from routing_action.corpus.baseline import Pair, Status
from routing_action.corpus.units import Unit
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy
from routing_action.results.model import UnitResult
from routing_action.results.past.history import HistoryLine
from routing_action.results.past.records import read_past
from routing_action.results.past.reused import find_standing, name_source
from routing_action.run.lifecycle import format_time
from routing_action.run.unit import UnitRunner


async def find_reusable(units: Sequence[Unit], runner: UnitRunner) -> Mapping[Pair, HistoryLine]:
    """The line that stands for each pair that needs no run; the log says how many there are.

    The agents' CLIs are asked for their version. Raises HarnessError where the history cannot be
    read.
    """
    settings = runner.settings
    asked = settings.reuse
    if asked.mode == "never" or settings.replay is not None:
        return {}
    if settings.history is None:
        runner.lifecycle.note("nothing is reused: no history was given (--history DIR)")
        return {}
    now = runner.parts.ports.now()
    standing = find_standing(read_past(settings.history).lines, now, asked.days)
    trials: dict[Pair, list[Unit]] = {}
    for unit in units:
        trials.setdefault((unit.case.case_id, unit.agent), []).append(unit)
    known = {pair: own[0] for pair, own in trials.items() if _has_enough(standing.get(pair), own)}
    versions = {unit.agent: unit for unit in known.values()}
    told = {agent: await runner.ask_version(unit) for agent, unit in versions.items()}
    same = {
        pair: standing[pair]
        for pair, unit in known.items()
        if standing[pair].fingerprint == await _fingerprint(runner, unit, told[unit.agent])
    }
    seed = settings.commit or format_time(now)
    drawn = {pair for pair in same if is_drawn(pair, seed, asked.check)}
    again = f"; {len(drawn)} more could be, and are run as a check" if drawn else ""
    count = f"{len(same) - len(drawn)} of {len(trials)} pairs"
    runner.lifecycle.note(f"reused from the history: {count}{again}")
    return {pair: line for pair, line in same.items() if pair not in drawn}


def _has_enough(line: HistoryLine | None, units: Sequence[Unit]) -> bool:
    return line is not None and line.trials >= len(units)


async def _fingerprint(runner: UnitRunner, unit: Unit, version: str | None) -> str | None:
    if version is None:
        return None
    return await asyncio.to_thread(runner.parts.launcher.fingerprint, unit, version)


def is_drawn(pair: Pair, seed: str, percent: int) -> bool:
    """Whether a pair is one of those that are measured all the same; the same for the same seed."""
    lot = hashlib.sha256("\0".join((seed, *pair)).encode()).digest()
    return int.from_bytes(lot[:8], "big") * 100 < percent * 2**64


def build_reused_row(unit: Unit, unit_run_id: str, line: HistoryLine) -> UnitResult:
    """The row of a unit that is not run: a pass without evidence, which its source has."""
    source = name_source(line)
    return UnitResult(
        unit_run_id=unit_run_id,
        agent=unit.agent,
        case_id=unit.case.case_id,
        category=unit.case.category,
        status=Status.PASS,
        expected_skill=unit.case.expected_skill,
        source="none",
        matched_evidence=(),
        missing_evidence=(),
        token_hits={},
        tool_use_proof_lines=(),
        matched_log_file=None,
        optional_hits=(),
        disallowed_hits=(),
        loaded_skills=line.loaded,
        failure_kind=None,
        failure_category=None,
        timed_out=False,
        duration_ms=0,
        command=(),
        exit_code=None,
        output_excerpt="",
        error=None,
        trial=unit.trial,
        outcome=Outcome.COMPLETED,
        ended_by=EndedBy.NOT_STARTED,
        survivors=(),
        recognised_events=0,
        unrecognised_events=0,
        catalogue=None,
        usage=None,
        cost_usd=0.0,
        cli_version=line.cli_version,
        model=line.model,
        notes=(f"{source}: nothing was run, and the transcript is there",),
        fingerprint=line.fingerprint,
        reused_from=source,
    )
