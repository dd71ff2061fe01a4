"""Made-up units and rows of a journal."""

from __future__ import annotations

from typing import Any

from routing_action.results.journal_records import PlannedUnit
from routing_action.results.model import UnitResult
from tests.result_rows import make_results, make_row

BATCH = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
NOW = "2026-01-02T03:04:05.678Z"
OPTIONS = make_results().options.model_copy(update={"selected_case_ids": ("c0", "c1", "c2")})


def unit(number: int, *, attempt: int = 0) -> PlannedUnit:
    """The unit of case `cN`, with an id that tells number and attempt."""
    unit_run_id = f"00000000-0000-4000-8000-{attempt:06}{number:06}"
    return PlannedUnit(unit_run_id=unit_run_id, agent="claude", case_id=f"c{number}", trial=1)


def row(planned: PlannedUnit, *, cancelled: bool = False) -> UnitResult:
    """A row of the unit: passed, or cancelled."""
    ended: dict[str, Any] = {
        "status": "infra_error",
        "outcome": "cancelled",
        "ended_by": "cancelled",
    }
    return make_row(
        unit_run_id=planned.unit_run_id,
        agent=planned.agent,
        case_id=planned.case_id,
        trial=planned.trial,
        source="none",
        matched_evidence=(),
        duration_ms=5,
        command=("agent",),
        output_excerpt="ünïcode \u2028 text",
        recognised_events=1,
        **(ended if cancelled else {}),
    )
