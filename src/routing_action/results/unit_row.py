"""Units as the full reports show them: lean rows that stream by, one after the other."""

from __future__ import annotations

import msgspec

from routing_action.results.measured import MeasuredHit, StatusName


class UnitUsage(msgspec.Struct, frozen=True, gc=False):
    """Tokens of one run; None where the CLI does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    premium_requests: float | None = None


class UnitRow(msgspec.Struct, frozen=True, gc=False):
    """One trial of one pair; times are ISO text in UTC, durations milliseconds, cost in USD."""

    unit_run_id: str
    agent: str
    case_id: str
    status: StatusName
    trial: int
    outcome: str
    timed_out: bool = False
    category: str = ""
    duration_ms: int = 0
    started_at_utc: str | None = None
    ended_at_utc: str | None = None
    ended_by: str = ""
    cost_usd: float | None = None
    exit_code: int | None = None
    cli_version: str | None = None
    model: str | None = None
    failure_kind: str | None = None
    error: str | None = None
    missing_evidence: tuple[str, ...] = ()
    matched_evidence: tuple[str, ...] = ()
    disallowed_hits: tuple[str, ...] = ()
    loaded_skills: tuple[str, ...] = ()
    subagent_skills: tuple[str, ...] = ()
    token_hits: dict[str, MeasuredHit | None] = msgspec.field(default_factory=dict)
    usage: UnitUsage | None = None
    command: tuple[str, ...] = ()
    output_excerpt: str = ""
    survivors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class TranscriptLine(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A line of a transcript, counted from 1; `decisive` where a hit was found in it."""

    number: int
    text: str
    decisive: bool


class UnitRecord(msgspec.Struct, frozen=True, gc=False):
    """A unit with what its transcript shows around the hits; empty where nothing is known."""

    row: UnitRow
    lines: tuple[TranscriptLine, ...] = ()
