"""What every report shows of a delta: the same facts in the same order, without any format."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from routing_action.corpus.baseline import Status
from routing_action.gate.comparison import DeltaKind
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.verdict import Conclusion
from routing_action.results.rerun import RUN_PROGRAM, select_case

_QUIET = (DeltaKind.OK,)
_BLAMED = (DeltaKind.REGRESSION, DeltaKind.NEW, DeltaKind.UNDECLARED, DeltaKind.REMOVED)


class Outcome(StrEnum):
    """What a comparison comes to, for people: a gate can be red, or open, for different causes."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_MEASURED = "not measured"
    NOT_COMPARABLE = "not comparable"
    NO_BASELINE = "no baseline"


_TITLES = {
    Outcome.PASSED: "Routing is as expected",
    Outcome.FAILED: "Routing gate failed",
    Outcome.ERROR: "Routing could not be judged",
    Outcome.NOT_MEASURED: "Routing was not fully measured",
    Outcome.NOT_COMPARABLE: "Routing passed, but compares with another CLI or model",
    Outcome.NO_BASELINE: "Routing has no baseline to compare with yet",
}


def find_outcome(delta: Delta) -> Outcome:
    """Which kind of result it is; the conclusion alone decides what CI does."""
    if delta.conclusion is Conclusion.FAILURE:
        return _why_red(delta)
    if delta.conclusion is Conclusion.NEUTRAL:
        return Outcome.NOT_MEASURED
    if delta.baseline.commit is not None and not delta.baseline.present:
        return Outcome.NO_BASELINE
    judged = [row for row in delta.rows if row.got is not None]
    if judged and all(row.not_alike for row in judged):
        return Outcome.NOT_COMPARABLE
    return Outcome.PASSED


def _why_red(delta: Delta) -> Outcome:
    """Blame of the change first, then what was lost, then what could not be measured."""
    kinds = {row.kind for row in delta.rows if row.gates}
    if not kinds.isdisjoint(_BLAMED):
        return Outcome.FAILED
    # Reasons that count rows begin with a number; the others are errors that concern no pair.
    uncounted = {reason for reason in delta.reasons if not reason.partition(" ")[0].isdigit()}
    if kinds or uncounted - {NOTHING_MEASURED}:
        return Outcome.ERROR
    unmeasured = any(row.kind is DeltaKind.UNMEASURED for row in delta.rows)
    return Outcome.NOT_MEASURED if unmeasured or uncounted else Outcome.FAILED


NOTHING_MEASURED = "nothing was measured"
"""The gate's reason where there is no row at all."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One case with the cell of each provider, in the order of the providers."""

    case_id: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeltaView:
    """A delta ready for a template. `changed` are the rows worth a look, red ones first."""

    delta: Delta
    outcome: Outcome
    title: str
    headline: str
    counts: str
    changed: tuple[DeltaEntry, ...]
    agents: tuple[str, ...]
    matrix: tuple[MatrixRow, ...]
    baseline: str
    totals: str


def build_view(delta: Delta) -> DeltaView:
    """Derive everything that reports share."""
    agents = _agents(delta)
    outcome = find_outcome(delta)
    title = _TITLES[outcome]
    if outcome is Outcome.NOT_MEASURED and not any(row.got for row in delta.rows):
        title = "Routing was not measured"
    return DeltaView(
        delta=delta,
        outcome=outcome,
        title=title,
        headline=_headline(title, delta.reasons),
        counts=", ".join(f"{number} {kind.value}" for kind, number in delta.counts.items()),
        changed=tuple(row for row in delta.rows if _is_worth_a_look(row)),
        agents=agents,
        matrix=_matrix(delta.rows, agents),
        baseline=_baseline(delta),
        totals=_totals(delta),
    )


def _is_worth_a_look(row: DeltaEntry) -> bool:
    return row.kind not in _QUIET or row.flaky or bool(row.not_alike)


def _headline(title: str, reasons: Sequence[str]) -> str:
    return f"{title}: {'; '.join(reasons)}" if reasons else title


def _agents(delta: Delta) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*delta.agents, *sorted({row.agent for row in delta.rows}))))


def _matrix(rows: Sequence[DeltaEntry], agents: Sequence[str]) -> tuple[MatrixRow, ...]:
    cells: dict[str, dict[str, str]] = {}
    for row in sorted(rows, key=lambda one: (one.line or 10**9, one.case_id)):
        cells.setdefault(row.case_id, {})[row.agent] = cell_text(row)
    return tuple(
        MatrixRow(case_id, tuple(found.get(agent, "") for agent in agents))
        for case_id, found in cells.items()
    )


def cell_text(row: DeltaEntry) -> str:
    """A pair in a word: its status where it is as expected, else the delta's word."""
    got = row.got.value if row.got else ""
    word = got if row.kind is DeltaKind.OK else row.kind.value
    marks = [mark for mark, shown in (("flaky", row.flaky), ("late", row.timed_out)) if shown]
    return f"{word} ({', '.join(marks)})" if marks else word


def _baseline(delta: Delta) -> str:
    source = delta.baseline
    if source.commit is None:
        return f"{source.path}, {source.how}"
    missing = "" if source.present else ", where the file does not exist"
    return f"{source.path} at {source.commit[:12]} of {source.date}, {source.how}{missing}"


def _totals(delta: Delta) -> str:
    totals = delta.totals
    cost = f", {totals.cost_usd:.4f} USD reported" if totals.cost_usd is not None else ""
    versions = "; ".join(
        f"{agent} {' and '.join(found)}" for agent, found in totals.cli_versions.items()
    )
    made = f"; {versions}" if versions else ""
    return f"{totals.trials} runs, {totals.duration_ms / 1000:.1f} s of agent time{cost}{made}"


def rerun_command(delta: Delta, row: DeltaEntry) -> str:
    """The command that measures this pair again, as it was measured."""
    return select_case(delta.run_commands.get(row.agent, _plain_run(row.agent)), row.case_id)


def _plain_run(agent: str) -> str:
    return f"{RUN_PROGRAM} --agents {shlex.quote(agent)}"


def can_accept(row: DeltaEntry) -> bool:
    """True where what was measured could become the new expectation."""
    is_measured = row.got is not None and row.got is not Status.INFRA_ERROR
    return is_measured and (row.gates or row.kind is DeltaKind.IMPROVEMENT)


def accept_command(row: DeltaEntry, results: str = "RESULTS") -> str:
    """The command that accepts what was measured as the new expectation.

    "" where that would not help: an entry that was removed is to be put back as it was, and what
    could not be measured is to be measured.
    """
    if row.kind is DeltaKind.REMOVED or row.got is Status.INFRA_ERROR:
        return ""
    base = f"routing-action baseline update --from {results} --cases {shlex.quote(row.case_id)}"
    if row.kind is DeltaKind.REGRESSION:
        return f"{base} --accept-regression --reason TEXT"
    return base
