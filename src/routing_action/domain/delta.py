"""The model of delta.json (schema version 1): a comparison and its gate, for reports and CI."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from routing_action.domain.comparison import DeltaKind
from routing_action.domain.gate import Conclusion
from routing_action.domain.results import Count, Timestamp
from routing_action.domain.verdict import Status

DELTA_SCHEMA_VERSION = 1


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DeltaProof(_Model):
    """The best evidence that was found for a missing token, though it was too weak."""

    token: str
    tier: Literal[1, 2, 3]
    source_detail: str
    proof_line: str


class DeltaEntry(_Model):
    """One row: `was` is what the deciding baseline expects, `got` what was measured."""

    case_id: str
    agent: str
    kind: DeltaKind
    gates: bool
    was: Status | None
    got: Status | None
    why: str
    line: int | None = None
    failure_kind: str | None = None
    error: str | None = None
    missing_evidence: tuple[str, ...] = ()
    disallowed_hits: tuple[str, ...] = ()
    loaded_skills: tuple[str, ...] = ()
    proofs: tuple[DeltaProof, ...] = ()
    not_alike: tuple[str, ...] = ()
    flaky: bool = False
    timed_out: bool = False
    passed: Count | None = None
    trials: Count | None = None
    unit_run_id: str | None = None


class BaselineSource(_Model):
    """Where the deciding baseline came from; `commit` is null for the checked-in file."""

    path: str
    commit: str | None
    date: str | None
    how: str
    present: bool
    edited: bool


class Totals(_Model):
    """Cost and time over every measured trial; cost is what the CLIs reported."""

    trials: Count
    duration_ms: Count
    cost_usd: float | None
    cli_versions: dict[str, tuple[str, ...]]
    models: dict[str, tuple[str, ...]]


class Delta(_Model):
    """The whole of delta.json; red rows stand first."""

    schema_version: Literal[1] = 1
    generated_at_utc: Timestamp
    conclusion: Conclusion
    reasons: tuple[str, ...]
    baseline: BaselineSource
    cases_file: str
    agents: tuple[str, ...]
    counts: dict[DeltaKind, Annotated[int, Field(ge=0)]]
    not_selected: Count
    notes: tuple[str, ...]
    totals: Totals
    rows: tuple[DeltaEntry, ...]
