"""Believes a reused row only where the gate itself finds what it was reused from.

An artifact says what it likes. The history says what was measured, and git what the change moves:
a pair that the change can move is never reused, whatever both of the others say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from routing_action.corpus.baseline import Pair
from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.influences import Influence
from routing_action.errors import HarnessError
from routing_action.gate.deltas import reject
from routing_action.gate.histories import History
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.moved_cases import Measured, find_moved_cases
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count, name_few
from routing_action.results.measured import MeasuredBatch
from routing_action.results.model import MeasuredRow
from routing_action.results.past.history import HistoryLine
from routing_action.results.past.reused import is_within, may_stand, name_source

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class FindMoved:
    """Says what can have moved each case since a commit; None where git does not tell."""

    root: Path
    history: History
    corpus: Corpus
    named: Mapping[str, Influence]

    def __call__(self, commit: str, agents: Iterable[str]) -> Mapping[str, str] | None:
        """An entry of the baseline moves no measurement."""
        judged = {path: one for path, one in self.named.items() if one is not Influence.BASELINE}
        measured = Measured(self.corpus, tuple(agents), judged)
        try:
            base = self.history.find_commit(commit)
            return find_moved_cases(self.root, base, self.history, measured)
        except HarnessError:
            return None


def drop_unproven(
    batches: Sequence[MeasuredBatch],
    past: Iterable[HistoryLine],
    find_moved: Callable[[str, Iterable[str]], Mapping[str, str] | None],
    base: str,
    days: int,
) -> tuple[list[MeasuredBatch], dict[Pair, str]]:
    """The batches without the reused rows that nothing proves, and what is wrong with each pair.

    `past` are the lines of the history. `base` is the commit that the change is compared with; ""
    takes the one that was measured.
    """
    reused = [batch for batch in batches if any(row.reused_from for row in batch.rows)]
    if not reused:
        return list(batches), {}
    measured = {(line.batch, line.pair): line for line in past}
    agents = dict.fromkeys(agent for batch in batches for agent in batch.options.agents)
    doubts: dict[Pair, str] = {}
    moved: dict[str, Mapping[str, str] | None] = {}

    def is_proven(batch: MeasuredBatch, row: MeasuredRow) -> bool:
        if row.reused_from is None:
            return True
        pair: Pair = (row.case_id, row.agent)
        line = measured.get((row.reused_from.batch, pair))
        doubt = _find_doubt(batch, row, line, days)
        if not doubt:
            since = base or row.reused_from.commit
            if since not in moved:
                moved[since] = find_moved(since, agents)
            doubt = _find_movement(row.case_id, moved[since])
        if doubt:
            doubts.setdefault(pair, doubt)
        return not doubt

    kept = [
        replace(batch, rows=tuple(row for row in batch.rows if is_proven(batch, row)))
        for batch in batches
    ]
    return kept, doubts


def reject_reused(delta: Delta, doubts: Mapping[Pair, str]) -> Delta:
    """The delta made red by reused pairs that nothing proves; their rows say why."""
    pairs: dict[str, list[str]] = {}
    for (case_id, agent), doubt in doubts.items():
        pairs.setdefault(doubt, []).append(f"{agent}:{case_id}")
    sentences = tuple(
        f"{name_few(names, _SHOWN)}: said to be reused, but {doubt}; run again with --reuse never"
        for doubt, names in pairs.items()
    )
    rows = tuple(_explain(row, doubts.get((row.case_id, row.agent))) for row in delta.rows)
    return reject(delta.model_copy(update={"rows": rows}), sentences)


def _explain(row: DeltaEntry, doubt: str | None) -> DeltaEntry:
    if doubt is None or row.kind is not DeltaKind.MISSING:
        return row
    why = f"its reuse was rejected: {doubt}; run it with --reuse never"
    return row.model_copy(update={"why": why})


def _find_doubt(batch: MeasuredBatch, row: MeasuredRow, line: HistoryLine | None, days: int) -> str:
    """Why the history does not prove a reused row; "" where it does."""
    if line is None or not may_stand(line) or name_source(line) != row.reused_from:
        return "the history that is read here (--history) has no such pass"
    trials = sum((one.case_id, one.agent) == line.pair for one in batch.rows)
    if line.fingerprint != row.fingerprint or line.trials < trials:
        return "the history here says that something else was measured"
    # The batch began before it was written; a day is longer than any job.
    end = datetime.fromisoformat(batch.generated_at.removesuffix("Z")).replace(tzinfo=UTC)
    if not is_within(line, end, days + 1):
        return f"that was measured more than {days} days before"
    return ""


def _find_movement(case_id: str, moved: Mapping[str, str] | None) -> str:
    if moved is None:
        return "git does not tell here whether the change moves it"
    return moved.get(case_id, "")


def describe_reused(batches: Iterable[MeasuredBatch]) -> Iterator[str]:
    """How many pairs were not run, and what stands for them, one sentence for each run."""
    found: dict[str, set[Pair]] = {}
    for row in (row for batch in batches for row in batch.rows):
        if row.reused_from is not None:
            found.setdefault(str(row.reused_from), set()).add((row.case_id, row.agent))
    for source, pairs in found.items():
        was = "was" if len(pairs) == 1 else "were"
        yield f"{count(len(pairs), 'pair')} {was} not run: {source}"
