"""Rejects a results.json whose rows contradict its counts, each other or themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from routing_action.corpus.baseline import Status
from routing_action.errors import DocumentError
from routing_action.results.model import BatchHead, MeasuredRow, summarise

DAMAGED = "run again, or download the artifact again: the file is not what a run writes"


def check_counts(head: BatchHead, rows: Sequence[MeasuredRow], path: Path) -> None:
    """Reject rows that were changed by hand: they differ from the counts, or from themselves."""
    if head.summary != summarise(rows):
        raise DocumentError(
            "does not match the rows of results", file=str(path), field="summary", remedy=DAMAGED
        )
    for place, row in enumerate(rows):
        if row.status is Status.PASS and (row.missing_evidence or row.failure_kind):
            raise DocumentError(
                f"{row.agent}:{row.case_id} passes although evidence is missing",
                file=str(path),
                field=f"results[{place}].status",
                remedy=DAMAGED,
            )
        if row.reused_from is not None and (row.status is not Status.PASS or row.token_hits):
            raise DocumentError(
                f"{row.agent}:{row.case_id} was reused, which only a pass can be, without evidence",
                file=str(path),
                field=f"results[{place}].reused_from",
                remedy=DAMAGED,
            )
        if row.reused_from is None and row.status is Status.PASS and not _proves_its_skill(row):
            raise DocumentError(
                f"{row.agent}:{row.case_id} passes without evidence of {row.expected_skill}",
                file=str(path),
                field=f"results[{place}].token_hits",
                remedy=DAMAGED,
            )


def _proves_its_skill(row: MeasuredRow) -> bool:
    """Whether the expected skill has a hit that can prove it; an alias of it has another name."""
    own = row.token_hits.get(row.expected_skill)
    hits = [own] if row.expected_skill in row.token_hits else row.token_hits.values()
    return not row.expected_skill or any(hit is not None and hit.tier <= 2 for hit in hits)


def check_once(rows: Sequence[MeasuredRow], path: Path) -> None:
    """Refuse a row that repeats another one."""
    trials: dict[tuple[str, str, int], int] = {}
    ids: dict[str, int] = {}
    for place, row in enumerate(rows):
        first = trials.setdefault((row.agent, row.case_id, row.trial), place)
        what, name = f"{row.agent}:{row.case_id} trial {row.trial} is already", "trial"
        if first == place:
            first = ids.setdefault(row.unit_run_id, place)
            what, name = f"{row.unit_run_id} is already that of", "unit_run_id"
        if first != place:
            raise DocumentError(
                f"{what} results[{first}]",
                file=str(path),
                field=f"results[{place}].{name}",
                remedy=DAMAGED,
            )
