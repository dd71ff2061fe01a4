"""Builders for results.json values, with everything that a test does not care about filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy, SourceKind
from routing_action.results.model import (
    Options,
    Results,
    TokenHit,
    UnitResult,
    summarise,
    summarise_pairs,
)

_STATUS = {"pass": "pass", "fail": "fail", "infra": "infra_error"}
BATCH = "00000000-0000-4000-8000-0000000000ff"


def unit_id(number: int) -> str:
    """A valid UUID v4 that tells its number."""
    return f"00000000-0000-4000-8000-{number:012x}"


def make_row(number: int = 1, **changes: Any) -> UnitResult:  # noqa: ANN401 - any field
    """A passing row of claude."""
    fields: dict[str, Any] = {
        "unit_run_id": unit_id(number),
        "agent": "claude",
        "case_id": "one",
        "category": "",
        "status": Status.PASS,
        "expected_skill": "",
        "source": "cli_output",
        "matched_evidence": ("foo",),
        "missing_evidence": (),
        "token_hits": {},
        "tool_use_proof_lines": (),
        "matched_log_file": None,
        "optional_hits": (),
        "disallowed_hits": (),
        "failure_kind": None,
        "failure_category": None,
        "timed_out": False,
        "duration_ms": 1500,
        "command": ("claude",),
        "exit_code": 0,
        "output_excerpt": "",
        "error": None,
        "trial": 1,
        "outcome": Outcome.COMPLETED,
        "ended_by": EndedBy.EXIT,
        "survivors": (),
        "recognised_events": 3,
        "unrecognised_events": 0,
        "catalogue": None,
        "usage": None,
        "cost_usd": None,
        "cli_version": None,
        "model": None,
    }
    return UnitResult.model_validate({**fields, **changes})


def make_hit(tier: Literal[1, 2, 3], score: int, detail: str, line: str) -> TokenHit:
    """The best evidence for a token, on standard output."""
    return TokenHit(
        best_score=score,
        tier=tier,
        source_kind=SourceKind.CLI_OUTPUT,
        source_detail=detail,
        proof_line=line,
    )


def make_results(*rows: UnitResult, **changes: Any) -> Results:  # noqa: ANN401 - any field
    """Results that hold the rows, with matching totals."""
    options = Options(
        agents=tuple(dict.fromkeys(row.agent for row in rows)) or ("claude",),
        categories=(),
        case_ids=(),
        selected_case_ids=("one",),
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
    fields: dict[str, Any] = {
        "batch_run_id": BATCH,
        "generated_at_utc": "2026-01-01T00:00:00.000Z",
        "summary": summarise(rows),
        "pairs": summarise_pairs(rows),
        "options": options,
        "results": rows,
    }
    return Results(**{**fields, **changes})


def write_results(folder: Path, measured: dict[tuple[str, str], str], **options: Any) -> Path:  # noqa: ANN401
    """A results.json in a folder, with one row for each pair: `{(case, agent): word}`."""
    rows = [
        make_row(n, case_id=case, agent=agent, status=_STATUS[word])
        for n, ((case, agent), word) in enumerate(measured.items(), start=1)
    ]
    results = make_results(*rows, batch_run_id=unit_id(len(str(folder)) + 900))
    chosen = {
        "agents": tuple(dict.fromkeys(agent for _, agent in measured)),
        "selected_case_ids": tuple(dict.fromkeys(case for case, _ in measured)),
        **options,
    }
    results = results.model_copy(update={"options": results.options.model_copy(update=chosen)})
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    path.write_text(results.model_dump_json(by_alias=True), encoding="utf-8")
    return path
