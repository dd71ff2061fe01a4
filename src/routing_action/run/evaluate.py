"""Judge a stored transcript by the same path as a live run; no agent is started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from routing_action.corpus.case import Case, Expectations, expectations_for
from routing_action.corpus.naming import is_file_token
from routing_action.errors import DocumentError
from routing_action.evidence.early_stop import is_settled
from routing_action.evidence.evidence import EvidenceCollector, Hit, explain_hit
from routing_action.evidence.evidence_collector import make_collector
from routing_action.evidence.gc_pause import no_collector
from routing_action.evidence.outcome import Outcome, RunEnd, decide_outcome
from routing_action.evidence.prefilter import Engine, Prefilter
from routing_action.evidence.reader_protocol import Provider, ReadContext
from routing_action.evidence.transcript import Reading, Usage, split_lines
from routing_action.evidence.verdict import Verdict, judge
from routing_action.run.output.capture import iterate_blocks


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a transcript proved; `verdict` is None where no case was given."""

    provider: Provider
    evidence: EvidenceCollector
    reading: Reading
    outcome: Outcome
    verdict: Verdict | None = None


def read_blocks(path: Path) -> Iterator[bytes]:
    """The lines of a transcript in blocks, as a live run reads them; its size does not matter."""
    try:
        yield from iterate_blocks(path)
    except OSError as error:
        raise DocumentError(
            f"cannot be read: {error.strerror}",
            file=str(path),
            remedy="name the transcript that a batch left under its transcripts/ folder",
        ) from None


def read_transcript(
    provider: Provider,
    stdout: Iterable[bytes],
    stderr: Iterable[bytes],
    *,
    context: ReadContext,
    evidence: EvidenceCollector,
    exit_code: int | None,
) -> Reading:
    """Feed a whole transcript, in blocks of lines, into a reader and collect its evidence."""
    reader = provider.reader(
        replace(
            context,
            may_name=evidence.may_name,
            naming_lines=evidence.naming_lines,
            needs_mentions=evidence.needs_mentions,
        )
    )
    with no_collector():
        for block in stdout:
            evidence.extend(reader.feed_block(block))
        for block in stderr:
            for line in split_lines(block):
                reader.feed_stderr(line)
    evidence.extend(reader.finish(exit_code))
    return reader.reading


def evaluate_tokens(
    provider: Provider,
    stdout: Iterable[bytes],
    stderr: Iterable[bytes],
    tokens: Iterable[str],
    *,
    end: RunEnd,
    context: ReadContext,
    count_subagents: bool = True,
    engine: Engine = "auto",
) -> Evaluation:
    """The best hit for each token, and how the run ended."""
    wanted = tuple(dict.fromkeys(tokens))
    evidence = EvidenceCollector(
        provider.name,
        wanted,
        count_subagents=count_subagents,
        prefilter=Prefilter(wanted, engine),
    )
    reading = read_transcript(
        provider, stdout, stderr, context=context, evidence=evidence, exit_code=end.exit_code
    )
    return Evaluation(provider, evidence, reading, decide_outcome(reading, end))


def evaluate_case(
    provider: Provider,
    stdout: Iterable[bytes],
    stderr: Iterable[bytes],
    case: Case,
    *,
    end: RunEnd,
    context: ReadContext,
    count_subagents: bool = True,
) -> Evaluation:
    """The verdict of a case on a transcript."""
    expectations = expectations_for(
        case, provider.name, drops_skill_files=provider.drops_skill_file_tokens
    )
    evidence = make_collector(provider.name, expectations, count_subagents=count_subagents)
    context = replace(context, is_settled=partial(is_settled, case, expectations, evidence))
    reading = read_transcript(
        provider, stdout, stderr, context=context, evidence=evidence, exit_code=end.exit_code
    )
    verdict = judge(case, expectations, evidence, reading, end)
    return Evaluation(provider, evidence, reading, verdict.outcome, verdict)


def describe_evaluation(evaluation: Evaluation) -> dict[str, Any]:
    """The JSON answer of `evaluate`."""
    hits: dict[str, Hit | None] = {
        token: evaluation.evidence.hits.get(token) for token in evaluation.evidence.tokens
    }
    reading = evaluation.reading
    answer: dict[str, Any] = {
        "token_hits": {token: describe_hit(hit) for token, hit in hits.items()},
        "run": {
            "outcome": evaluation.outcome.value,
            "recognised_events": reading.recognised,
            "unrecognised_events": reading.unrecognised,
        },
        "usage": _describe_usage(reading.usage),
        "cost_usd": reading.cost_usd,
        "catalogue": list(reading.catalogue or ()),
        "catalogue_known": reading.catalogue is not None,
        "loaded_skills": list(evaluation.evidence.loads),
        "cli_version": reading.cli_version,
        "model": reading.model,
    }
    if evaluation.verdict is not None:
        answer["verdict"] = _describe_verdict(evaluation.verdict)
    return answer


def describe_hit(hit: Hit | None) -> dict[str, Any] | None:
    """A hit as results.json and `evaluate` show it."""
    if hit is None:
        return None
    return {
        "tier": hit.tier,
        "best_score": hit.score,
        "source_kind": hit.source.value,
        "source_detail": hit.detail,
        "proof_line": hit.proof_line,
    }


def _describe_usage(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return {name: getattr(usage, name) for name in Usage.__slots__}


def _describe_verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": verdict.status.value,
        "failure_kind": verdict.failure_kind,
        "failure_category": verdict.failure_category.value if verdict.failure_category else None,
        "matched_evidence": list(verdict.matched),
        "missing_evidence": list(verdict.missing),
        "optional_hits": list(verdict.optional_hits),
        "disallowed_hits": list(verdict.disallowed_hits),
        "timed_out": verdict.timed_out,
    }


def explain_evaluation(evaluation: Evaluation, expectations: Expectations | None) -> str:
    """For people: each token's deciding line, the rule behind its tier, and what was needed."""
    needed = (
        {need.token: need.min_tier for need in expectations.requirements} if expectations else {}
    )
    reading = evaluation.reading
    counts = f"{reading.recognised} events recognised, {reading.unrecognised} not"
    lines = [f"{evaluation.provider.title}: {evaluation.outcome.value} ({counts})"]
    if reading.failure_message:
        lines.append(f"  the CLI said: {reading.failure_message}")
    if evaluation.verdict is not None:
        lines.append(_verdict_line(evaluation.verdict))
    for token in evaluation.evidence.tokens:
        hit = evaluation.evidence.hits.get(token)
        lines += _explain_token(token, hit, needed.get(token) or _default(token, expectations))
    if evaluation.evidence.loads:
        lines.append(f"  loaded in this order: {', '.join(evaluation.evidence.loads)}")
    return "\n".join(lines)


def _default(token: str, expectations: Expectations | None) -> int:
    """Without a case a skill is asked for at tier 1; with one, other tokens need nothing."""
    if expectations is not None:
        return 3
    return 2 if is_file_token(token) else 1


def _verdict_line(verdict: Verdict) -> str:
    kind = f" ({verdict.failure_kind})" if verdict.failure_kind else ""
    missing = f"; missing: {', '.join(verdict.missing)}" if verdict.missing else ""
    return f"verdict: {verdict.status.value}{kind}{missing}"


def _explain_token(token: str, hit: Hit | None, needed: int) -> list[str]:
    lines = [f"  {token}: {explain_hit(hit, needed)}"]
    if hit is not None:
        lines.append(f"    {hit.detail}: {hit.proof_line[:300]}")
    return lines
