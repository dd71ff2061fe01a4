"""Builders for comparisons: batches, rows and baselines in a few words."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from routing_action.corpus.baseline import BaselineEntry, Status
from routing_action.gate.judging.tree import Tree
from routing_action.gate.rules import Comparison, DeltaRow, compare
from routing_action.results.measured import MeasuredBatch, gather
from routing_action.results.model import UnitResult
from tests.support.result_rows import make_results, make_row

Word = Literal["pass", "fail", "infra_error"]
Entries = dict[str, dict[str, BaselineEntry]]


def row(case_id: str, agent: str, status: Word = "pass", **fields: Any) -> UnitResult:  # noqa: ANN401
    """One measured trial."""
    number = zlib.crc32(f"{case_id}-{agent}-{fields.get('trial', 1)}".encode())
    return make_row(number, case_id=case_id, agent=agent, status=Status(status), **fields)


def batch(
    rows: Sequence[UnitResult],
    *,
    file: str = "r.json",
    key: str = "k",
    attempt: int = 1,
    selected: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    complete: bool = True,
    shard: str | None = None,
) -> MeasuredBatch:
    """A results file that selected what it holds, unless told otherwise."""
    chosen = {
        "agents": tuple(agents or dict.fromkeys(r.agent for r in rows)),
        "selected_case_ids": tuple(selected or dict.fromkeys(r.case_id for r in rows)),
        "shard": shard,
    }
    options = make_results().options.model_copy(update=chosen)
    return MeasuredBatch(file, key, attempt, complete, options, (), tuple(rows))


def expect(pairs: Mapping[tuple[str, str], str | BaselineEntry]) -> Entries:
    """A baseline from `{(case, agent): "pass"}`."""
    entries: Entries = {}
    for (case_id, agent), value in pairs.items():
        entry = (
            value
            if isinstance(value, BaselineEntry)
            else BaselineEntry.model_validate({"expected_status": value})
        )
        entries.setdefault(case_id, {})[agent] = entry
    return entries


def judge(
    batches: Sequence[MeasuredBatch],
    ref: Entries | None,
    current: Entries | None = None,
    **tree: Any,  # noqa: ANN401
) -> Comparison:
    """Compare; the tree holds the current baseline's cases unless told otherwise."""
    declared = current if current is not None else ref or {}
    cases = tree.pop("case_ids", declared)
    return compare(gather(batches), ref, Tree(frozenset(cases), declared, **tree))


def only(comparison: Comparison) -> DeltaRow:
    """The single row of a comparison."""
    (found,) = comparison.rows
    return found
