"""Pairs by case and then by provider, so that what concerns whole cases is done once for each."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from routing_action.corpus.baseline import Baseline, Pair
from routing_action.results.measured import MeasuredPair

PairTable = Mapping[str, Mapping[str, MeasuredPair | None]]
"""Pairs by case id, then by provider; None where a pair has no result."""

_NONE: Mapping[str, MeasuredPair | None] = {}


def add_pairs(table: PairTable, pairs: Collection[Pair]) -> PairTable:
    """The table with these pairs too; those that it lacks have no result."""
    if not pairs:
        return table
    found = {case_id: dict(agents) for case_id, agents in table.items()}
    for case_id, agent in pairs:
        found.setdefault(case_id, {}).setdefault(agent, None)
    return found


def find_beyond(baseline: Baseline, table: PairTable) -> set[Pair]:
    """The pairs of a baseline that the table does not hold."""
    beyond: set[Pair] = set()
    for case_id, entries in baseline.items():
        agents = table.get(case_id, _NONE)
        for agent in entries:
            if agent not in agents:
                beyond.add((case_id, agent))
    return beyond
