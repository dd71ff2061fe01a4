"""Tells when the verdict of a run that is still going can no longer change.

Source of the rules: docs/explanation/evidence.md, 'Stopping early'.
"""

from __future__ import annotations

from routing_action.corpus.case import Case, Expectations, Requirement
from routing_action.evidence.evidence import EvidenceCollector


def is_settled(case: Case, expectations: Expectations, evidence: EvidenceCollector) -> bool:
    """True where whatever may still come leaves status, failure kind and every tier as they are.

    Every requirement has the best tier that it can get, every optional skill was seen, and
    nothing depends on absence: what must not happen can happen until the end.
    """
    return (
        not case.depends_on_absence
        and all(_is_settled(need, evidence) for need in expectations.requirements)
        and all(_is_seen(names, evidence) for names in expectations.optional.values())
        and (not expectations.any_tokens or evidence.activity or bool(evidence.any_hits))
    )


def _is_settled(need: Requirement, evidence: EvidenceCollector) -> bool:
    """No evidence for a file is better than Tier 2."""
    hit = evidence.best_of(need.names)
    best = 1 if need.is_skill else 2
    return hit is not None and hit.tier <= min(best, need.min_tier)


def _is_seen(names: tuple[str, ...], evidence: EvidenceCollector) -> bool:
    hit = evidence.best_of(names)
    return hit is not None and hit.tier <= 2
