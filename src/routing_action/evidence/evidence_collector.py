"""Makes what collects the evidence of one run."""

from __future__ import annotations

import functools

from routing_action.corpus.case import Expectations
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.prefilter import Prefilter

_PREFILTERS_KEPT = 256


def make_collector(
    agent: str, expectations: Expectations, *, count_subagents: bool
) -> EvidenceCollector:
    """An empty collector for what a case expects of an agent."""
    tokens, words = expectations.tokens, expectations.any_tokens
    return EvidenceCollector(
        agent,
        tokens,
        words,
        count_subagents=count_subagents,
        prefilter=_prefilter((*tokens, *words)),
    )


@functools.lru_cache(_PREFILTERS_KEPT)
def _prefilter(tokens: tuple[str, ...]) -> Prefilter:
    """Made once for many units: it holds nothing of a run, and many cases are about one skill."""
    return Prefilter(tokens)
