"""What every report says of a delta: its outcome and headline, the rows worth a look, commands.

Facts come from the delta's fields; prose is made here and never read back.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from enum import StrEnum

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion, is_enough
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count
from routing_action.github.publication import RunLinks
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
    kinds = {row.kind for row in delta.rows if row.gates}
    if not kinds.isdisjoint(_BLAMED):
        return GateOutcome.FAILED
    if kinds or delta.errors:
        return GateOutcome.ERROR
    unmeasured = any(row.kind is DeltaKind.UNMEASURED for row in delta.rows)
    lacks = unmeasured or not is_enough([row.got for row in delta.rows])
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
    doubts = (row.flaky, row.not_alike, row.was_red)
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


# --- what to do about a row

REASON = "why, for example: the new skill is meant to take it"
"""What an offered command gives as the reason, for a person to replace."""

MOST_IN_COMMAND = 20
"""Cases that a command names; one for more is for all cases of the agent."""

_RUN_ID = re.compile(r"[0-9]{1,20}")


def list_steps(
    delta: Delta,
    row: DeltaEntry,
    results: str = "RESULTS",
    place: RunLinks | None = None,
    group: Sequence[DeltaEntry] = (),
) -> Iterator[tuple[str, str]]:
    """What can be done about a red pair, or one that got better, each step with its label.

    `results` is where the results are, for the commands; at a `place` they are those of its run.
    The commands are for a whole `group` of rows with one cause, where it is given.
    """
    rows = group or (row,)
    accept = accept_command(join_rows(rows), results, place)
    if row.kind is DeltaKind.IMPROVEMENT:
        yield from (("lock it in", accept),) if accept else ()
        return
    if fix := find_fix(delta, row):
        yield "fix", fix
    if row.got is not None:
        yield "rerun", rerun_commands(delta, rows)
    if accept:
        yield "accept", accept
    if note := describe_acceptance(delta, row):
        yield "accepted" if row.accepted else "once accepted", note


def describe_acceptance(delta: Delta, row: DeltaEntry) -> str:
    """When an accepted expectation counts; "" for what nobody can accept."""
    if row.accepted and row.gates:
        return (
            "this change's baseline already expects that; it takes effect when merged: this gate "
            "stays red until then"
        )
    if not accept_command(row):
        return ""
    if row.kind is DeltaKind.REGRESSION and delta.baseline.commit:
        return "it takes effect when merged: this gate stays red until then"
    return "commit the baseline: it takes effect with the next run of this gate"


def rerun_command(delta: Delta, row: DeltaEntry) -> str:
    """The command that measures this pair again, as it was measured.

    Without a case id it measures all of the agent's.
    """
    plain = f"{RUN_PROGRAM} --agents {shlex.quote(row.agent)}"
    command = delta.run_commands.get(row.agent, plain)
    return select_case(command, row.case_id) if row.case_id else command


def rerun_commands(delta: Delta, rows: Sequence[DeltaEntry]) -> str:
    """A line for each agent that measures its rows again."""
    agents = dict.fromkeys(row.agent for row in rows)
    groups = ([row for row in rows if row.agent == agent] for agent in agents)
    return "\n".join(rerun_command(delta, join_rows(group)) for group in groups)


def join_rows(rows: Sequence[DeltaEntry]) -> DeltaEntry:
    """One row for the commands of all rows; without a case id where the cases are many."""
    names = list(dict.fromkeys(row.case_id for row in rows))
    agents = dict.fromkeys(row.agent for row in rows)
    lowest = next((row for row in rows if row.got is Status.FAIL), rows[0])
    few = ",".join(names) if len(names) <= MOST_IN_COMMAND else ""
    return lowest.model_copy(update={"case_id": few, "agent": ",".join(agents)})


def can_accept(row: DeltaEntry) -> bool:
    """True where what was measured could become the new expectation."""
    is_known = row.got is not None and row.got is not Status.INFRA_ERROR
    return is_known and (row.gates or row.kind is DeltaKind.IMPROVEMENT)


def accept_command(row: DeltaEntry, results: str = "RESULTS", place: RunLinks | None = None) -> str:
    """The command that accepts what was measured as the new expectation.

    "" where that would not help: an entry that was removed is to be put back as it was, what
    could not be measured is to be measured, and what the change accepts need not be again. Nor is
    anything lowered whose case is not named.
    """
    is_for_other = row.kind in (DeltaKind.REMOVED, DeltaKind.CASE_EDITED)
    if is_for_other or row.accepted or not can_accept(row):
        return ""
    cases = f"--cases {shlex.quote(row.case_id)} " if row.case_id else ""
    base = (
        f"routing-action baseline update {_name_results(results, place)} "
        f"{cases}--agents {shlex.quote(row.agent)}"
    )
    if row.timed_out or row.got is Status.FAIL:
        lower = f"{base} --accept-regression --reason {shlex.quote(REASON)}"
        return lower if row.case_id else ""
    return base


def _name_results(results: str, place: RunLinks | None) -> str:
    if place is None or not place.repository or not _RUN_ID.fullmatch(place.run_id):
        return f"--from {results}"
    return f"--from-run {place.run_id} --repo {shlex.quote(place.repository)}"
