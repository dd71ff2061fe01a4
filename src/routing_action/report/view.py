"""What every report says of a delta: its outcome and headline, the rows worth a look.

Facts come from the delta's fields; prose is made here and never read back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from routing_action.corpus.baseline import Pair, Status
from routing_action.gate.conclusion import CLAIMS, Conclusion, is_enough
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count
from routing_action.results.notes import was_not_needed

_BLAMED = (
    DeltaKind.REGRESSION,
    DeltaKind.EXPIRED,
    DeltaKind.CASE_EDITED,
    DeltaKind.NEW,
    DeltaKind.UNDECLARED,
    DeltaKind.REMOVED,
)


class GateOutcome(StrEnum):
    """What a comparison comes to, for people: a gate can be red, or open, for different causes."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_MEASURED = "not measured"
    PARTIAL = "partial"
    UNVERIFIED = "not verified"
    NOT_COMPARABLE = "not comparable"
    NO_BASELINE = "no baseline"


_TITLES = {
    GateOutcome.PASSED: "Routing is as expected",
    GateOutcome.FAILED: "Routing gate failed",
    GateOutcome.ERROR: "Routing could not be judged",
    GateOutcome.NOT_MEASURED: "Routing was not fully measured",
    GateOutcome.PARTIAL: "Routing is as expected where it was measured",
    GateOutcome.UNVERIFIED: "Routing is as expected",
    GateOutcome.NOT_COMPARABLE: "Routing passed, but with another CLI or model than the baseline",
    GateOutcome.NO_BASELINE: "Routing has no baseline to compare with yet",
}


def find_outcome(delta: Delta) -> GateOutcome:
    """Which kind of result it is; the conclusion alone decides what CI does."""
    if delta.conclusion is Conclusion.FAILURE:
        return _why_red(delta)
    if delta.conclusion is Conclusion.NEUTRAL:
        reason = _why_open(delta)
        if reason is not GateOutcome.PARTIAL:
            return reason
    if _lacks_baseline(delta):
        return GateOutcome.NO_BASELINE
    judged = [row for row in delta.rows if row.got is not None]
    if judged and all(row.not_alike for row in judged):
        return GateOutcome.NOT_COMPARABLE
    is_open = delta.conclusion is Conclusion.NEUTRAL
    return GateOutcome.PARTIAL if is_open else GateOutcome.PASSED


def _why_red(delta: Delta) -> GateOutcome:
    """Blame of the change first, then what was lost, then what could not be measured."""
    kinds = {find_word(row) for row in delta.rows if row.gates}
    if not kinds.isdisjoint(_BLAMED):
        return GateOutcome.FAILED
    if kinds - {DeltaKind.UNMEASURED} or delta.errors:
        return GateOutcome.ERROR
    unmeasured = any(find_word(row) is DeltaKind.UNMEASURED for row in delta.rows)
    lacks = unmeasured or not is_enough([row.got for row in delta.rows])
    return GateOutcome.NOT_MEASURED if lacks else GateOutcome.FAILED


def _why_open(delta: Delta) -> GateOutcome:
    """What was not measured first, then who reports it, then what was left out."""
    unmeasured = any(row.kind is DeltaKind.UNMEASURED for row in delta.rows)
    if unmeasured or not is_measured(delta):
        return GateOutcome.NOT_MEASURED
    if delta.unverified:
        return GateOutcome.UNVERIFIED
    is_partial = delta.left_out or any(row.stale for row in delta.rows)
    return GateOutcome.PARTIAL if is_partial else GateOutcome.NOT_MEASURED


def _lacks_baseline(delta: Delta) -> bool:
    return delta.baseline.commit is not None and not delta.baseline.present


def is_measured(delta: Delta) -> bool:
    """True where any pair has a result that says something of routing."""
    return any(row.got not in (None, Status.INFRA_ERROR) for row in delta.rows)


def find_title(delta: Delta) -> str:
    """The outcome in a few words: what it is, whether all was measured, and who says so."""
    outcome = find_outcome(delta)
    is_open = outcome is GateOutcome.NOT_MEASURED and not is_measured(delta)
    title = "Routing was not measured" if is_open else _TITLES[outcome]
    return ", ".join(filter(None, (title, describe_part(delta), delta.unverified)))


def describe_part(delta: Delta) -> str:
    """How much of what is known was measured; "" where it was all, or nothing."""
    left = delta.left_out
    rows = [row for row in delta.rows if row.kind is not DeltaKind.REMOVED]
    if not left or not is_measured(delta):
        return ""
    for noun, seen, known in (
        ("case", {row.case_id for row in rows}, {one.case_id for one in left}),
        ("agent", {row.agent for row in rows}, {one.agent for one in left}),
    ):
        if not known <= seen:
            return f"partial: {len(seen)} of {count(len(seen | known), noun)} measured"
    return f"partial: {len(rows)} of {count(len(rows) + len(left), 'pair')} measured"


def find_headline(delta: Delta) -> str:
    """The outcome with the gate's reasons, in one line."""
    return ": ".join(filter(None, (find_title(delta), "; ".join(delta.reasons))))


def find_notes(delta: Delta) -> tuple[str, ...]:
    """What else a reader should know, that of the baseline first."""
    source = delta.baseline
    notes = []
    if _lacks_baseline(delta):
        notes.append(
            f"no baseline: {source.path} does not exist at {(source.commit or '')[:12]}, so every "
            "pair is new and held to its own declaration; it decides from the next change on"
        )
    if source.edited:
        notes.append(
            "this change edits the baseline; "
            + (
                "known pairs are judged by the one at that commit all the same"
                if source.commit
                else "that is what pairs are judged by"
            )
        )
    return (*notes, *delta.notes)


def find_agents(delta: Delta) -> tuple[str, ...]:
    """The agents that were asked for, then others that have rows."""
    return tuple(dict.fromkeys((*delta.agents, *sorted({row.agent for row in delta.rows}))))


def is_worth_a_look(row: DeltaEntry) -> bool:
    """False where a pair is as expected and nothing about it is in doubt."""
    doubts = (row.flaky, row.chance, row.not_alike, row.was_red, row.stale)
    return row.kind is not DeltaKind.OK or any(doubts)


def find_skipped(delta: Delta) -> frozenset[Pair]:
    """The pairs that were not run since another one is red: a reason of the gate counts them."""
    if not any(row.gates and row.got is Status.FAIL for row in delta.rows):
        return frozenset()
    return frozenset((row.case_id, row.agent) for row in delta.rows if was_not_needed(row.error))


def changed_rows(delta: Delta) -> tuple[DeltaEntry, ...]:
    """The rows worth a look: red ones first, those that were measured before the others.

    Else they are in the order of the delta, without those that nobody needed to run.
    """
    skipped = find_skipped(delta)
    rows = (row for row in delta.rows if (row.case_id, row.agent) not in skipped)
    return tuple(sorted(filter(is_worth_a_look, rows), key=_rank))


def _rank(row: DeltaEntry) -> int:
    if not row.gates:
        return 2
    return int(find_word(row) is DeltaKind.UNMEASURED)


def find_word(row: DeltaEntry) -> DeltaKind:
    """The word that reports show: nobody can blame a change for what could not be measured."""
    is_lost = row.gates and row.kind in CLAIMS and row.got is Status.INFRA_ERROR
    return DeltaKind.UNMEASURED if is_lost else row.kind


def count_kinds(delta: Delta) -> Iterator[tuple[DeltaKind, str, int]]:
    """Each word that is shown, with its number: those with a red pair first.

    What is known to fail is counted apart from what passes.
    """
    for kind, number in count_words(delta).items():
        known = sum(row.kind is kind and row.got is not Status.PASS for row in delta.rows)
        known = known if kind is DeltaKind.OK else 0
        if number > known:
            yield kind, kind.value, number - known
        if known:
            yield kind, "known failure" if known == 1 else "known failures", known


def count_words(delta: Delta) -> dict[DeltaKind, int]:
    """How many pairs have each word, those with a red pair first."""
    red = {find_word(row) for row in delta.rows if row.gates}
    counts = Counter(map(find_word, delta.rows))
    known = [kind for kind in DeltaKind if counts[kind]]
    return {kind: counts[kind] for kind in sorted(known, key=lambda kind: kind not in red)}


def cell_text(row: DeltaEntry) -> str:
    """A pair in a word: its status where it is as expected, else the delta's word."""
    got = row.got.value if row.got else ""
    word = got if row.kind is DeltaKind.OK else find_word(row).value
    marks = [mark for mark, shown in (("flaky", row.flaky), ("late", row.timed_out)) if shown]
    return f"{word} ({', '.join(marks)})" if marks else word
