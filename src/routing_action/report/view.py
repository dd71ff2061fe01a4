"""What every report shows of a delta: the same facts in the same order, without any format."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from routing_action.domain.comparison import DeltaKind
from routing_action.domain.delta import Delta, DeltaEntry
from routing_action.domain.gate import Conclusion
from routing_action.domain.rerun import RUN_PROGRAM, select_case

_QUIET = (DeltaKind.OK,)
_TITLES = {
    Conclusion.SUCCESS: "Routing is as expected",
    Conclusion.FAILURE: "Routing gate failed",
    Conclusion.NEUTRAL: "Routing was not fully measured",
}


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One case with the cell of each provider, in the order of the providers."""

    case_id: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeltaView:
    """A delta ready for a template. `changed` are the rows worth a look, red ones first."""

    delta: Delta
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
    return DeltaView(
        delta=delta,
        headline=_headline(delta),
        counts=", ".join(f"{number} {kind.value}" for kind, number in delta.counts.items()),
        changed=tuple(row for row in delta.rows if _is_worth_a_look(row)),
        agents=agents,
        matrix=_matrix(delta.rows, agents),
        baseline=_baseline(delta),
        totals=_totals(delta),
    )


def _is_worth_a_look(row: DeltaEntry) -> bool:
    return row.kind not in _QUIET or row.flaky or bool(row.not_alike)


def _headline(delta: Delta) -> str:
    title = _TITLES[delta.conclusion]
    return f"{title}: {'; '.join(delta.reasons)}" if delta.reasons else title


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


def accept_command(row: DeltaEntry, results: str = "RESULTS") -> str:
    """The command that accepts what was measured as the new expectation."""
    base = f"routing-action baseline update --from {results} --cases {shlex.quote(row.case_id)}"
    if row.kind is DeltaKind.REGRESSION:
        return f"{base} --accept-regression --reason TEXT"
    return base
