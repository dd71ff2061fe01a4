"""Finds rows that say the same for the same cause, so that a report can say it once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from routing_action.corpus.baseline import Status
from routing_action.gate.model import DeltaEntry
from routing_action.report.reasons import describe_cause, say

GROUPED_FROM = 4
"""Fewer rows than that are read one by one."""

_PASSING = re.compile(r"\b(?=[\w-]*\d)[\w-]{8,}\b|\d+(?:\.\d+)?")
"""Ids, times and amounts: they differ from one message of a CLI to the next."""
_STOPPED = re.compile(r"not run: .+? was stopped after (?P<kind>\w+) \((?P<error>.*)\)", re.DOTALL)
"""What stands at a pair that was not started, since another one of its agent had failed so."""


def find_shared_cause(row: DeltaEntry) -> str:
    """What rows with the same cause have in common; "" where a row is to be read by itself.

    Each red row that was measured, and each flaky one, has a story of its own.
    """
    if row.flaky or row.was_red or (row.gates and row.got is Status.FAIL):
        return ""
    kind, error = row.failure_kind or "", row.error or ""
    if stopped := _STOPPED.fullmatch(error):
        kind, error = stopped["kind"], stopped["error"]
    story = "" if row.got is Status.INFRA_ERROR else say(describe_cause(row))
    words = (row.kind, row.got or "", kind, _PASSING.sub("#", error), story)
    return "\n".join((*words, str(row.gates), *row.not_alike))


def group_rows(rows: Iterable[DeltaEntry]) -> list[Sequence[DeltaEntry]]:
    """The rows in their order; where many share a cause, as one group in the place of the first."""
    groups: dict[object, list[DeltaEntry]] = {}
    for row in rows:
        groups.setdefault(find_shared_cause(row) or (row.case_id, row.agent), []).append(row)
    found: list[Sequence[DeltaEntry]] = []
    for own in groups.values():
        found += [own] if len(own) >= GROUPED_FROM else [[row] for row in own]
    return found
