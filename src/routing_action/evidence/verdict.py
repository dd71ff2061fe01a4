"""From evidence and the way a run ended to a verdict: status, failure kind and category.

Source of the rules: docs/reference/evidence-rules.md, 'Status' and 'Kinds'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from routing_action.corpus.baseline import Status
from routing_action.corpus.case import Case, Expectations, Origin, Requirement
from routing_action.corpus.naming import is_skill_file, same_skill
from routing_action.evidence.evidence import EvidenceCollector, Hit
from routing_action.evidence.outcome import Outcome, RunEnd, decide_outcome
from routing_action.evidence.transcript import LineKind, Reading
from routing_action.evidence.unavailable import find_unsettled, is_offered


class FailureCategory(StrEnum):
    """The coarse class of what went wrong; `parse` is deferred (decision record 0003)."""

    TIMEOUT = "timeout"
    TRANSPORT = "transport"
    ASSERTION = "assertion"


class FailureKind(StrEnum):
    """Why a run did not pass, beside the names of the infra outcomes."""

    TIMEOUT = "timeout"
    LIMIT = "limit"
    CONTEXT = "context"
    MIXED = "mixed"
    DISALLOWED_HIT = "disallowed_hit"
    INVOKED_BUT_NOT_LOADED = "invoked_but_not_loaded"
    WRONG_COPY = "wrong_copy"
    SKILL_UNAVAILABLE = "skill_unavailable"
    AMBIGUOUS_SKILL = "ambiguous_skill"
    OPTIONAL_ONLY = "optional_only"
    WEAK_EVIDENCE_ONLY = "weak_evidence_only"
    EVIDENCE_TOO_WEAK = "evidence_too_weak"
    MISSING_REQUIRED = "missing_required"
    ANSWERED_DIRECTLY = "answered_directly"
    SKILL_NOT_LOADED = "skill_not_loaded"
    MISSING_SKILL_FILE_EVIDENCE = "missing_skill_file_evidence"
    MISSING_ACTIVITY_EVIDENCE = "missing_activity_evidence"
    MIXED_EVIDENCE_MISSING = "mixed_evidence_missing"


_LEGACY = frozenset(
    {
        FailureKind.SKILL_NOT_LOADED,
        FailureKind.MISSING_SKILL_FILE_EVIDENCE,
        FailureKind.MISSING_ACTIVITY_EVIDENCE,
    }
)
_OWN_KIND = (Outcome.TIMEOUT, Outcome.LIMIT, Outcome.CONTEXT)
_SPECIFIC = frozenset(
    {
        FailureKind.DISALLOWED_HIT,
        FailureKind.INVOKED_BUT_NOT_LOADED,
        FailureKind.WRONG_COPY,
        FailureKind.SKILL_UNAVAILABLE,
        FailureKind.AMBIGUOUS_SKILL,
    }
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one run; `matched` and `missing` list requirement tokens in order.

    `cause` says, for people, what a skill that could not be had or told apart failed on.
    """

    status: Status
    outcome: Outcome
    failure_kind: str | None
    failure_category: FailureCategory | None
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    hits: dict[str, Hit | None]
    optional_hits: tuple[str, ...]
    disallowed_hits: tuple[str, ...]
    disallowed_seen: tuple[str, ...]
    timed_out: bool
    cause: str = ""


def judge(
    case: Case,
    expectations: Expectations,
    evidence: EvidenceCollector,
    reading: Reading,
    end: RunEnd,
) -> Verdict:
    """Judge one run of a case from its evidence and the way it ended."""
    outcome = decide_outcome(reading, end)
    if outcome is Outcome.COMPLETED and case.depends_on_absence and not reading.shows_loads:
        outcome = Outcome.NOT_MEASURABLE  # what cannot show is not absent
    hits = {need.token: evidence.best_of(need.names) for need in expectations.requirements}
    unmet = [need for need in expectations.requirements if not _is_met(need, hits)]
    activity_missing = bool(expectations.any_tokens) and not (
        evidence.activity or evidence.any_hits
    )
    gating = _seen(expectations.disallowed, evidence, case.disallowed_min_tier)
    hits |= {token: evidence.best_of(expectations.disallowed[token]) for token in gating}
    groups = {need.token: need.names for need in unmet if need.is_skill}
    groups |= expectations.disallowed
    open_names = find_unsettled(groups, evidence, reading)
    unproven = not open_names.keys().isdisjoint(expectations.disallowed)
    status = _decide_status(
        case, outcome, bool(unmet or activity_missing), bool(gating) or end.cut, unproven=unproven
    )
    facts = _Facts(
        expectations, evidence, reading, outcome, hits, unmet, activity_missing, gating, open_names
    )
    return Verdict(
        status=status,
        outcome=outcome,
        failure_kind=None if status is Status.PASS else _kind(status, facts),
        failure_category=_category(status, end.timed_out),
        matched=tuple(n.token for n in expectations.requirements if n not in unmet),
        missing=_missing(unmet, activity_missing),
        hits=hits,
        optional_hits=_seen(expectations.optional, evidence, 2),
        disallowed_hits=gating,
        disallowed_seen=_seen(expectations.disallowed, evidence, 3),
        timed_out=end.timed_out,
        cause="; ".join(cause for _, cause in open_names.values()),
    )


def _is_met(need: Requirement, hits: dict[str, Hit | None]) -> bool:
    hit = hits[need.token]
    return hit is not None and hit.tier <= need.min_tier


def _missing(unmet: list[Requirement], activity_missing: bool) -> tuple[str, ...]:
    names = tuple(need.token for need in unmet)
    return (*names, "required_any_evidence") if activity_missing else names


def _seen(
    groups: Mapping[str, tuple[str, ...]], evidence: EvidenceCollector, tier: int
) -> tuple[str, ...]:
    """The canonical tokens whose best hit, under any of their names, reaches the tier."""
    found = ((token, evidence.best_of(names)) for token, names in groups.items())
    return tuple(token for token, hit in found if hit is not None and hit.tier <= tier)


def _decide_status(
    case: Case, outcome: Outcome, unmet: bool, ruled_out: bool, *, unproven: bool
) -> Status:
    if ruled_out:
        return Status.FAIL
    if not (unmet or unproven) and (not case.depends_on_absence or outcome is Outcome.COMPLETED):
        return Status.PASS
    return Status.INFRA_ERROR if outcome.is_infra else Status.FAIL


def _category(status: Status, timed_out: bool) -> FailureCategory | None:
    if timed_out:
        return FailureCategory.TIMEOUT
    if status is Status.INFRA_ERROR:
        return FailureCategory.TRANSPORT
    return FailureCategory.ASSERTION if status is Status.FAIL else None


@dataclass(frozen=True, slots=True)
class _Facts:
    expectations: Expectations
    evidence: EvidenceCollector
    reading: Reading
    outcome: Outcome
    hits: dict[str, Hit | None]
    unmet: list[Requirement]
    activity_missing: bool
    gating: tuple[str, ...]
    open_names: dict[str, tuple[str, str]]


def _kind(status: Status, facts: _Facts) -> str:
    if status is Status.INFRA_ERROR:
        return facts.outcome.value
    kinds = _kinds(facts)
    if facts.outcome in _OWN_KIND and not kinds & _SPECIFIC:
        return facts.outcome.value
    if len(kinds) > 1:
        legacy = kinds <= _LEGACY
        return (FailureKind.MIXED_EVIDENCE_MISSING if legacy else FailureKind.MIXED).value
    (kind,) = kinds
    return kind.value


def _kinds(facts: _Facts) -> set[FailureKind]:
    """Every kind that applies; what another one already explains is left out."""
    kinds = {_requirement_kind(need, facts) for need in _unexplained(facts.unmet)}
    if facts.gating:
        kinds.add(FailureKind.DISALLOWED_HIT)
    elif not kinds:
        kinds |= {FailureKind(kind) for kind, _ in facts.open_names.values()}
    if facts.activity_missing and not kinds:
        kinds.add(FailureKind.MISSING_ACTIVITY_EVIDENCE)
    return kinds


def _unexplained(unmet: list[Requirement]) -> list[Requirement]:
    """Without the SKILL.md tokens of skills that are themselves unmet."""
    skills = [need for need in unmet if need.is_skill]
    return [
        need
        for need in unmet
        if need.is_skill
        or not is_skill_file(need.token)
        or not any(_same_file(need.token, skill.token) for skill in skills)
    ]


def _same_file(file_token: str, skill: str) -> bool:
    parts = file_token.replace("\\", "/").split("/")
    return len(parts) > 1 and same_skill(skill, parts[-2])


def _requirement_kind(need: Requirement, facts: _Facts) -> FailureKind:
    hit = facts.hits[need.token]
    if need.token in facts.open_names:
        return FailureKind(facts.open_names[need.token][0])
    if hit is not None and hit.kind is LineKind.ATTEMPT:
        return FailureKind.INVOKED_BUT_NOT_LOADED
    if any(name in facts.evidence.wrong_copies for name in need.names):
        return FailureKind.WRONG_COPY
    own = (one for name in need.names for one in facts.evidence.skills.all_names(name))
    told = need.is_skill and facts.reading.catalogue is not None
    if told and not is_offered(facts.reading, (*need.names, *own)):
        return FailureKind.SKILL_UNAVAILABLE
    if hit is not None and hit.tier < 3:
        return FailureKind.EVIDENCE_TOO_WEAK
    return _absent_kind(need, hit, facts)


def _absent_kind(need: Requirement, hit: Hit | None, facts: _Facts) -> FailureKind:
    """The kind of a requirement that has a weak hit at best."""
    if need.is_skill and _seen(facts.expectations.optional, facts.evidence, 1):
        return FailureKind.OPTIONAL_ONLY
    if hit is not None:
        return FailureKind.WEAK_EVIDENCE_ONLY
    if facts.reading.has_text and facts.reading.tool_events == 0 and not facts.evidence.activity:
        return FailureKind.ANSWERED_DIRECTLY
    if need.origin in (Origin.LEGACY, Origin.SKILL_FILE):
        return (
            FailureKind.SKILL_NOT_LOADED
            if need.is_skill
            else FailureKind.MISSING_SKILL_FILE_EVIDENCE
        )
    return FailureKind.MISSING_REQUIRED


# ---- stopping early


def is_settled(case: Case, expectations: Expectations, evidence: EvidenceCollector) -> bool:
    """True where whatever may still come leaves status, failure kind and every tier as they are.

    Every requirement has the best tier that it can get, every optional skill was seen, and
    nothing depends on absence: what must not happen can happen until the end.
    Source of the rules: docs/reference/evidence-rules.md, 'Stopping early'.
    """
    return (
        not case.depends_on_absence
        and all(_has_its_best(need, evidence) for need in expectations.requirements)
        and len(_seen(expectations.optional, evidence, 2)) == len(expectations.optional)
        and (not expectations.any_tokens or evidence.activity or bool(evidence.any_hits))
    )


def _has_its_best(need: Requirement, evidence: EvidenceCollector) -> bool:
    """No evidence for a file is better than Tier 2."""
    hit = evidence.best_of(need.names)
    best = 1 if need.is_skill else 2
    return hit is not None and hit.tier <= min(best, need.min_tier)
