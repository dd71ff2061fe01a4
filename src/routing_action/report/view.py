"""What every report says of a delta: its outcome and headline, the rows worth a look, commands.

Facts come from the delta's fields; prose is made here and never read back.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from enum import StrEnum

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count
from routing_action.report.escape import cut, printable
from routing_action.report.reasons import describe_before, describe_trials
from routing_action.report.remedies import find_fix
from routing_action.results.rerun import RUN_PROGRAM, select_case

_BLAMED = (
    DeltaKind.REGRESSION,
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
    GateOutcome.PARTIAL: "Routing is as expected",
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
    kinds = {row.kind for row in delta.rows if row.gates}
    if not kinds.isdisjoint(_BLAMED):
        return GateOutcome.FAILED
    if kinds or delta.errors:
        return GateOutcome.ERROR
    unmeasured = any(row.kind is DeltaKind.UNMEASURED for row in delta.rows)
    lacks = unmeasured or not is_measured(delta)
    return GateOutcome.NOT_MEASURED if lacks else GateOutcome.FAILED


def _why_open(delta: Delta) -> GateOutcome:
    """What was not measured first, then who reports it, then what was left out."""
    unmeasured = any(row.kind is DeltaKind.UNMEASURED for row in delta.rows)
    if unmeasured or not is_measured(delta):
        return GateOutcome.NOT_MEASURED
    if delta.unverified:
        return GateOutcome.UNVERIFIED
    return GateOutcome.PARTIAL if delta.left_out else GateOutcome.NOT_MEASURED


def _lacks_baseline(delta: Delta) -> bool:
    return delta.baseline.commit is not None and not delta.baseline.present


def is_measured(delta: Delta) -> bool:
    """True where any pair has a result."""
    return any(row.got for row in delta.rows)


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
    doubts = (row.flaky, row.not_alike, row.red_before)
    return row.kind is not DeltaKind.OK or any(doubts)


def changed_rows(delta: Delta) -> tuple[DeltaEntry, ...]:
    """The rows worth a look: red ones first, else in the order of the delta."""
    return tuple(sorted(filter(is_worth_a_look, delta.rows), key=lambda row: not row.gates))


def cell_text(row: DeltaEntry) -> str:
    """A pair in a word: its status where it is as expected, else the delta's word."""
    got = row.got.value if row.got else ""
    word = got if row.kind is DeltaKind.OK else row.kind.value
    marks = [mark for mark, shown in (("flaky", row.flaky), ("late", row.timed_out)) if shown]
    return f"{word} ({', '.join(marks)})" if marks else word


def list_facts(row: DeltaEntry) -> Iterator[tuple[str, str]]:
    """What was found of a pair, each fact with its label."""
    if trials := describe_trials(row):
        yield "trials", trials
    if row.red_before:
        yield "red before", describe_before(row)
    found = {
        "not comparable": row.not_alike,
        "missing": row.missing_evidence,
        "used though disallowed": row.disallowed_hits,
        "loaded": row.loaded_skills,
    }
    for label, texts in found.items():
        if texts:
            yield label, ", ".join(cut(printable(text), 200) for text in texts[:10])


def list_steps(
    delta: Delta, row: DeltaEntry, results: str = "RESULTS"
) -> Iterator[tuple[str, str]]:
    """What can be done about a red pair, or one that got better, each step with its label.

    `results` is where the results are, for the commands.
    """
    accept = accept_command(row, results)
    if row.kind is DeltaKind.IMPROVEMENT:
        yield "lock it in", accept
        return
    if fix := find_fix(delta, row):
        yield "fix", fix
    if row.got is not None:
        yield "rerun", rerun_command(delta, row)
    if accept:
        yield "accept", accept


# --- what to do about a row


def rerun_command(delta: Delta, row: DeltaEntry) -> str:
    """The command that measures this pair again, as it was measured."""
    plain = f"{RUN_PROGRAM} --agents {shlex.quote(row.agent)}"
    return select_case(delta.run_commands.get(row.agent, plain), row.case_id)


def can_accept(row: DeltaEntry) -> bool:
    """True where what was measured could become the new expectation."""
    is_known = row.got is not None and row.got is not Status.INFRA_ERROR
    return is_known and (row.gates or row.kind is DeltaKind.IMPROVEMENT)


def accept_command(row: DeltaEntry, results: str = "RESULTS") -> str:
    """The command that accepts what was measured as the new expectation.

    "" where that would not help: an entry that was removed is to be put back as it was, and what
    could not be measured is to be measured.
    """
    if row.kind in (DeltaKind.REMOVED, DeltaKind.CASE_EDITED) or not can_accept(row):
        return ""
    base = f"routing-action baseline update --from {results} --cases {shlex.quote(row.case_id)}"
    if row.timed_out or row.kind in (DeltaKind.REGRESSION, DeltaKind.NEW):
        return f"{base} --accept-regression --reason TEXT"
    return base
