"""From a judged run to its row of results.json; everything that is written is redacted here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from routing_action.corpus.baseline import Status
from routing_action.corpus.units import Unit
from routing_action.evidence.evidence import EvidenceCollector, Hit
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy, Reading, SourceKind
from routing_action.evidence.verdict import Verdict
from routing_action.files.redaction import Redactor
from routing_action.results.model import TokenHit, UnitResult, UsageTotals


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What is known of a run beside its verdict, by the names that it has in the row."""

    command: tuple[str, ...]
    ended_by: EndedBy
    exit_code: int | None = None
    duration_ms: int = 0
    survivors: tuple[str, ...] = ()
    started_at_utc: str | None = None
    ended_at_utc: str | None = None
    output_excerpt: str = ""
    error: str | None = None
    notes: tuple[str, ...] = ()
    cli_version: str | None = None
    model: str | None = None
    matched_log_file: str | None = None
    log_hits: Mapping[str, Hit] = field(default_factory=dict)
    """What session logs show, and what does not count."""
    sha256s: tuple[str | None, str | None] = (None, None)
    """Those of the transcripts of stdout and stderr."""


def build_row(
    unit: Unit,
    unit_run_id: str,
    run: RunRecord,
    verdict: Verdict,
    reading: Reading,
    evidence: EvidenceCollector,
    redactor: Redactor,
) -> UnitResult:
    """The row of one unit, with every text redacted.

    What a run that was stopped early had used until then says nothing about the whole.
    """
    stopped = run.ended_by is EndedBy.STOPPED_EARLY
    found = {
        token: hit or _uncounted(run.log_hits.get(token)) for token, hit in verdict.hits.items()
    }
    if verdict.status is Status.FAIL:
        found = {**found, **evidence.loads_beside(found)}

    def clean(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(redactor.text, texts))

    return UnitResult(
        unit_run_id=unit_run_id,
        agent=unit.agent,
        case_id=unit.case.case_id,
        category=unit.case.category,
        status=verdict.status,
        expected_skill=unit.case.expected_skill,
        source=_source(verdict),
        matched_evidence=verdict.matched,
        missing_evidence=verdict.missing,
        token_hits={
            token if token in verdict.hits else redactor.text(token): token_hit(hit, redactor)
            for token, hit in found.items()
        },
        tool_use_proof_lines=_proof_lines(verdict, redactor),
        matched_log_file=run.matched_log_file,
        optional_hits=verdict.optional_hits,
        disallowed_hits=verdict.disallowed_hits,
        disallowed_seen=verdict.disallowed_seen,
        loaded_skills=clean(evidence.loads),
        subagent_skills=clean(evidence.subagent_loads),
        failure_kind=verdict.failure_kind,
        failure_category=verdict.failure_category,
        timed_out=verdict.timed_out,
        duration_ms=run.duration_ms,
        command=clean(run.command),
        exit_code=run.exit_code,
        output_excerpt=redactor.text(run.output_excerpt),
        error=redactor.text(run.error or verdict.cause) or None,
        trial=unit.trial,
        outcome=verdict.outcome,
        ended_by=run.ended_by,
        survivors=tuple(redactor.text(one)[:60] for one in run.survivors),
        recognised_events=reading.recognised,
        unrecognised_events=reading.unrecognised,
        catalogue=reading.catalogue,
        usage=UsageTotals(**asdict(reading.usage)) if reading.usage and not stopped else None,
        cost_usd=None if stopped else reading.cost_usd,
        cli_version=reading.cli_version or run.cli_version,
        model=reading.model or run.model,
        started_at_utc=run.started_at_utc,
        ended_at_utc=run.ended_at_utc,
        notes=clean((*run.notes, *reading.notes)),
        stdout_sha256=run.sha256s[0],
        stderr_sha256=run.sha256s[1],
    )


def _uncounted(hit: Hit | None) -> Hit | None:
    """A log's hit as a diagnosis, which says that it is no more."""
    note = "not counted: units ran in parallel"
    return hit and replace(hit, detail=f"{hit.detail}; {note}")


def token_hit(hit: Hit | None, redactor: Redactor | None = None) -> TokenHit | None:
    """A hit as results.json shows it."""
    if hit is None:
        return None
    return TokenHit.model_validate(
        {
            "best_score": hit.score,
            "tier": hit.tier,
            "source_kind": hit.source,
            "source_detail": hit.detail,
            "proof_line": redactor.text(hit.proof_line) if redactor else hit.proof_line,
        }
    )


def _source(verdict: Verdict) -> Literal["cli_output", "log_fallback", "none"]:
    """Where the deciding evidence came from: the CLI's output, a log alone, or nowhere."""
    sources = {hit.source for hit in verdict.hits.values() if hit is not None}
    if SourceKind.CLI_OUTPUT in sources:
        return "cli_output"
    return "log_fallback" if sources else "none"


def _proof_lines(verdict: Verdict, redactor: Redactor) -> tuple[str, ...]:
    """The proof of every requirement that reached Tier 2, each line once."""
    lines = [hit.proof_line for hit in verdict.hits.values() if hit is not None and hit.tier <= 2]
    return tuple(dict.fromkeys(redactor.text(line) for line in lines))


def make_excerpt(*tails: bytes) -> str:
    """The first of some ends of streams that holds anything, as text."""
    for tail in tails:
        text = tail.decode("utf-8", "replace").replace("\x00", "")
        if text.strip():
            return text
    return ""


def explain_failure(
    agent: str, outcome: Outcome, reading: Reading, cause: str, stderr: bytes
) -> str | None:
    """One sentence for a person: what the CLI or the harness said, and a hint where one helps."""
    if cause:
        return cause
    if outcome in (Outcome.NO_OUTPUT, Outcome.CLI_MISSING):
        last = " ".join(make_excerpt(stderr).split())[-300:]
        if last:
            return f"{agent} printed no answer; its standard error ends: {last}"
        return f"{agent} printed nothing, neither an answer nor an error"
    if outcome is Outcome.SCHEMA_DRIFT:
        seen = reading.recognised + reading.unrecognised
        return (
            f"{reading.unrecognised} of {seen} lines were not recognised: "
            f"this version of {agent} prints another format than its reader knows"
        )
    if outcome is Outcome.NOT_MEASURABLE:
        return f"what {agent} printed is of a kind in which no load of a skill shows"
    if outcome is Outcome.TIMEOUT and not (reading.is_answered or reading.failure_message):
        return "nothing came from the model before the deadline"
    if outcome is Outcome.KILLED and reading.unfinished:
        agents = "1 agent" if reading.unfinished == 1 else f"{reading.unfinished} agents"
        return f"{agents} in the background had not ended when the output did"
    return reading.failure_message or None
