"""What a template is given: plain values of a delta, in order, with addresses and commands.

It holds no markup and escapes nothing; templates do, by filters. Its names are a contract with
users' templates: docs/how-to/change-the-reports.md.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from routing_action.corpus.baseline import Status
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import format_duration
from routing_action.github.publication import RunLinks
from routing_action.report.page_rows import Values, build_rows, find_mark, find_word_url
from routing_action.report.reasons import Told
from routing_action.report.steps import accept_command, join_rows, record_command, rerun_commands
from routing_action.report.view import (
    cell_text,
    changed_rows,
    count_kinds,
    describe_part,
    find_agents,
    find_outcome,
    find_title,
)

_MOST_AGENTS = 20
_RUN_ID = re.compile(r"[0-9]{1,20}")


def build_page(delta: Delta, place: RunLinks) -> Values:
    """Everything that a report in markdown can show, of a delta made at a place.

    `outcome` is a word of report.view.GateOutcome; `accepted`: the change accepts all that is red;
    `changed` are the rows worth a look, red ones first, `red` those that gate; `look` and `tally`
    count the changed and all pairs in words; `duration` is the time of all agents together.
    """
    changed = build_rows(delta, changed_rows(delta), place)
    red = [row for row in changed if row["gates"]]
    all_agents = find_agents(delta)
    agents = all_agents[:_MOST_AGENTS]
    totals = delta.totals
    return {
        "conclusion": delta.conclusion.value,
        "outcome": find_outcome(delta).value,
        "title": find_title(delta),
        "reasons": delta.reasons,
        "counts": list(_counts(delta, place)),
        "not_selected": delta.not_selected,
        "part": describe_part(delta),
        "left_out": list(_left_out(delta)),
        "unverified": delta.unverified,
        "changed": changed,
        "look": _sum_up(cell_text(row) for row in changed_rows(delta)),
        "red": red,
        "expired": sum(row["kind"] is DeltaKind.EXPIRED for row in red),
        "accepted": {row.accepted for row in delta.rows if row.gates} == {True},
        "torn": list(_find_torn_cases(delta)),
        "agents": agents,
        "more_agents": len(all_agents) - len(agents),
        "matrix": _matrix(delta, agents),
        "tally": _sum_up(_find_tally(row) for row in delta.rows),
        "baseline": _baseline(delta, place),
        "record": record_command(place),
        "notes": delta.notes,
        "measured_with": [_facts(delta, agent, place) for agent in agents],
        "trials": totals.trials,
        "reused": sum(row.reused_from is not None for row in delta.rows),
        "duration": format_duration(totals.duration_ms),
        "superseded_cost": _amount(totals.superseded_cost_usd),
        "cost": _amount(totals.cost_usd),
        "cost_of": totals.cost_trials if (totals.cost_trials or 0) < totals.trials else None,
        "commit": delta.commit or "",
        "commit_url": place.commit_url(delta.commit or ""),
        "run_url": place.run_url,
        "report_url": place.report_url,
    }


def _counts(delta: Delta, place: RunLinks) -> Iterator[Values]:
    """How many pairs have a word of the delta, and where that word is explained."""
    for kind, word, number in count_kinds(delta):
        yield {"kind": word, "number": number, "url": find_word_url(kind, place)}


def _left_out(delta: Delta) -> Iterator[Values]:
    """The cases, each with the agents on which it was left out."""
    cases: dict[str, list[str]] = {}
    for one in delta.left_out:
        cases.setdefault(one.case_id, []).append(one.agent)
    for case_id, agents in cases.items():
        yield {"case_id": case_id, "agents": agents}


def _amount(usd: float | None) -> str:
    return "" if usd is None else f"{usd:.4f}"


def _find_torn_cases(delta: Delta) -> Iterator[Values]:
    """Cases that got better on some agents and worse on others."""
    better: dict[str, list[str]] = {}
    worse: dict[str, list[str]] = {}
    for row in delta.rows:
        if row.kind is DeltaKind.IMPROVEMENT:
            better.setdefault(row.case_id, []).append(row.agent)
        if row.kind is DeltaKind.REGRESSION:
            worse.setdefault(row.case_id, []).append(row.agent)
    for case_id, agents in worse.items():
        if case_id in better:
            yield {"case_id": case_id, "better": better[case_id], "worse": agents}


def _matrix(delta: Delta, agents: Sequence[str]) -> list[Values]:
    """The cases in the order of their lines, with a cell for each agent.

    Both values of a cell are empty where the pair was not selected.
    """
    cases: dict[str, dict[str, Values]] = {}
    for row in sorted(delta.rows, key=lambda one: (one.line or 10**9, one.case_id)):
        cell = {"mark": find_mark(row), "text": cell_text(row)}
        cases.setdefault(row.case_id, {})[row.agent] = cell
    none = {"mark": "", "text": ""}
    return [
        {"case_id": case_id, "cells": [cells.get(agent, none) for agent in agents]}
        for case_id, cells in cases.items()
    ]


def _baseline(delta: Delta, place: RunLinks) -> Values:
    """The baseline that decided: `commit` is empty for the checked-in file, `date` is a day."""
    source = delta.baseline
    return {
        **source.model_dump(),
        "commit": source.commit or "",
        "commit_url": place.commit_url(source.commit or ""),
        "date": (source.date or "").partition("T")[0],
    }


def _facts(delta: Delta, agent: str, place: RunLinks) -> Values:
    """What an agent was measured with, and the commands for its red pairs: repeat, accept."""
    red = [row for row in delta.rows if row.gates and row.agent == agent]
    again = [row for row in red if row.kind not in (DeltaKind.REMOVED, DeltaKind.EXPIRED)]
    accepted = [row for row in red if accept_command(row)]
    command = delta.run_commands.get(agent, "")
    return {
        "name": agent,
        "versions": delta.totals.cli_versions.get(agent, ()),
        "models": delta.totals.models.get(agent, ()),
        "rerun": rerun_commands(delta, again) if command and again else "",
        "accept": accept_command(join_rows(accepted), place=place) if len(accepted) > 1 else "",
    }


def _find_tally(row: DeltaEntry) -> str:
    if row.got in (Status.PASS, Status.FAIL):
        return row.got.value
    return "removed" if row.kind is DeltaKind.REMOVED else "not measured"


def _sum_up(words: Iterable[str]) -> Told:
    """How often each of our words comes, the most frequent one first: `57 pass, 2 fail`."""
    counted = Counter(words).most_common()
    return Told((", ".join(f"{number} {word}" for word, number in counted),))


def download_command(place: RunLinks) -> str:
    """GitHub CLI's command that fetches all artifacts of the run, side by side; "" without one."""
    if not (place.repository and _RUN_ID.fullmatch(place.run_id)):
        return ""
    return f"gh run download {place.run_id} --repo {shlex.quote(place.repository)}"
