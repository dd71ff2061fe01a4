"""From a delta and a policy to a conclusion; CI acts on this alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from routing_action.corpus.baseline import Pair, Status
from routing_action.evidence.chance_sequence import Sequential
from routing_action.gate.rules import Comparison, DeltaKind, DeltaRow
from routing_action.gate.wording import count, name_few
from routing_action.results.measured import MEASURED_FLOOR
from routing_action.results.notes import was_not_needed


class Conclusion(StrEnum):
    """GitHub's words for how a check ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator decided: what is red beside regressions, and what must be there.

    `providers` must have results; none means those that have, or with `all_agents` those of the
    deciding baseline. With `partial` they are a choice for this once: the pairs of the others are
    not taken for removed. `commit` is the one that the results must be of. `by_change`: the plan
    left out what the change cannot move, which the gate then looks up by itself. `planned` are
    the pairs of the plan, which must have results. `allow_infra` are agents that may break.
    `sequential` is the test against each pair's own rate; None: the majority of its trials decides,
    or at a desk, unless `by_majority` asks for it, what the results were run by.
    """

    fail_on_infra: bool = False
    unmeasured_fails: bool = True
    providers: tuple[str, ...] = ()
    all_agents: bool = False
    partial: bool = False
    commit: str | None = None
    by_change: bool = False
    planned: frozenset[Pair] = frozenset()
    allow_infra: tuple[str, ...] = ()
    sequential: Sequential | None = None
    by_majority: bool = False

    @property
    def excused(self) -> frozenset[str]:
        """The agents whose infra is no regression: none where all infra is red."""
        return frozenset(() if self.fail_on_infra else self.allow_infra)


@dataclass(frozen=True, slots=True)
class Gate:
    """The conclusion, with one sentence a reason; an empty list means nothing to say."""

    conclusion: Conclusion
    reasons: tuple[str, ...]


_NOUNS = {
    DeltaKind.MISSING: ("selected pair has no result", "selected pairs have no result"),
    DeltaKind.UNDECLARED: ("pair has no baseline entry", "pairs have no baseline entry"),
    DeltaKind.REMOVED: ("pair was removed only in part", "pairs were removed only in part"),
    DeltaKind.REGRESSION: ("regression", "regressions"),
    DeltaKind.EXPIRED: ("flaky entry is past its date", "flaky entries are past their dates"),
    DeltaKind.CASE_EDITED: (
        "edited case does not pass as it was",
        "edited cases do not pass as they were",
    ),
    DeltaKind.NEW: ("new pair is worse than declared", "new pairs are worse than declared"),
    DeltaKind.INFRA: ("infra_error (--fail-on-infra)", "infra_errors (--fail-on-infra)"),
    DeltaKind.UNMEASURED: ("pair was not measured", "pairs were not measured"),
}


CLAIMS = (DeltaKind.REGRESSION, DeltaKind.NEW)
"""Words that blame the change, which nobody can where a pair could not be measured."""


def decide_gate(comparison: Comparison, policy: Policy, *doubts: str) -> Gate:
    """Red for any gating row or error; neutral where something was not measured; else green.

    Also red where too little was measured, whatever the baseline expects of it. `doubts`
    say what was left out that can have changed, or changed since; empty where nothing did.
    """
    gating = [row for row in comparison.rows if row.gates]
    lost = [row for row in gating if row.kind in CLAIMS and row.got is Status.INFRA_ERROR]
    red = Counter(row.kind for row in gating)
    red.subtract(row.kind for row in lost)
    kinds = Counter(row.kind for row in comparison.rows)
    if policy.fail_on_infra and kinds[DeltaKind.INFRA]:
        red[DeltaKind.INFRA] = kinds[DeltaKind.INFRA]
    if policy.unmeasured_fails and kinds[DeltaKind.UNMEASURED]:
        red[DeltaKind.UNMEASURED] = kinds[DeltaKind.UNMEASURED]
    counted = (_count(red[kind], kind) for kind in DeltaKind if red[kind])
    reasons = (*comparison.errors, *counted, *_count_lost(lost, gating))
    if reasons:
        return Gate(Conclusion.FAILURE, reasons)
    if lack := _find_lack(comparison):
        return Gate(Conclusion.FAILURE, (lack,))
    unmeasured = kinds[DeltaKind.UNMEASURED]
    open_ones = (_count(unmeasured, DeltaKind.UNMEASURED) if unmeasured else "", *doubts)
    reasons = tuple(filter(None, open_ones))
    return Gate(Conclusion.NEUTRAL if reasons else Conclusion.SUCCESS, reasons)


def _find_lack(comparison: Comparison) -> str:
    """Why too little was measured to be green; "" where enough was, or a marker says why not."""
    got = [row.got for row in comparison.rows if row.got]
    if not got:
        is_marked = any(row.kind is DeltaKind.UNMEASURED for row in comparison.rows)
        return "" if is_marked else "nothing was measured"
    if is_enough(got):
        return ""
    known = len(got) - got.count(Status.INFRA_ERROR)
    return f"only {known} of {count(len(got), 'pair')} could be measured"


def is_enough(got: Iterable[Status | None]) -> bool:
    """True where of the pairs with a result, at least one, enough could be measured."""
    found = [status for status in got if status]
    known = len(found) - found.count(Status.INFRA_ERROR)
    return known > 0 and known >= MEASURED_FLOOR * len(found)


def _count_lost(lost: Sequence[DeltaRow], gating: Sequence[DeltaRow]) -> Iterator[str]:
    """How many pairs could not be measured though they should, and why.

    Those that were not needed once another one was red are counted apart.
    """
    is_decided = any(row.got is Status.FAIL for row in gating)
    rows = [row for row in lost if not (is_decided and _was_not_needed(row))]
    if rows:
        found = (row.measured.row.failure_kind if row.measured else None for row in rows)
        kinds = name_few(dict.fromkeys(kind for kind in found if kind))
        cause = f" ({kinds})" if kinds else ""
        yield f"{count(len(rows), 'pair')} could not be measured{cause}"
    if left := len(lost) - len(rows):
        verb = "was" if left == 1 else "were"
        yield f"{count(left, 'pair')} {verb} not run: the gate was decided"


def _was_not_needed(row: DeltaRow) -> bool:
    return row.measured is not None and was_not_needed(row.measured.row.error)


def _count(number: int, kind: DeltaKind) -> str:
    one, many = _NOUNS[kind]
    return f"{number} {one if number == 1 else many}"
