"""What is known of each pair: how often it passed, and what a trial of it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from routing_action.corpus.baseline import Pair, Status
from routing_action.evidence.chance import Record
from routing_action.results.model import MeasuredRow
from routing_action.results.past.history import History
from routing_action.results.past.records import sum_recent
from routing_action.results.read import read_batches


@dataclass(frozen=True, slots=True)
class Known:
    """A record, how many trials reported a cost, and its mean in US dollars (None: none did)."""

    record: Record
    cost_usd: float | None
    trials: int = 0


def know_from_history(history: History) -> Mapping[Pair, Known]:
    """The newest trials of each pair."""
    costs: dict[Pair, list[float]] = {}
    for line in history.lines:
        if line.cost_usd is not None and line.trials:
            costs.setdefault(line.pair, []).append(line.cost_usd / line.trials)
    return {
        pair: Known(record, _find_mean(costs.get(pair, [])))
        for pair, record in sum_recent(history).items()
    }


def know_from_results(files: Sequence[Path]) -> Mapping[Pair, Known]:
    """All trials of some batches together. DocumentError where one cannot be read."""
    return know_from_rows(row for batch in read_batches(files) for row in batch.rows)


def know_from_rows(rows: Iterable[MeasuredRow]) -> dict[Pair, Known]:
    """The trials that were measured; a reused row is none."""
    records: dict[Pair, Record] = {}
    costs: dict[Pair, list[float]] = {}
    for row in rows:
        if row.reused_from:
            continue
        pair = (row.case_id, row.agent)
        measured = row.status is not Status.INFRA_ERROR
        passed = row.status is Status.PASS
        records[pair] = records.get(pair, Record()) + Record(int(passed), int(measured))
        if row.cost_usd is not None:
            costs.setdefault(pair, []).append(row.cost_usd)
    return {
        pair: Known(one, _find_mean(costs.get(pair, [])), len(costs.get(pair, [])))
        for pair, one in records.items()
    }


def _find_mean(costs: Sequence[float]) -> float | None:
    return sum(costs) / len(costs) if costs else None
