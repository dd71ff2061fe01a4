"""Describe one row of a comparison: what is known of the pair, for reports and CI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from routing_action.corpus.baseline import find_entry
from routing_action.gate.find_baselines import Baselines
from routing_action.gate.judging.certainty import Chance
from routing_action.gate.model import FINDINGS, DeltaChance, DeltaEntry, DeltaProof
from routing_action.gate.rules import DeltaKind, DeltaRow
from routing_action.results.measured import MeasuredPair, When
from routing_action.results.model import MeasuredRow


def describe_row(
    row: DeltaRow,
    lines: Mapping[str, int],
    baselines: Baselines,
    before: tuple[When, ...],
    stale: str | None,
) -> DeltaEntry:
    """The row with its evidence; a field that says nothing is left out.

    `lines` hold where cases stand, `before` when the pair was red, `stale` what changed since.
    """
    case_id, agent = row.pair
    told = {
        "line": lines.get(case_id),
        "not_alike": row.not_alike,
        "red_before": tuple(when for when in before if isinstance(when, int)),
        "red_in_runs": tuple(when for when in before if isinstance(when, str)),
        "stale": stale,
        "accepted": _is_accepted(row, baselines) or None,
        "chance": describe_chance(row.chance) if row.chance else None,
        **(_evidence(row.measured) if row.measured else {}),
    }
    # A field that is not given takes no memory of its own.
    given: dict[str, Any] = {name: value for name, value in told.items() if value not in _EMPTY}
    return DeltaEntry(
        case_id=case_id,
        agent=agent,
        kind=row.kind,
        gates=row.gates,
        was=row.expected,
        got=row.got,
        why=row.why,
        **given,
    )


_EMPTY = (None, "", ())


def describe_chance(chance: Chance) -> DeltaChance:
    """The same as delta.json says it."""
    return DeltaChance(
        finding=FINDINGS[chance.finding],
        failed=chance.failed,
        measured=chance.measured,
        before_passes=chance.before.passes,
        before_trials=chance.before.trials,
        declared_rate=chance.rate,
        odds=chance.odds,
    )


def _is_accepted(row: DeltaRow, baselines: Baselines) -> bool:
    """Whether the change's own baseline expects what the deciding one is red for, or not yet."""
    entry = find_entry(baselines.current, row.pair)
    if entry is None or row.measured is None or row.kind not in _ACCEPTABLE:
        return False
    is_late = row.measured.timed_out and not entry.allow_timeout
    return entry.expected_status is row.got and not is_late


_ACCEPTABLE = (DeltaKind.REGRESSION, DeltaKind.IMPROVEMENT)


def _evidence(measured: MeasuredPair) -> dict[str, object]:
    row = measured.row
    return {
        "failure_kind": row.failure_kind,
        "error": row.error,
        "missing_evidence": row.missing_evidence,
        "disallowed_hits": row.disallowed_hits,
        "loaded_skills": row.loaded_skills,
        "subagent_skills": row.subagent_skills,
        "proofs": tuple(_proofs(row)),
        "flaky": measured.flaky,
        "timed_out": measured.timed_out,
        "passed": measured.passed,
        "trials": measured.trials,
        "measured": measured.measured if measured.measured != measured.trials else None,
        "unit_run_id": row.unit_run_id,
        "reused_from": row.reused_from,
    }


def _proofs(row: MeasuredRow) -> Iterator[DeltaProof]:
    for token in dict.fromkeys((*row.disallowed_hits, *row.missing_evidence, *row.loaded_skills)):
        hit = row.token_hits.get(token)
        if hit is not None:
            yield DeltaProof(
                token=token,
                tier=hit.tier,
                source_detail=hit.source_detail,
                proof_line=hit.proof_line,
            )
