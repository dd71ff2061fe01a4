"""Made-up units and rows of a journal."""

from __future__ import annotations

from routing_action.domain.results import Options, UnitResult
from routing_action.store.journal_records import PlannedUnit

BATCH = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
NOW = "2026-01-02T03:04:05.678Z"
OPTIONS = Options(
    agents=("claude",),
    categories=(),
    case_ids=(),
    selected_case_ids=("c0", "c1", "c2"),
    sample=None,
    seed=None,
    shard=None,
    matrix_key=None,
    attempt=1,
    corpus_sha256="0" * 64,
    trials=1,
    timeout_seconds=300,
    max_parallel=4,
    log_scan=False,
    workspace="isolated",
    replay=None,
    fail_on_infra=False,
)


def unit(number: int, *, attempt: int = 0) -> PlannedUnit:
    """The unit of case `cN`, with an id that tells number and attempt."""
    unit_run_id = f"00000000-0000-4000-8000-{attempt:06}{number:06}"
    return PlannedUnit(unit_run_id=unit_run_id, agent="claude", case_id=f"c{number}", trial=1)


def row(planned: PlannedUnit, *, cancelled: bool = False) -> UnitResult:
    """A row of the unit: passed, or cancelled."""
    return UnitResult.model_validate(
        {
            "unit_run_id": planned.unit_run_id,
            "agent": planned.agent,
            "case_id": planned.case_id,
            "category": "",
            "status": "infra_error" if cancelled else "pass",
            "expected_skill": "foo",
            "source": "none",
            "matched_evidence": (),
            "missing_evidence": (),
            "token_hits": {},
            "tool_use_proof_lines": (),
            "matched_log_file": None,
            "optional_hits": (),
            "disallowed_hits": (),
            "failure_kind": None,
            "failure_category": None,
            "timed_out": False,
            "duration_ms": 5,
            "command": ("agent",),
            "exit_code": 0,
            "output_excerpt": "ünïcode \u2028 text",
            "error": None,
            "trial": planned.trial,
            "outcome": "cancelled" if cancelled else "completed",
            "ended_by": "cancelled" if cancelled else "exit",
            "survivors": (),
            "recognised_events": 1,
            "unrecognised_events": 0,
            "catalogue": None,
            "usage": None,
            "cost_usd": None,
            "cli_version": None,
            "model": None,
        }
    )
