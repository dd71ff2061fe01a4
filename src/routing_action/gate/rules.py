"""Results against two baselines: the delta, row by row.

`ref` is the baseline at the merge base, which decides; `current` the one in the working tree,
which can only declare new pairs. Source of the rules: docs/explanation/gate.md.
"""

from __future__ import annotations

import itertools
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
from routing_action.evidence.chance_sequence import Finding
from routing_action.gate.judging.certainty import Chance
from routing_action.gate.judging.tree import Tree, find_dropped, find_removal, find_silent
from routing_action.results.measured import MeasuredPair, Measurement, When


class DeltaKind(StrEnum):
    """The words of a delta; each has an entry in docs/reference/delta-words.md."""

    MISSING = "MISSING"
    UNDECLARED = "UNDECLARED"
    REMOVED = "REMOVED"
    REGRESSION = "REGRESSION"
    EXPIRED = "EXPIRED"
    CASE_EDITED = "CASE EDITED"
    NEW = "NEW"
    NOT_PROVEN = "NOT PROVEN"
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
class DeltaRow:
    """One pair of the delta.

    `gates`: this row alone makes the gate red. `expected` is what the deciding baseline says,
    `got` what was measured; None where there is none. `why` is a sentence for people. `chance` is
    there where more than the majority of the trials decides.
    """

    pair: Pair
    kind: DeltaKind
    gates: bool
    expected: Status | None
    got: Status | None
    why: str
    measured: MeasuredPair | None = None
    chance: Chance | None = None
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
    silent = find_silent(seen, measurement, tree) | find_dropped(deciding, measurement, tree)
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


def _judge(pair: Pair, ref: Baseline, measurement: Measurement, tree: Tree) -> DeltaRow:
    """A pair by its entry at the merge base, and what the tree declares of it."""
    measured = measurement.pairs.get(pair)
    kind, gates, why = _decide(pair, ref, measured, tree)
    entry = find_entry(ref, pair)
    expects = entry or find_entry(tree.baseline, pair)
    made_with = entry.made_with if entry and kind is not DeltaKind.REMOVED else None
    chance = None
    if entry and measured and kind in _WEIGHED:
        chance = _weigh(entry, measured, tree)
    got = measured.status if measured else None
    return DeltaRow(
        pair=pair,
        kind=kind,
        gates=gates,
        expected=expects.expected_status if expects else None,
        got=_COMES_TO.get(chance.finding, got) if chance else got,
        why=why,
        measured=measured,
        chance=chance,
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
    return _decide_known(entry, declared, measured, tree)


def _decide_known(
    entry: BaselineEntry, declared: BaselineEntry | None, measured: MeasuredPair, tree: Tree
) -> tuple[DeltaKind, bool, str]:
    """A pair that the merge base knows is held to its entry there."""
    certainty = tree.certainty
    # A change that renews or removes what is over can be merged: it is in view.
    own = declared.flaky if declared else None
    if entry.flaky and certainty.has_ended(entry.flaky) and certainty.has_ended(own):
        return DeltaKind.EXPIRED, True, EXPIRED.format(entry.flaky.until)
    chance = _weigh(entry, measured, tree)
    if chance is not None and chance.finding in _FINDINGS:
        kind, why = _FINDINGS[chance.finding]
        return kind, kind is DeltaKind.REGRESSION, why
    kind, why = _table(entry, measured, tree)
    edit = tree.edited.get(measured.pair[0])
    if edit is not None and kind in _QUIET:
        gates, why = edit.judge(measured.pair[1], entry.expected_status, why)
        return DeltaKind.CASE_EDITED, gates, why
    return kind, kind is DeltaKind.REGRESSION, why


def _weigh(entry: BaselineEntry, measured: MeasuredPair, tree: Tree) -> Chance | None:
    """What the trials of a known pair prove; None where their majority decides alone.

    An edited case has no rate of its own yet.
    """
    return None if measured.pair[0] in tree.edited else tree.certainty.weigh(entry, measured)


_FINDINGS = {
    Finding.WORSE: (DeltaKind.REGRESSION, "expected pass, and fails more often than before"),
    Finding.NOT_PROVEN: (DeltaKind.NOT_PROVEN, "expected pass; that it got worse is not proven"),
    Finding.SAME: (DeltaKind.OK, "expected pass; it fails no more often than before"),
}
_COMES_TO = {Finding.WORSE: Status.FAIL, Finding.SAME: Status.PASS}
_WEIGHED = (DeltaKind.REGRESSION, DeltaKind.NOT_PROVEN, DeltaKind.OK)
EXPIRED = "its flaky entry ended {}"
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
        reason = find_removal(pair, tree, kept)
        if reason is not None:
            why, gates = reason
            expected = ref[pair[0]][pair[1]].expected_status
            yield DeltaRow(pair, DeltaKind.REMOVED, gates, expected, None, why)


def _name_the_broken(rows: Sequence[DeltaRow]) -> Iterator[DeltaRow]:
    """Say on a case's regressions which providers still pass it: the change was not for all."""
    passing = ", ".join(row.pair[1] for row in rows if row.got is Status.PASS and not row.gates)
    for row in rows:
        if row.kind is DeltaKind.REGRESSION and passing:
            why = f"{row.why}; it passes on {passing}, so only {row.pair[1]} broke here"
            yield replace(row, why=why)
        else:
            yield row
