"""Results against two baselines: the delta, row by row.

`ref` is the baseline at the merge base, which decides; `current` the one in the working tree,
which can only declare new pairs. Source of the rules: docs/explanation/gate.md.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from routing_action.corpus.baseline import (
    Baseline,
    BaselineEntry,
    MadeWith,
    Pair,
    find_entry,
)
from routing_action.results.measured import MeasuredPair, Measurement
from routing_action.results.pair_table import PairTable, add_pairs, find_beyond


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


_OK, _REGRESSION = DeltaKind.OK, DeltaKind.REGRESSION
"""Names for every row's sake: Python 3.11 takes long to look up a member in its class."""
_NOTHING: Mapping[str, Any] = {}
_ORDER = {kind: place for place, kind in enumerate(DeltaKind)}
_TABLE = {
    ("pass", "fail"): DeltaKind.REGRESSION,
    ("pass", "infra_error"): DeltaKind.REGRESSION,
    ("fail", "pass"): DeltaKind.IMPROVEMENT,
    ("fail", "infra_error"): DeltaKind.INFRA,
    ("infra_error", "pass"): DeltaKind.IMPROVEMENT,
    ("infra_error", "fail"): DeltaKind.CHANGED,
}
_AS_EXPECTED = {status: f"{status}, as expected" for status in ("pass", "fail", "infra_error")}


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
    seen = add_pairs(measurement.cases, measurement.lost)
    silent = _find_silent(seen, measurement, tree)
    asked = add_pairs(seen, silent)
    judged = [row for case_id in sorted(asked) for row in _judge(case_id, asked, deciding, tree)]
    unseen = find_beyond(deciding, seen)
    removed = list(_removed(sorted(unseen), deciding, tree))
    left = unseen | find_beyond(tree.baseline, seen)
    left.difference_update(silent, (row.pair for row in removed))
    return Comparison(_order(removed, judged), measurement.errors, len(left))


def _find_silent(seen: PairTable, measurement: Measurement, tree: Tree) -> list[Pair]:
    """The pairs of asked providers of which no leg reported at all."""
    silent = [agent for agent in tree.providers or () if agent not in measurement.agents]
    return list(itertools.product(seen or tree.case_ids, silent))


def _order(removed: Iterable[DeltaRow], judged: Sequence[DeltaRow]) -> tuple[DeltaRow, ...]:
    """All rows by rank; only those with news are sorted, for what is OK stands last anyhow."""
    news = [row for row in judged if row.kind is not _OK]
    fine = [row for row in judged if row.kind is _OK]
    return (*sorted((*removed, *news), key=lambda row: row.rank), *fine)


def _judge(case_id: str, asked: PairTable, ref: Baseline, tree: Tree) -> list[DeltaRow]:
    """The rows of a case, ordered by provider."""
    deciding, current = ref.get(case_id, _NOTHING), tree.baseline.get(case_id, _NOTHING)
    measured = asked[case_id]
    rows = []
    for agent in sorted(measured):
        entry, declared, found = deciding.get(agent), current.get(agent), measured[agent]
        if entry is None or declared is None or found is None:
            rows.append(_judge_odd((case_id, agent), entry, declared, found, tree))
        else:
            rows.append(_judge_known(entry, found))
    return _name_the_broken(rows)


def _judge_odd(
    pair: Pair,
    entry: BaselineEntry | None,
    declared: BaselineEntry | None,
    measured: MeasuredPair | None,
    tree: Tree,
) -> DeltaRow:
    """A pair that lacks its result, or an entry in one of the baselines."""
    if measured is None:
        return _absent(pair, _value(entry or declared), tree)
    if entry is None:
        return _judge_undecided(pair, declared, measured)
    if pair[0] in tree.case_ids:
        expected = entry.expected_status
        why = "its baseline entry was removed while the case still exists; put the entry back"
        return DeltaRow(pair, DeltaKind.REMOVED, True, expected, measured.status, why, measured)
    return _judge_known(entry, measured)


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


def _judge_known(entry: BaselineEntry, measured: MeasuredPair) -> DeltaRow:
    kind, why = _table(entry, measured)
    return DeltaRow(
        measured.pair,
        kind,
        kind is _REGRESSION,
        entry.expected_status,
        measured.status,
        why,
        measured,
        () if entry.made_with is None else _not_alike(entry.made_with, measured),
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
    expected, got = entry.expected_status, measured.status
    if measured.timed_out and not entry.allow_timeout:
        return DeltaKind.REGRESSION, "timed out, and its baseline entry does not allow that"
    if expected == got:
        return _OK, _AS_EXPECTED[got]
    return _TABLE[expected, got], f"expected {expected}, got {got}{_because(measured)}"


def _because(measured: MeasuredPair) -> str:
    if measured.status == "pass" or not measured.row.failure_kind:
        return ""
    return f" ({measured.row.failure_kind})"


def _not_alike(made_with: MadeWith, measured: MeasuredPair) -> tuple[str, ...]:
    return made_with.differences(measured.row.cli_version, measured.row.model)


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
            why = (
                f"{agent} is not asked for but has baseline entries; measure it again, or remove "
                f"them all: routing-action baseline update --prune-agents {shlex.quote(agent)}"
            )
            return why, True
        return f"{agent} was removed with all its baseline entries", False
    if not declared:
        return "its baseline entry was removed while the case still exists; put it back", True
    return None


def _name_the_broken(rows: list[DeltaRow]) -> list[DeltaRow]:
    """Say on a case's regressions which providers still pass it: the change was not for all."""
    if all(row.kind is not _REGRESSION for row in rows):
        return rows
    passing = [row.pair[1] for row in rows if row.got == "pass" and not row.gates]
    return [_with_others(row, passing) for row in rows]


def _with_others(row: DeltaRow, passing: Sequence[str]) -> DeltaRow:
    if row.kind is not _REGRESSION or not passing:
        return row
    why = f"{row.why}; it passes on {', '.join(passing)}, so only {row.pair[1]} broke here"
    return DeltaRow(
        row.pair, row.kind, row.gates, row.expected, row.got, why, row.measured, row.not_alike
    )
