"""Finds the pairs that need no run: what an agent can see is what the default branch measured.

Only a pass is reused. A failure is evidence that a reviewer has to see, and a history has none.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from routing_action.agents.provider import template_variable
from routing_action.corpus.baseline import Pair, Status
from routing_action.corpus.units import Unit
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy
from routing_action.results.model import UnitResult
from routing_action.results.past.history import HistoryLine
from routing_action.results.past.records import read_past
from routing_action.results.past.reused import find_standing, is_within, name_source
from routing_action.run.lifecycle import format_time
from routing_action.run.settings import RunSettings, agent_templates
from routing_action.run.unit import UnitRunner


async def find_reusable(units: Sequence[Unit], runner: UnitRunner) -> Mapping[Pair, HistoryLine]:
    """The line that stands for each pair that needs no run; the log says why others are run.

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
    past = read_past(settings.history).lines
    standing = find_standing(past, now, asked.days)
    recent = {line.pair: line for line in past if is_within(line, now, asked.days)}
    trials: dict[Pair, list[Unit]] = {}
    for unit in units:
        trials.setdefault((unit.case.case_id, unit.agent), []).append(unit)
    why = {pair: _find_obstacle(recent.get(pair), own, settings) for pair, own in trials.items()}
    why |= {
        pair: why[pair] or f"that did not always pass in the last {asked.days} days"
        for pair in trials.keys() - standing.keys()
    }
    known = {pair: own[0] for pair, own in trials.items() if not why[pair]}
    versions = {unit.agent: unit for unit in known.values()}
    told = {agent: await runner.ask_version(unit) for agent, unit in versions.items()}
    seed = settings.commit or format_time(now)
    for pair, unit in known.items():
        found = await _fingerprint(runner, unit, told[unit.agent])
        if found is None:
            why[pair] = _say_unknown(unit.agent, settings)
        elif found != standing[pair].fingerprint:
            why[pair] = "with another fingerprint: what the agent sees, or its version, has changed"
        elif is_drawn(pair, seed, asked.check):
            why[pair] = "that could be, run as a check (--reuse-check)"
    reused = {pair: standing[pair] for pair in trials if not why[pair]}
    causes = Counter(filter(None, why.values()))
    counts = (f"{number} {cause}" for cause, number in causes.items())
    text = "; ".join((f"{len(reused)} of {len(trials)} pairs", *counts))
    runner.lifecycle.note(f"reused from the history: {text}")
    return reused


def _find_obstacle(line: HistoryLine | None, units: Sequence[Unit], settings: RunSettings) -> str:
    """Why the newest line of these days cannot stand for a pair; "" where it may."""
    if line is None:
        return f"without a run in the last {settings.reuse.days} days"
    if not line.fingerprint:
        return _say_unknown(units[0].agent, settings)
    if not line.commit:
        return "measured at an unknown commit"
    return "with fewer trials there than now" if line.trials < len(units) else ""


def _say_unknown(agent: str, settings: RunSettings) -> str:
    if not agent_templates((agent,), settings.environ):
        return "without a fingerprint"
    template = template_variable(agent)
    return f"without a fingerprint ({agent} is started by {template}, its version is not known)"


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
