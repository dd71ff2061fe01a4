"""Builders for deltas, with everything that a test does not care about filled in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from routing_action.domain.comparison import DeltaKind
from routing_action.domain.delta import BaselineSource, Delta, DeltaEntry, Totals
from routing_action.domain.gate import Conclusion
from routing_action.domain.verdict import Status

_RED = (DeltaKind.REGRESSION, DeltaKind.MISSING, DeltaKind.UNDECLARED)


def make_entry(kind: str, number: int = 1, **changes: Any) -> DeltaEntry:  # noqa: ANN401 - any field
    """A row of a kind; those that are red by nature gate."""
    word = DeltaKind(kind)
    fields: dict[str, Any] = {
        "case_id": f"case-{number}",
        "agent": "claude",
        "kind": word,
        "gates": word in _RED,
        "was": Status.PASS,
        "got": Status.FAIL if word in _RED else Status.PASS,
        "why": "expected pass, got fail",
        "line": number,
    }
    return DeltaEntry.model_validate({**fields, **changes})


def make_delta(
    *kinds: str,
    rows: Sequence[DeltaEntry] = (),
    edited: bool = False,
    **changes: Any,  # noqa: ANN401 - any field
) -> Delta:
    """A delta of such rows, whose conclusion follows from them."""
    entries = (*rows, *(make_entry(kind, n) for n, kind in enumerate(kinds, start=1)))
    conclusion = Conclusion.SUCCESS
    reasons: tuple[str, ...] = ()
    if any(entry.kind is DeltaKind.UNMEASURED for entry in entries):
        conclusion, reasons = Conclusion.NEUTRAL, ("1 pair was not measured",)
    if any(entry.gates for entry in entries):
        conclusion, reasons = Conclusion.FAILURE, ("1 regression",)
    fields: dict[str, Any] = {
        "generated_at_utc": "2026-01-02T00:00:00Z",
        "conclusion": conclusion,
        "reasons": reasons,
        "baseline": BaselineSource(
            path="provider-baseline.json",
            commit="b" * 40,
            date="2026-01-01T00:00:00Z",
            how="merge base of origin/main and HEAD",
            present=True,
            edited=edited,
        ),
        "cases_file": "cases.json",
        "agents": ("claude",),
        "counts": dict(Counter(entry.kind for entry in entries)),
        "not_selected": 0,
        "notes": (),
        "totals": Totals(
            trials=len(entries), duration_ms=1000, cost_usd=None, cli_versions={}, models={}
        ),
        "rows": entries,
    }
    return Delta.model_validate({**fields, **changes})
