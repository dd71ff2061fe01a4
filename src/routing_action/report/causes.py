"""Finds rows that say the same for the same cause, so that a report can say it once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from routing_action.corpus.baseline import Status
from routing_action.evidence.verdict import FailureKind
from routing_action.gate.model import Delta, DeltaEntry, DeltaSkill
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count
from routing_action.report.escape import cut
from routing_action.report.reasons import (
    Name,
    Sentence,
    describe_cause,
    describe_trials,
    find_skill,
    list_noise,
    list_takers,
    list_wanted,
    name_all,
    say,
)

_OF_AGENT = (FailureKind.SKILL_UNAVAILABLE, FailureKind.INVOKED_BUT_NOT_LOADED)
"""What to do about these names the agent."""
_PASSING = re.compile(r"\b(?=[\w-]*\d)[\w-]{8,}\b|\d+(?:\.\d+)?")
"""Ids, times and amounts: they differ from one message of a CLI to the next."""
_LONGEST_PROMPT = 120
_STOPPED = re.compile(r"not run: .+? was stopped after .+? \((?P<error>.*)\)", re.DOTALL)
"""What stands at a pair that was not started, since another one of its agent had failed so."""


def without_passing(error: str) -> str:
    """An error with `#` for its ids, times and amounts, to compare it with another one."""
    return _PASSING.sub("#", error)


def find_shared_cause(delta: Delta, row: DeltaEntry) -> str:
    """What rows with the same cause have in common; "" where a row is to be read by itself.

    Each red row that was measured, and each flaky one, has a story of its own, but where one skill
    that the change edits took several prompts, or an agent was out of time.
    """
    if row.kind is DeltaKind.EXPIRED:
        return ""
    if skill := find_edited_taker(delta, row):
        told = (row.kind, str(row.accepted), describe_trials(row), *row.not_alike)
        return "\n".join(("taken by", skill.name, *told))
    if row.got is Status.INFRA_ERROR:
        error = row.error or row.failure_kind or ""
        stopped = _STOPPED.fullmatch(error)
        error = without_passing(stopped["error"] if stopped else error)
        return f"not measured\n{row.agent}\n{error}"
    if row.timed_out and row.got is Status.FAIL:
        late = ("timed out", row.kind, row.agent, str(row.accepted), *row.disallowed_hits)
        return "\n".join(late)
    is_read_alone = row.flaky or row.was_red or row.chance or (row.gates and row.got is Status.FAIL)
    if is_read_alone and row.kind is not DeltaKind.UNDECLARED:
        return ""
    words = (row.kind, row.got or "", row.failure_kind or "", say(describe_cause(row)))
    return "\n".join((*words, str(row.gates), *row.not_alike))


def group_rows(delta: Delta, rows: Iterable[DeltaEntry]) -> list[list[DeltaEntry]]:
    """Rows with one cause, in the order of their first ones: always some cases on some agents."""
    cases: dict[tuple[str, ...], list[DeltaEntry]] = {}
    for row in rows:
        cause = find_shared_cause(delta, row)
        cases.setdefault((row.case_id, cause, *(() if cause else _own_cause(row))), []).append(row)
    groups: dict[tuple[str, ...], list[DeltaEntry]] = {}
    for (case_id, cause, *own), found in cases.items():
        agents = (row.agent for row in found)
        key = (cause,) if cause else (case_id, *own)
        groups.setdefault((*key, "", *agents), []).extend(found)
    return list(groups.values())


def _own_cause(row: DeltaEntry) -> tuple[str, ...]:
    """What the agents that fail a case alike have in common; nothing is shared by two cases."""
    is_of_agent = row.failure_kind in _OF_AGENT
    noise = (say(sentence) for sentence in list_noise(row, ()))
    said = (say(describe_cause(row)), row.failure_kind or "", str((row.accepted, row.timed_out)))
    return (row.kind, str(row.got), row.agent if is_of_agent else "", *said, *noise)


def find_edited_taker(delta: Delta, row: DeltaEntry) -> DeltaSkill | None:
    """The one skill that took the prompt, where the change writes or edits its description."""
    takers = list_takers(row)
    doubts = row.flaky or row.timed_out or row.red_before or row.kind is DeltaKind.EXPIRED
    if not row.gates or row.got is not Status.FAIL or doubts or len(takers) != 1:
        return None
    skill = find_skill(delta, row.agent, takers[0])
    return skill if skill and skill.before is not None and skill.description else None


def describe_group(delta: Delta, group: Sequence[DeltaEntry]) -> Sentence:
    """What broke: which skill took how many prompts, or what happened to the first row."""
    cases = {row.case_id for row in group}
    skill = find_edited_taker(delta, group[0])
    if skill is None or len(cases) == 1:
        is_late = len(cases) > 1 and group[0].timed_out and not group[0].disallowed_hits
        return ("timed out",) if is_late else describe_cause(group[0])
    verb = "edits" if skill.before else "adds"
    return (Name(skill.name), f", which this change {verb}, took {len(cases)} prompts")


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


def list_taken(delta: Delta, group: Sequence[DeltaEntry]) -> list[tuple[str, str]]:
    """The prompts that one skill took, each with what was wanted; none where it took a single one.

    A case without a known prompt is named by its id.
    """
    cases = {row.case_id: row for row in group}
    if len(cases) == 1 or find_edited_taker(delta, group[0]) is None:
        return []
    return [
        (cut(delta.prompts.get(name, name), _LONGEST_PROMPT), say(name_all(list_wanted(row))))
        for name, row in cases.items()
    ]
