"""Results against two baselines: the delta, row by row.

`ref` is the baseline at the merge base, which decides; `current` the one in the working tree,
which can only declare new pairs. Source of the rules: docs/explanation/gate.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from routing_action.domain.baseline import (
    Baseline,
    BaselineEntry,
    Pair,
    find_entry,
)
from routing_action.domain.measured import MeasuredPair, Measurement


class DeltaKind(StrEnum):
    """The words of a delta; each has an entry in docs/reference/delta-words.md."""

    MISSING = "MISSING"
    UNDECLARED = "UNDECLARED"
    REMOVED = "REMOVED"
    REGRESSION = "REGRESSION"
    NEW = "NEW"
    INFRA = "INFRA"
    CHANGED = "CHANGED"
    IMPROVEMENT = "IMPROVEMENT"
    UNMEASURED = "UNMEASURED"
    OK = "OK"


_ORDER = {kind: place for place, kind in enumerate(DeltaKind)}
_TABLE = {
    ("pass", "pass"): DeltaKind.OK,
    ("pass", "fail"): DeltaKind.REGRESSION,
    ("pass", "infra_error"): DeltaKind.REGRESSION,
    ("fail", "pass"): DeltaKind.IMPROVEMENT,
    ("fail", "fail"): DeltaKind.OK,
    ("fail", "infra_error"): DeltaKind.INFRA,
    ("infra_error", "pass"): DeltaKind.IMPROVEMENT,
    ("infra_error", "fail"): DeltaKind.CHANGED,
    ("infra_error", "infra_error"): DeltaKind.OK,
}


@dataclass(frozen=True, slots=True)
class Tree:
    """What the working tree holds: its case ids and its baseline.

    `providers` are those that were asked for explicitly; None where the run itself decides.
    `partial`: they are a choice for this once, so the others are not gone.
    `unmeasured` maps a provider that could not be measured to the reason.
    """

    case_ids: frozenset[str]
    baseline: Baseline
    providers: frozenset[str] | None = None
    unmeasured: dict[str, str] = field(default_factory=dict)
    partial: bool = False


class DeltaRow(msgspec.Struct, frozen=True, gc=False):
    """One pair of the delta.

    `gates`: this row alone makes the gate red. `expected` is what the deciding baseline says,
    `got` what was measured; None where there is none. `why` is a sentence for people.
    """

    pair: Pair
    kind: DeltaKind
    gates: bool
    expected: str | None
    got: str | None
    why: str
    measured: MeasuredPair | None = None
    not_alike: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        """What is gone first, then red rows, then by word; equals keep the order of pairs."""
        if self.kind is DeltaKind.REMOVED:
            return -2 * len(DeltaKind)
        return _ORDER[self.kind] - len(DeltaKind) * self.gates


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows, red ones first; `errors` concern no single pair; `not_selected` counts pairs."""

    rows: tuple[DeltaRow, ...]
    errors: tuple[str, ...]
    not_selected: int


def compare(measurement: Measurement, ref: Baseline | None, tree: Tree) -> Comparison:
    """Judge every selected pair, and every pair that should have been there.

    `ref` is None where the merge base has no baseline file: then every pair is new.
    """
    deciding: Baseline = ref if ref is not None else {}
    judged_pairs = _to_judge(measurement, tree)
    judged = [_judge(pair, measurement, deciding, tree) for pair in judged_pairs]
    seen = measurement.selected | measurement.pairs.keys()
    known = seen.union(judged_pairs)
    unseen = all_pairs(deciding) - seen
    removed = list(_removed(sorted(unseen), deciding, tree))
    everything = (all_pairs(deciding) | all_pairs(tree.baseline)) - known
    everything.difference_update(row.pair for row in removed)
    rows = sorted((*removed, *_name_the_broken(judged)), key=lambda row: row.rank)
    return Comparison(tuple(rows), measurement.errors, len(everything))


def all_pairs(baseline: Baseline) -> set[Pair]:
    """Every pair that a baseline has an entry for."""
    return {(case_id, agent) for case_id, entries in baseline.items() for agent in entries}


def _to_judge(measurement: Measurement, tree: Tree) -> list[Pair]:
    """The selected pairs, and those of asked providers of which no leg reported at all."""
    pairs = measurement.selected | measurement.pairs.keys()
    silent = [agent for agent in tree.providers or () if agent not in measurement.agents]
    if silent:
        cases = {case_id for case_id, _ in pairs} or tree.case_ids
        pairs = pairs.union((case_id, agent) for case_id in cases for agent in silent)
    return sorted(pairs)


def _judge(pair: Pair, measurement: Measurement, ref: Baseline, tree: Tree) -> DeltaRow:
    entry = find_entry(ref, pair)
    declared = find_entry(tree.baseline, pair)
    measured = measurement.pairs.get(pair)
    expected = _value(entry or declared)
    if measured is None:
        return _absent(pair, expected, tree)
    if entry is None:
        return _judge_undecided(pair, declared, measured)
    if declared is None and pair[0] in tree.case_ids:
        why = "its baseline entry was removed while the case still exists; put the entry back"
        return DeltaRow(pair, DeltaKind.REMOVED, True, expected, measured.status, why, measured)
    return _judge_known(pair, entry, measured)


def _judge_undecided(
    pair: Pair, declared: BaselineEntry | None, measured: MeasuredPair
) -> DeltaRow:
    """A pair that the merge base does not know: declared now, or not at all."""
    if declared is None:
        why = (
            "has results but no baseline entry; add it with "
            f"`routing-action baseline update --from RESULTS --cases {pair[0]}`"
        )
        return DeltaRow(pair, DeltaKind.UNDECLARED, True, None, measured.status, why, measured)
    return _judge_new(pair, declared, measured)


def _absent(pair: Pair, expected: str | None, tree: Tree) -> DeltaRow:
    """A selected pair without a result: a lost artifact is never a pass."""
    reason = tree.unmeasured.get(pair[1])
    if reason is not None:
        return DeltaRow(pair, DeltaKind.UNMEASURED, False, expected, None, reason)
    why = "was selected but has no result; run it again, and look for the leg that lost it"
    return DeltaRow(pair, DeltaKind.MISSING, True, expected, None, why)


def _judge_known(pair: Pair, entry: BaselineEntry, measured: MeasuredPair) -> DeltaRow:
    kind, why = _table(entry, measured)
    return DeltaRow(
        pair,
        kind,
        kind is DeltaKind.REGRESSION,
        entry.expected_status,
        measured.status,
        why,
        measured,
        _not_alike(entry, measured),
    )


def _judge_new(pair: Pair, declared: BaselineEntry, measured: MeasuredPair) -> DeltaRow:
    """New pairs are held to their own declaration, so that adding a case never deadlocks."""
    kind, why = _table(declared, measured)
    worse = kind is DeltaKind.REGRESSION
    text = f"is new and worse than it declares: {why}" if worse else f"is new: {why}"
    return DeltaRow(
        pair,
        DeltaKind.NEW,
        worse,
        declared.expected_status,
        measured.status,
        text,
        measured,
    )


def _table(entry: BaselineEntry, measured: MeasuredPair) -> tuple[DeltaKind, str]:
    expected = entry.expected_status
    if measured.timed_out and not entry.allow_timeout:
        return DeltaKind.REGRESSION, "timed out, and its baseline entry does not allow that"
    kind = _TABLE[expected, measured.status]
    if kind is DeltaKind.OK:
        return kind, f"{measured.status}, as expected"
    return kind, f"expected {expected}, got {measured.status}{_because(measured)}"


def _because(measured: MeasuredPair) -> str:
    if measured.status == "pass" or not measured.row.failure_kind:
        return ""
    return f" ({measured.row.failure_kind})"


def _not_alike(entry: BaselineEntry, measured: MeasuredPair) -> tuple[str, ...]:
    if entry.made_with is None:
        return ()
    return entry.made_with.differences(measured.row.cli_version, measured.row.model)


def _value(entry: BaselineEntry | None) -> str | None:
    return entry.expected_status if entry else None


def _removed(unseen: Iterable[Pair], ref: Baseline, tree: Tree) -> Iterator[DeltaRow]:
    """Pairs of the merge base that the change took away, and entries that it left without a case.

    Red while the case or the provider still exists in the tree; listed otherwise.
    """
    kept = {agent for entries in tree.baseline.values() for agent in entries}
    for pair in unseen:
        entry = ref[pair[0]][pair[1]]
        reason = _removal(pair, tree, kept)
        if reason is not None:
            why, gates = reason
            expected = entry.expected_status
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
            return f"{agent} is no longer asked for but still has baseline entries", True
        return f"{agent} was removed with all its baseline entries", False
    if not declared:
        return "its baseline entry was removed while the case still exists", True
    return None


def _name_the_broken(rows: Iterable[DeltaRow]) -> list[DeltaRow]:
    """Say on a regression which providers still pass the case: the change was not for all."""
    listed = list(rows)
    broken = {row.pair[0] for row in listed if row.kind is DeltaKind.REGRESSION}
    passing: dict[str, list[str]] = {}
    for row in listed:
        if row.pair[0] in broken and row.got == "pass" and not row.gates:
            passing.setdefault(row.pair[0], []).append(row.pair[1])
    if not broken:
        return listed
    return [_with_others(row, passing.get(row.pair[0], [])) for row in listed]


def _with_others(row: DeltaRow, passing: list[str]) -> DeltaRow:
    if row.kind is not DeltaKind.REGRESSION or not passing:
        return row
    why = f"{row.why}; it passes on {', '.join(passing)}, so only {row.pair[1]} broke here"
    return DeltaRow(
        row.pair, row.kind, row.gates, row.expected, row.got, why, row.measured, row.not_alike
    )
