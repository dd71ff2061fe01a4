"""Reads and judges a transcript, by the same path for a live run and for a stored one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from routing_action.agents.provider import Provider, ReadContext
from routing_action.corpus.case import Case, Expectations, expectations_for
from routing_action.corpus.naming import is_file_token
from routing_action.errors import DocumentError
from routing_action.evidence.evidence import EvidenceCollector, explain_hit
from routing_action.evidence.outcome import Outcome, RunEnd
from routing_action.evidence.tiers import canonical_base, canonical_call
from routing_action.evidence.transcript import Reading
from routing_action.evidence.verdict import Verdict, is_settled, judge
from routing_action.run.output.capture import iterate_lines
from routing_action.run.rows import token_hit


class CaseJudge:
    """Reads one run of a case, collects its evidence, and judges it at the end."""

    def __init__(
        self, provider: Provider, case: Case, context: ReadContext, *, count_subagents: bool = True
    ) -> None:
        """Nothing is read yet: feed the reader, and the evidence with what it gives."""
        self.case = case
        self.expectations = expectations_for(
            case, provider.name, drops_skill_files=provider.drops_skill_file_tokens
        )
        self.new_collector = partial(
            EvidenceCollector,
            provider.name,
            self.expectations.tokens,
            self.expectations.any_tokens,
            count_subagents=count_subagents,
            skills=context.skills,
        )
        self.evidence = self.new_collector()
        may_name = self.evidence.prefilter.may_name
        self.reader = provider.reader(replace(context, may_name=may_name, prompt=case.prompt))

    def read(
        self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit_code: int | None
    ) -> Reading:
        """What a stored run reads as; the streams are lines."""
        for line in stdout:
            self.evidence.extend(self.reader.feed(line))
        for line in stderr:
            self.reader.feed_stderr(line)
        self.evidence.extend(self.reader.finish(exit_code))
        return self.reader.reading

    def is_settled(self) -> bool:
        """Whether nothing that may still come changes the verdict but how the run ends."""
        return is_settled(self.case, self.expectations, self.evidence)

    def judge(self, reading: Reading, end: RunEnd) -> Verdict:
        """The verdict on what was read."""
        return judge(self.case, self.expectations, self.evidence, reading, end)


# ---- a stored transcript


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a transcript proved; `verdict` and `expectations` are None where no case was given."""

    provider: Provider
    evidence: EvidenceCollector
    reading: Reading
    outcome: Outcome
    verdict: Verdict | None = None
    expectations: Expectations | None = None


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a transcript, as a live run reads them; its size does not matter."""
    try:
        yield from iterate_lines(path)
    except OSError as error:
        raise DocumentError(
            f"cannot be read: {error.strerror}",
            file=str(path),
            remedy="name the transcript that a batch left under its transcripts/ folder",
        ) from None


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
    """The verdict of a case on a transcript; the streams are lines."""
    run = CaseJudge(provider, case, context, count_subagents=count_subagents)
    reading = run.read(stdout, stderr, end.exit_code)
    verdict = run.judge(reading, end)
    return Evaluation(provider, run.evidence, reading, verdict.outcome, verdict, run.expectations)


def evaluate_tokens(
    provider: Provider,
    stdout: Iterable[bytes],
    stderr: Iterable[bytes],
    tokens: Iterable[str],
    *,
    end: RunEnd,
    context: ReadContext,
    count_subagents: bool = True,
) -> Evaluation:
    """The best hit for each token, and how the run ended; the streams are lines."""
    # A token is any text: no rule of case files holds for it.
    case = Case.model_construct(case_id="", prompt="", optional_skills=tuple(tokens))
    found = evaluate_case(
        provider, stdout, stderr, case, end=end, context=context, count_subagents=count_subagents
    )
    return replace(found, verdict=None, expectations=None)


def describe_evaluation(evaluation: Evaluation) -> dict[str, Any]:
    """The JSON answer of `evaluate`."""
    reading, evidence = evaluation.reading, evaluation.evidence
    answer: dict[str, Any] = {
        "token_hits": {
            token: hit.model_dump(mode="json") if hit else None
            for token, hit in ((one, token_hit(evidence.hits.get(one))) for one in evidence.tokens)
        },
        "run": {
            "outcome": evaluation.outcome.value,
            "recognised_events": reading.recognised,
            "unrecognised_events": reading.unrecognised,
        },
        "usage": asdict(reading.usage) if reading.usage else None,
        "cost_usd": reading.cost_usd,
        "catalogue": list(reading.catalogue or ()),
        "catalogue_known": reading.catalogue is not None,
        "loaded_skills": list(evidence.loads),
        "cli_version": reading.cli_version,
        "model": reading.model,
    }
    if evaluation.verdict is not None:
        answer["verdict"] = _describe_verdict(evaluation.verdict)
    return answer


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
        "cause": verdict.cause or None,
    }


def explain_evaluation(evaluation: Evaluation) -> str:
    """For people: each token's deciding line, the rule behind its tier, and what was needed."""
    reading, evidence = evaluation.reading, evaluation.evidence
    counts = f"{reading.recognised} events recognised, {reading.unrecognised} not"
    lines = [f"{evaluation.provider.title}: {evaluation.outcome.value} ({counts})"]
    if reading.failure_message:
        lines.append(f"  the CLI said: {reading.failure_message}")
    if evaluation.verdict is not None:
        lines.append(_verdict_line(evaluation.verdict))
    needed = _needed_tiers(evidence.tokens, evaluation.expectations)
    for token in evidence.tokens:
        hit = evidence.hits.get(token)
        lines.append(f"  {token}: {explain_hit(hit, needed[token])}")
        if hit is not None:
            lines.append(f"    {hit.detail}: {hit.proof_line[:300]}")
    if evidence.loads:
        lines.append(f"  loaded in this order: {', '.join(evidence.loads)}")
    return "\n".join(lines)


def _needed_tiers(tokens: Iterable[str], expectations: Expectations | None) -> dict[str, int]:
    """Without a case a skill is asked for at tier 1; with one, other tokens need nothing."""
    if expectations is None:
        return {token: 2 if is_file_token(token) else 1 for token in tokens}
    needs = {need.token: need.min_tier for need in expectations.requirements}
    return {token: needs.get(token, 3) for token in tokens}


def _verdict_line(verdict: Verdict) -> str:
    kind = f" ({verdict.failure_kind})" if verdict.failure_kind else ""
    missing = f"; missing: {', '.join(verdict.missing)}" if verdict.missing else ""
    cause = f"\n  {verdict.cause}" if verdict.cause else ""
    return f"verdict: {verdict.status.value}{kind}{missing}{cause}"


# ---- `run --self-test`


def tier_fixtures(agent: str) -> tuple[tuple[str, str, str, int, int], ...]:
    """Name, token, line, score and the tier that is due, for one provider.

    A hit, an attribution miss, a weak line and a backslash path.
    """
    base = agent in ("codex", "copilot")
    hit = canonical_base("/repo/skills/foo/SKILL.md") if base else canonical_call("foo")
    miss = canonical_base("/repo/skills/foobar") if base else canonical_call("foobar")
    windows = r"Base directory for this skill: C:\Users\dev\.agents\skills\foo"
    return (
        ("proven load", "foo", hit, 1000, 1),
        ("load of a longer name", "foo", miss, 0, 2),
        ("mere mention", "foo", "I could use foo here.", 10, 3),
        ("backslash path", "foo", windows, 700, 1 if base else 2),
        ("backslash path of another", "oo", windows, 0, 2 if base else 3),
    )


def run_self_test(
    agents: Iterable[str], compute_tier: Callable[[str, str, str, int], int]
) -> list[str]:
    """How the tier rules differ from built-in fixtures, one text each; empty where all hold."""
    differences = []
    for agent in agents:
        for name, token, line, score, due in tier_fixtures(agent):
            got = compute_tier(agent, token, line, score)
            if got != due:
                differences.append(
                    f"{agent}: {name}: token {token!r}\n  line {line}\n- tier {due}\n+ tier {got}"
                )
    return differences
