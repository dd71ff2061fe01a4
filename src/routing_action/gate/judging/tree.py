"""What the working tree holds of cases and baseline, and the pairs that it lost or took away."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from routing_action.corpus.baseline import Baseline, Pair, find_entry, iterate_pairs
from routing_action.files.program import own_program
from routing_action.gate.edited_case import EditedCase
from routing_action.gate.judging.certainty import Certainty
from routing_action.results.measured import Measurement


@dataclass(frozen=True, slots=True)
class Tree:
    """What the working tree holds: its case ids and its baseline.

    `providers` are those that were asked for explicitly; None where the run itself decides.
    `partial`: they are a choice for this once, so the others are not gone. `all_agents`: where none
    were asked for, those of the deciding baseline must have results, as must all `planned` pairs.
    `unmeasured` maps a provider that could not be measured to the reason; `edited` are the cases
    whose judgement the change edits. What `allow_infra` could not measure is no regression.
    `certainty` is how sure it must be that a pair got worse.
    """

    case_ids: frozenset[str]
    baseline: Baseline
    providers: frozenset[str] | None = None
    unmeasured: dict[str, str] = field(default_factory=dict)
    partial: bool = False
    all_agents: bool = False
    edited: Mapping[str, EditedCase] = field(default_factory=dict)
    planned: frozenset[Pair] = frozenset()
    allow_infra: frozenset[str] = frozenset()
    certainty: Certainty = field(default_factory=Certainty)


def find_silent(seen: Iterable[Pair], measurement: Measurement, tree: Tree) -> set[Pair]:
    """The pairs of asked providers of which no leg reported at all, or only why it could not."""
    asked = tree.unmeasured if tree.providers is None else tree.providers
    silent = [agent for agent in asked if agent not in measurement.agents]
    cases = {case_id for case_id, _ in seen} if silent else set()
    return set(itertools.product(cases or tree.case_ids, silent))


def find_dropped(ref: Baseline, measurement: Measurement, tree: Tree) -> set[Pair]:
    """The pairs of agents that the merge base's baseline knows and that nobody measured."""
    if not tree.all_agents or tree.providers is not None or not measurement.agents:
        return set()
    known = {*measurement.agents, *tree.unmeasured}
    pairs = (pair for pair, _ in iterate_pairs(ref) if pair[0] in tree.case_ids)
    return {pair for pair in pairs if pair[1] not in known}


def find_removal(pair: Pair, tree: Tree, kept: set[str]) -> tuple[str, bool] | None:
    """Why a pair counts as removed, and whether that is red; None where it still stands."""
    case_id, agent = pair
    declared = find_entry(tree.baseline, pair) is not None
    if case_id not in tree.case_ids:
        if declared:
            return "the case was removed but its baseline entry stayed; remove both or none", True
        return "the case and its baseline entry were removed", False
    if tree.providers is not None and not tree.partial and agent not in tree.providers:
        if agent in kept:
            why = (
                f"{agent} is not asked for but has baseline entries; measure it again, or remove "
                f"them all: `{own_program()} baseline update --prune-agents {shlex.quote(agent)}`"
            )
            return why, True
        return f"{agent} was removed with all its baseline entries", False
    if not declared:
        return "its baseline entry was removed while the case still exists; put it back", True
    return None
