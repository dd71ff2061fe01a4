"""What a template is given: plain values of a delta, in order, with addresses and commands.

It holds no markup and escapes nothing; templates do, by filters. Its names are a contract with
users' templates: docs/how-to/change-the-reports.md.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from routing_action.gate.model import Delta
from routing_action.github.publication import RunLinks
from routing_action.report.limits import Space
from routing_action.report.page_rows import PageRow, build_rows, find_mark, find_torn_cases
from routing_action.report.view import DeltaView, build_view, cell_text

_MOST_AGENTS = 20
_MOST_IN_COMMAND = 20
_RUN_ID = re.compile(r"[0-9]{1,20}")
_EARLIER_NOTES = ("no baseline:", "this change edits the baseline;")


@dataclass(frozen=True, slots=True)
class BaselineFacts:
    """The baseline that decided: `commit` is empty for the checked-in file, `date` is a day."""

    path: str
    commit: str
    commit_url: str
    date: str
    how: str
    present: bool
    edited: bool


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What an agent was measured with, and the command that repeats its red pairs."""

    name: str
    versions: tuple[str, ...]
    models: tuple[str, ...]
    rerun: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many pairs have a word of the delta, and where that word is explained."""

    kind: str
    number: int
    url: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A pair in the matrix; both are empty where the pair was not selected."""

    mark: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class CaseCells:
    """A case with a cell for each agent."""

    case_id: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TornCase:
    """A case that got better on some agents and worse on others."""

    case_id: str
    better: tuple[str, ...]
    worse: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A delta for a template.

    `outcome` is a word of report.view.Outcome; `changed` are the rows worth a look, red ones
    first, `red` those that gate; `duration` is the time of all agents together.
    """

    conclusion: str
    outcome: str
    title: str
    reasons: tuple[str, ...]
    counts: tuple[Count, ...]
    not_selected: int
    changed: tuple[PageRow, ...]
    red: tuple[PageRow, ...]
    torn: tuple[TornCase, ...]
    agents: tuple[str, ...]
    more_agents: int
    matrix: tuple[CaseCells, ...]
    baseline: BaselineFacts
    notes: tuple[str, ...]
    measured_with: tuple[AgentFacts, ...]
    trials: int
    duration: str
    cost: str
    commit: str
    commit_url: str
    run_url: str
    report_url: str
    download: str

    @property
    def has_proofs(self) -> bool:
        """True where any row has something found, or said by a CLI, to show in the table."""
        return any(row.proofs or row.error for row in self.changed)

    @property
    def everything(self) -> Space:
        """The space that shows all of it."""
        return Space(
            rows=len(self.changed),
            evidence=len(self.red),
            proofs=len(self.red),
            matrix=len(self.matrix),
        )


def build_page(delta: Delta, place: RunLinks) -> Page:
    """Everything that a report in markdown can show, of a delta made at a place."""
    view = build_view(delta)
    torn = find_torn_cases(delta.rows)
    changed = build_rows(delta, view.changed, place)
    agents = view.agents[:_MOST_AGENTS]
    return Page(
        conclusion=delta.conclusion.value,
        outcome=view.outcome.value,
        title=view.title,
        reasons=delta.reasons,
        counts=tuple(
            Count(
                kind.value,
                number,
                place.docs_page(f"reference/delta-words.md#{kind.value.lower()}"),
            )
            for kind, number in delta.counts.items()
        ),
        not_selected=delta.not_selected,
        changed=changed,
        red=tuple(row for row in changed if row.gates),
        torn=tuple(TornCase(case_id, *sides) for case_id, sides in torn.items()),
        agents=agents,
        more_agents=len(view.agents) - len(agents),
        matrix=_matrix(view, agents),
        baseline=_baseline(delta, place),
        notes=tuple(note for note in delta.notes if not note.startswith(_EARLIER_NOTES)),
        measured_with=tuple(_facts(delta, agent, changed) for agent in agents),
        trials=delta.totals.trials,
        duration=format_duration(delta.totals.duration_ms),
        cost="" if delta.totals.cost_usd is None else f"{delta.totals.cost_usd:.4f}",
        commit=delta.commit or "",
        commit_url=place.commit_url(delta.commit or ""),
        run_url=place.run_url,
        report_url=place.report_url,
        download=_download(place),
    )


def _matrix(view: DeltaView, agents: Sequence[str]) -> tuple[CaseCells, ...]:
    cells = {
        (row.case_id, row.agent): Cell(find_mark(row), cell_text(row)) for row in view.delta.rows
    }
    return tuple(
        CaseCells(row.case_id, tuple(cells.get((row.case_id, agent), Cell()) for agent in agents))
        for row in view.matrix
    )


def _baseline(delta: Delta, place: RunLinks) -> BaselineFacts:
    source = delta.baseline
    return BaselineFacts(
        path=source.path,
        commit=source.commit or "",
        commit_url=place.commit_url(source.commit or ""),
        date=(source.date or "").partition("T")[0],
        how=source.how,
        present=source.present,
        edited=source.edited,
    )


def _facts(delta: Delta, agent: str, changed: Sequence[PageRow]) -> AgentFacts:
    totals = delta.totals
    red = [row.case_id for row in changed if agent in row.agents and row.gates and row.rerun]
    command = delta.run_commands.get(agent, "")
    few = ",".join(red[:_MOST_IN_COMMAND])
    return AgentFacts(
        name=agent,
        versions=totals.cli_versions.get(agent, ()),
        models=totals.models.get(agent, ()),
        rerun=f"{command} --case-id {shlex.quote(few)}" if command and red else "",
    )


def _download(place: RunLinks) -> str:
    """GitHub CLI's command that fetches the results of the run into the folder RESULTS."""
    if not (place.repository and _RUN_ID.fullmatch(place.run_id)):
        return ""
    where = f"{place.run_id} --repo {shlex.quote(place.repository)}"
    return f"gh run download {where} --pattern 'routing-results-*' --dir RESULTS"


def format_duration(milliseconds: int) -> str:
    """Time in the two largest units: `9.1 s`, `4 min 5 s`, `2 h 7 min`."""
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
