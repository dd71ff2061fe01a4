"""Deltas and units for the tests of reports, with what a test does not care about filled in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import BaselineSource, Delta, DeltaEntry, Totals
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.markdown import SUMMARY_BYTES, Renderer
from routing_action.results.transcript_lines import TranscriptLine, UnitRecord
from tests.support.result_rows import make_row

HOSTILE = (
    "</script><script>window.hit = 1</script>",
    "<!--<script>",
    "--><img src=x onerror='window.hit = 2'>",
    "]]></failure>",
    "{{ 7 * 7 }}{% raw %}",
    "nul \x00 bell \x07 escape \x1b[31m",
    "bidi \u202e\u2066drow\u2069",
    "\u2028\u2029\ufeff\u200b",
    "'\"` onmouseover=window.hit=3 &lt;b&gt;",
    "javascript:window.hit=4",
    "\U0001f600 é ß \uffff",
)
"""What an agent, a case file or a pull request may hold; none of it may act."""

SOURCE = BaselineSource(
    path="provider-baseline.json",
    commit="a" * 40,
    date="2026-01-01T00:00:00Z",
    how="merge base of origin/main and HEAD",
    present=True,
    edited=True,
)


def make_entry(case_id: str = "one", agent: str = "claude", **changes: Any) -> DeltaEntry:  # noqa: ANN401
    """A pair that passes as expected."""
    fields: dict[str, Any] = {
        "case_id": case_id,
        "agent": agent,
        "kind": DeltaKind.OK,
        "gates": False,
        "was": Status.PASS,
        "got": Status.PASS,
        "why": "pass, as expected",
        "line": 3,
        "passed": 1,
        "trials": 1,
    }
    return DeltaEntry.model_validate({**fields, **changes})


def make_regression(case_id: str = "red", agent: str = "codex", **changes: Any) -> DeltaEntry:  # noqa: ANN401
    """A pair that makes the gate red."""
    fields: dict[str, Any] = {
        "kind": DeltaKind.REGRESSION,
        "gates": True,
        "got": Status.FAIL,
        "why": "expected pass, got fail (weak_evidence_only)",
        "failure_kind": "weak_evidence_only",
        "missing_evidence": ("foo",),
        "passed": 0,
    }
    return make_entry(case_id, agent, **{**fields, **changes})


def make_delta(*rows: DeltaEntry, **changes: Any) -> Delta:  # noqa: ANN401
    """A delta of some rows; red where one of them gates."""
    red = any(row.gates for row in rows)
    fields: dict[str, Any] = {
        "generated_at_utc": "2026-01-02T03:04:05.000Z",
        "conclusion": Conclusion.FAILURE if red else Conclusion.SUCCESS,
        "reasons": ("1 regression",) if red else (),
        "baseline": SOURCE,
        "cases_file": "cases.json",
        "agents": tuple(dict.fromkeys(row.agent for row in rows)),
        "counts": Counter(row.kind for row in rows),
        "prompts": {row.case_id: f"Prompt of {row.case_id}." for row in rows},
        "not_selected": 0,
        "notes": (),
        "totals": Totals(
            trials=len(rows), duration_ms=1500, cost_usd=0.5, cli_versions={}, models={}
        ),
        "rows": rows,
    }
    return Delta.model_validate({**fields, **changes})


def make_record(
    number: int = 1,
    lines: Iterable[TranscriptLine] = (),
    **changes: Any,  # noqa: ANN401
) -> UnitRecord:
    """A passing trial of the first pair."""
    fields: dict[str, Any] = {
        "matched_evidence": (),
        "command": (),
        "exit_code": None,
        "started_at_utc": "2026-01-02T03:00:00.000Z",
        "ended_at_utc": "2026-01-02T03:00:01.500Z",
    }
    row = make_row(number).model_copy(update={**fields, **changes})  # not validated: hostile too
    return UnitRecord(row, tuple(lines))


def render_summary(
    delta: Delta, place: RunLinks, *, overrides: Path | None = None, budget: int = SUMMARY_BYTES
) -> str:
    """The job's summary."""
    return Renderer(delta, place, overrides).render("summary.md.j2", budget)
