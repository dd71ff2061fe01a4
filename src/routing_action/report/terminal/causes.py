"""Puts rows of a delta together that have one cause, and names such a group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count
from routing_action.report.causes import find_edited_taker, find_shared_cause, without_passing
from routing_action.report.reasons import describe_cause, say

_SAME_FOR_ALL = (DeltaKind.UNDECLARED, DeltaKind.IMPROVEMENT)
"""Words that alone say all of a pair, and what to do about it."""


def group_by_cause(delta: Delta, rows: Iterable[DeltaEntry]) -> list[list[DeltaEntry]]:
    """Groups in the order of their first rows; a wrong route has its own cause, and stays alone."""
    known = list(rows)
    errors: dict[str, dict[str, None]] = {}
    agents: dict[tuple[str, DeltaKind], list[str]] = {}
    for row in known:
        agents.setdefault((row.case_id, row.kind), []).append(row.agent)
        if row.got is Status.INFRA_ERROR and row.failure_kind != Outcome.NOT_RUN and row.error:
            errors.setdefault(row.agent, {})[without_passing(row.error)] = None
    groups: dict[object, list[DeltaEntry]] = {}
    for row in known:
        own, alike = errors.get(row.agent, {}), agents[row.case_id, row.kind]
        taken = find_shared_cause(delta, row) if find_edited_taker(delta, row) else ""
        cause = (taken, row.agent) if taken else _cause(row, tuple(own), tuple(alike))
        groups.setdefault(cause, []).append(row)
    return list(groups.values())


def _cause(row: DeltaEntry, errors: Sequence[str], agents: Sequence[str]) -> object:
    """`errors` are those of the row's agent: one that was stopped says after which of them.

    `agents` are those of which the case has the same word: a command for them all names no other.
    """
    if row.got is Status.INFRA_ERROR:
        error = without_passing(row.error or row.failure_kind or "")
        return ("infra", row.agent, next((one for one in errors if one in error), error))
    if row.kind in _SAME_FOR_ALL:
        return (row.kind, row.gates, row.not_alike, agents, row.got, say(describe_cause(row)))
    if row.timed_out and row.got is Status.FAIL:
        return (row.kind, row.agent, row.failure_kind, row.disallowed_hits)
    if row.flaky or row.was_red or row.chance or (row.gates and row.got is Status.FAIL):
        return (row.case_id, row.agent)
    cause = say(describe_cause(row)) if row.got is Status.FAIL else ""
    return (row.kind, row.gates, row.why, row.not_alike, row.stale, cause)


def name_group(rows: Sequence[DeltaEntry]) -> str:
    """`claude:one`, `claude: 20 cases`, `one on claude, codex` or `6 pairs of claude, codex`."""
    cases = list(dict.fromkeys(row.case_id for row in rows))
    agents = list(dict.fromkeys(row.agent for row in rows))
    if len(rows) == 1:
        return f"{agents[0]}:{cases[0]}"
    if len(agents) == 1:
        return f"{agents[0]}: {count(len(cases), 'case')}"
    if len(cases) == 1:
        return f"{cases[0]} on {', '.join(agents)}"
    return f"{count(len(rows), 'pair')} of {', '.join(agents)}"
