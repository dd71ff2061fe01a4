"""Results against two baselines: the delta, row by row.

`ref` is the baseline at the merge base, which decides; `current` the one in the working tree,
which can only declare new pairs. Source of the rules: docs/explanation/gate.md.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from routing_action.corpus.baseline import (
    Baseline,
    BaselineEntry,
    Pair,
    Status,
    find_entry,
    iterate_pairs,
)
from routing_action.files.program import own_program
from routing_action.gate.edited_case import EditedCase
from routing_action.results.measured import MeasuredPair, Measurement, When


class DeltaKind(StrEnum):
    """The words of a delta; each has an entry in docs/reference/delta-words.md."""

    MISSING = "MISSING"
    UNDECLARED = "UNDECLARED"
    REMOVED = "REMOVED"
    REGRESSION = "REGRESSION"
    CASE_EDITED = "CASE EDITED"
    NEW = "NEW"
    INFRA = "INFRA"
    CHANGED = "CHANGED"
    IMPROVEMENT = "IMPROVEMENT"
    UNMEASURED = "UNMEASURED"
    OK = "OK"


_ORDER = {kind: place for place, kind in enumerate(DeltaKind)}
_TABLE = {
    (Status.PASS, Status.FAIL): DeltaKind.REGRESSION,
    (Status.PASS, Status.INFRA_ERROR): DeltaKind.REGRESSION,
    (Status.FAIL, Status.PASS): DeltaKind.IMPROVEMENT,
    (Status.FAIL, Status.INFRA_ERROR): DeltaKind.INFRA,
    (Status.INFRA_ERROR, Status.PASS): DeltaKind.IMPROVEMENT,
    (Status.INFRA_ERROR, Status.FAIL): DeltaKind.CHANGED,
}


@dataclass(frozen=True, slots=True)
class Tree:
    """What the working tree holds: its case ids and its baseline.

    `providers` are those that were asked for explicitly; None where the run itself decides.
    `partial`: they are a choice for this once, so the others are not gone. `all_agents`: where none
    were asked for, those of the deciding baseline must have results, as must all `planned` pairs.
    `unmeasured` maps a provider that could not be measured to the reason; `edited` are the cases
    whose judgement the change edits. What `allow_infra` could not measure is no regression.
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


@dataclass(frozen=True, slots=True)
class DeltaRow:
    """One pair of the delta.

    `gates`: this row alone makes the gate red. `expected` is what the deciding baseline says,
    `got` what was measured; None where there is none. `why` is a sentence for people.
    """

    pair: Pair
    kind: DeltaKind
    gates: bool
    expected: Status | None
    got: Status | None
    why: str
    measured: MeasuredPair | None = None
    not_alike: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        """Red rows first, then by word; equals keep the order of pairs."""
        return _ORDER[self.kind] - len(DeltaKind) * self.gates


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows, red ones first; `errors` concern no single pair.

    `left_out` are pairs of the tree's cases that a baseline or the run knows and that were not
    selected. `red_before` holds the earlier attempts, and the other runs, at which a pair was red
    that is not red now.
    """

    rows: tuple[DeltaRow, ...]
    errors: tuple[str, ...]
    left_out: tuple[Pair, ...]
    red_before: Mapping[Pair, tuple[When, ...]] = field(default_factory=dict)


def compare(measurement: Measurement, ref: Baseline | None, tree: Tree) -> Comparison:
    """Judge every selected pair, and every pair that should have been there.

    `ref` is None where the merge base has no baseline file: then every pair is new.
    """
    deciding: Baseline = ref or {}
    seen = measurement.pairs.keys() | measurement.lost | tree.planned
    silent = _find_silent(seen, measurement, tree) | _find_dropped(deciding, measurement, tree)
    judged: list[DeltaRow] = []
    for _, pairs in itertools.groupby(sorted(seen | silent), key=lambda pair: pair[0]):
        judged += _name_the_broken([_judge(pair, deciding, measurement, tree) for pair in pairs])
    unseen = {pair for pair, _ in iterate_pairs(deciding)} - seen - silent
    removed = list(_removed(sorted(unseen), deciding, tree))
    rows = sorted((*removed, *judged), key=lambda row: row.rank)
    left = _find_left_out({row.pair for row in rows}, deciding, measurement, tree)
    red = {row.pair for row in rows if row.gates}
    before = {
        pair: tuple(
            when for when, found in attempts.items() if _decide(pair, deciding, found, tree)[1]
        )
        for pair, attempts in measurement.earlier.items()
        if pair not in red
    }
    return Comparison(
        tuple(rows),
        measurement.errors,
        tuple(sorted(left)),
        {pair: attempts for pair, attempts in before.items() if attempts},
    )


def _find_left_out(
    judged: set[Pair], ref: Baseline, measurement: Measurement, tree: Tree
) -> set[Pair]:
    """The pairs of either baseline, and of cases that neither it nor the run knows."""
    known = {pair for one in (ref, tree.baseline) for pair, _ in iterate_pairs(one)}
    known = {pair for pair in known if pair[0] in tree.case_ids}
    strange = tree.case_ids - {case_id for case_id, _ in known | judged}
    return (known | set(itertools.product(strange, measurement.agents))) - judged


def _find_silent(seen: Iterable[Pair], measurement: Measurement, tree: Tree) -> set[Pair]:
    """The pairs of asked providers of which no leg reported at all, or only why it could not."""
    asked = tree.unmeasured if tree.providers is None else tree.providers
    silent = [agent for agent in asked if agent not in measurement.agents]
    cases = {case_id for case_id, _ in seen} if silent else set()
    return set(itertools.product(cases or tree.case_ids, silent))


def _find_dropped(ref: Baseline, measurement: Measurement, tree: Tree) -> set[Pair]:
    """The pairs of agents that the merge base's baseline knows and that nobody measured."""
    if not tree.all_agents or tree.providers is not None or not measurement.agents:
        return set()
    known = {*measurement.agents, *tree.unmeasured}
    pairs = (pair for pair, _ in iterate_pairs(ref) if pair[0] in tree.case_ids)
    return {pair for pair in pairs if pair[1] not in known}


def _judge(pair: Pair, ref: Baseline, measurement: Measurement, tree: Tree) -> DeltaRow:
    """A pair by its entry at the merge base, and what the tree declares of it."""
    measured = measurement.pairs.get(pair)
    kind, gates, why = _decide(pair, ref, measured, tree)
    entry = find_entry(ref, pair)
    expects = entry or find_entry(tree.baseline, pair)
    made_with = entry.made_with if entry and kind is not DeltaKind.REMOVED else None
    return DeltaRow(
        pair=pair,
        kind=kind,
        gates=gates,
        expected=expects.expected_status if expects else None,
        got=measured.status if measured else None,
        why=why,
        measured=measured,
        not_alike=(
            made_with.differences(measured.row.cli_version, measured.row.model)
            if made_with and measured
            else ()
        ),
    )


def _decide(
    pair: Pair, ref: Baseline, measured: MeasuredPair | None, tree: Tree
) -> tuple[DeltaKind, bool, str]:
    """The word, whether it is red, and why."""
    entry, declared = find_entry(ref, pair), find_entry(tree.baseline, pair)
    if measured is None:  # a lost artifact is never a pass
        if pair[1] in tree.unmeasured:
            return DeltaKind.UNMEASURED, False, tree.unmeasured[pair[1]]
        if pair[1] in tree.allow_infra:
            return DeltaKind.INFRA, False, f"has no result{_ALLOWED}{pair[1]}"
        return DeltaKind.MISSING, True, _LOST
    if entry is None:
        return _decide_new(declared, measured, tree)
    if declared is None and pair[0] in tree.case_ids:
        why = "its baseline entry was removed while the case still exists; put the entry back"
        return DeltaKind.REMOVED, True, why
    kind, why = _table(entry, measured, tree)
    edit = tree.edited.get(pair[0])
    if edit is not None and kind in _QUIET:
        gates, why = edit.judge(pair[1], entry.expected_status, why)
        return DeltaKind.CASE_EDITED, gates, why
    return kind, kind is DeltaKind.REGRESSION, why


_QUIET = (DeltaKind.OK, DeltaKind.IMPROVEMENT, DeltaKind.CHANGED)
"""The words that an edit of the case may have brought about."""


def _decide_new(
    declared: BaselineEntry | None, measured: MeasuredPair, tree: Tree
) -> tuple[DeltaKind, bool, str]:
    """New pairs are held to their own declaration, so that adding a case never deadlocks."""
    if declared is None:
        return DeltaKind.UNDECLARED, True, "has results but no baseline entry"
    kind, why = _table(declared, measured, tree)
    worse = kind is DeltaKind.REGRESSION
    if worse:
        return DeltaKind.NEW, True, f"new and worse than it declares: {why}"
    told = f"{_DOES[measured.status]}, as declared" if kind is DeltaKind.OK else why
    return DeltaKind.NEW, False, f"new: {told}"


_DOES = {Status.PASS: "passes", Status.FAIL: "fails", Status.INFRA_ERROR: "is not measured"}
_LOST = "was selected but has no result; run it again, and look for the leg that lost it"
_ALLOWED = "; this is allowed for "


def _table(entry: BaselineEntry, measured: MeasuredPair, tree: Tree) -> tuple[DeltaKind, str]:
    expected, got = entry.expected_status, measured.status
    if measured.timed_out and not entry.allow_timeout:
        return DeltaKind.REGRESSION, "timed out, and its baseline entry does not allow that"
    if expected is got:
        return DeltaKind.OK, f"{got}, as expected"
    kind = measured.row.failure_kind
    because = f" ({kind})" if kind and got is not Status.PASS else ""
    why = f"expected {expected}, got {got}{because}"
    if got is Status.INFRA_ERROR and measured.pair[1] in tree.allow_infra:
        return DeltaKind.INFRA, f"{why}{_ALLOWED}{measured.pair[1]}"
    return _TABLE[expected, got], why


def _removed(unseen: Iterable[Pair], ref: Baseline, tree: Tree) -> Iterator[DeltaRow]:
    """Pairs of the merge base that the change took away, and entries that it left without a case.

    Red while the case or the provider still exists in the tree; listed otherwise.
    """
    kept = {agent for entries in tree.baseline.values() for agent in entries}
    for pair in unseen:
        reason = _removal(pair, tree, kept)
        if reason is not None:
            why, gates = reason
            expected = ref[pair[0]][pair[1]].expected_status
            yield DeltaRow(pair, DeltaKind.REMOVED, gates, expected, None, why)


def _removal(pair: Pair, tree: Tree, kept: set[str]) -> tuple[str, bool] | None:
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


def _name_the_broken(rows: Sequence[DeltaRow]) -> Iterator[DeltaRow]:
    """Say on a case's regressions which providers still pass it: the change was not for all."""
    passing = ", ".join(row.pair[1] for row in rows if row.got is Status.PASS and not row.gates)
    for row in rows:
        if row.kind is DeltaKind.REGRESSION and passing:
            why = f"{row.why}; it passes on {passing}, so only {row.pair[1]} broke here"
            yield replace(row, why=why)
        else:
            yield row
