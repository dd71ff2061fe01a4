"""The model of results.json and its totals (schema version 1); docs/schema/results.schema.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from routing_action.corpus.baseline import Status
from routing_action.corpus.units import (
    DEFAULT_LOG_BYTES,
    DEFAULT_LOG_FILES,
    DEFAULT_OUTAGE_AFTER,
    DEFAULT_THROTTLE_RETRIES,
)
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy, SourceKind
from routing_action.evidence.verdict import FailureCategory

SCHEMA_VERSION = 1

Uuid4 = Annotated[
    str,
    StringConstraints(
        pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
    ),
]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
Timestamp = Annotated[
    str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$")
]
Count = Annotated[int, Field(ge=0)]
NonEmpty = Annotated[str, StringConstraints(min_length=1)]


class _Model(BaseModel):
    # A later release may add fields; and no number of ours is infinite.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class TokenHit(_Model):
    """The best evidence for one required token."""

    best_score: Count
    tier: Literal[1, 2, 3]
    source_kind: SourceKind
    source_detail: str
    proof_line: str


class UsageTotals(_Model):
    """Tokens of one run, counted once; null where the CLI does not say."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    premium_requests: Annotated[float, Field(ge=0)] | None = None


class ReusedFrom(_Model):
    """The run on the default branch that measured a pair, in place of this one.

    `run` links to it, or is the id of its `batch`; `at` says when it was, `commit` of what.
    """

    run: NonEmpty
    batch: NonEmpty
    at: Timestamp
    commit: Commit

    def __str__(self) -> str:
        """For people: `reused from run R of 2026-11-28`."""
        return f"reused from run {self.run.rpartition('/')[2]} of {self.at[:10]}"


class MeasuredRow(_Model):
    """One trial of one case on one provider, as far as a comparison needs it."""

    unit_run_id: Uuid4
    agent: NonEmpty
    case_id: NonEmpty
    status: Status
    expected_skill: str = ""
    missing_evidence: tuple[str, ...]
    token_hits: dict[str, TokenHit | None]
    disallowed_hits: tuple[str, ...]
    loaded_skills: tuple[str, ...] = ()
    subagent_skills: tuple[str, ...] = ()
    failure_kind: str | None
    timed_out: bool
    duration_ms: Count
    error: str | None
    trial: Annotated[int, Field(ge=1)]
    cost_usd: Annotated[float, Field(ge=0)] | None
    cli_version: str | None
    model: str | None
    notes: tuple[str, ...] = ()
    fingerprint: Sha256 | None = None
    reused_from: ReusedFrom | None = None


class UnitResult(MeasuredRow):
    """A whole row."""

    category: str
    expected_skill: str
    source: Literal["cli_output", "log_fallback", "none"]
    matched_evidence: tuple[str, ...]
    tool_use_proof_lines: tuple[str, ...]
    matched_log_file: str | None
    optional_hits: tuple[str, ...]
    disallowed_seen: tuple[str, ...] = ()
    failure_category: FailureCategory | None
    outcome: Outcome
    command: tuple[str, ...]
    exit_code: int | None
    output_excerpt: str
    ended_by: EndedBy
    survivors: tuple[str, ...]
    recognised_events: Count
    unrecognised_events: Count
    catalogue: tuple[str, ...] | None
    usage: UsageTotals | None
    started_at_utc: Timestamp | None = None
    ended_at_utc: Timestamp | None = None
    throttle_retries: Count = 0
    stdout_sha256: Sha256 | None = None
    stderr_sha256: Sha256 | None = None


class Summary(_Model):
    """Counts of rows by status."""

    total: Count
    # A field cannot be called `pass` in Python; the file says `pass`.
    passed: Annotated[int, Field(ge=0, alias="pass")]
    fail: Count
    infra_error: Count

    model_config = ConfigDict(populate_by_name=True)


class PairSummary(_Model):
    """The verdict of a pair over its trials: a strict majority of the measured ones."""

    agent: str
    case_id: str
    status: Status
    flaky: bool
    trials: Count
    measured: Count
    passed: Count


class Options(_Model):
    """What was planned: the selection that a comparison judges, and how it was run."""

    agents: tuple[str, ...]
    categories: tuple[str, ...]
    case_ids: tuple[str, ...]
    selected_case_ids: tuple[str, ...]
    sample: Count | None
    seed: int | None
    shard: str | None
    matrix_key: str | None
    attempt: Annotated[int, Field(ge=1)]
    cases_file: str = ""
    commit: Commit | None = None
    uncommitted: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    template_files: tuple[str, ...] = ()
    corpus_sha256: Sha256
    trials: Annotated[int, Field(ge=1)]
    confirm: Count | Literal["auto"] = 0
    detect: Annotated[float, Field(gt=0, lt=1)] | None = None
    false_alarm: Annotated[float, Field(gt=0, lt=1)] | None = None
    max_confirm: Annotated[int, Field(ge=1)] | None = None
    look: Annotated[int, Field(ge=1)] = 1
    history: str | None = None
    timeout_seconds: Annotated[float, Field(gt=0)]
    idle_timeout_seconds: Annotated[float, Field(gt=0)] | None = None
    provider_timeouts: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    provider_models: dict[str, str] = Field(default_factory=dict)
    subagent_loads: Literal["count", "ignore"] = "count"
    allow_log_fallback_pass: bool = False
    stop_early: bool = False
    reuse: Literal["never", "auto", "tree"] = "never"
    skills: str | None = None
    max_parallel: Annotated[int, Field(ge=1)]
    provider_lanes: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    max_cost_usd: Annotated[float, Field(gt=0)] | None = None
    max_unit_cost_usd: Annotated[float, Field(gt=0)] | None = None
    max_turns: Annotated[int, Field(ge=1)] | None = None
    max_output_mb: Annotated[int, Field(ge=1)] | None = None
    throttle_retries: Count = DEFAULT_THROTTLE_RETRIES
    outage_after: Count = DEFAULT_OUTAGE_AFTER
    not_enforced: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    config_file: str | None = None
    config_sha256: Sha256 | None = None
    log_scan: bool
    log_max_files: Annotated[int, Field(ge=1)] = DEFAULT_LOG_FILES
    log_max_bytes: Annotated[int, Field(ge=1)] = DEFAULT_LOG_BYTES
    workspace: Literal["isolated", "shared"]
    replay: str | None
    fail_on_infra: bool


class OfferedSkill(_Model):
    """A skill that lay where agents look: the name of its folder, and what its file says.

    `path` is the folder, relative to what the agents worked in. `description` is the one of the
    frontmatter, "" where there is none; `declared_name` its name, where that is another one.
    `staged_from` is the folder that `--skills` took it from, "" for one of the repository's own.
    """

    name: str
    agents: tuple[str, ...]
    path: str
    description: str
    declared_name: str = ""
    staged_from: str = ""


class BatchHead(_Model):
    """A results.json without its rows."""

    schema_version: Literal[1] = 1
    written_by: str = ""
    batch_run_id: Uuid4
    generated_at_utc: Timestamp
    complete: bool = True
    summary: Summary
    pairs: tuple[PairSummary, ...] = ()
    options: Options
    skills: tuple[OfferedSkill, ...] = ()


class Results(BatchHead):
    """The whole of results.json; rows stand in case-then-provider order, then by trial."""

    results: tuple[UnitResult, ...]

    @model_validator(mode="after")
    def _counts_match(self) -> Self:
        if self.summary != summarise(self.results):
            raise ValueError("summary does not match the rows of results")
        if len({row.unit_run_id for row in self.results}) != len(self.results):
            raise ValueError("unit_run_id occurs twice")
        return self


def summarise(rows: Iterable[MeasuredRow]) -> Summary:
    """Count rows by status."""
    counts = Counter(row.status for row in rows)
    return Summary(
        total=counts.total(),
        passed=counts[Status.PASS],
        fail=counts[Status.FAIL],
        infra_error=counts[Status.INFRA_ERROR],
    )


def summarise_pairs(rows: Iterable[UnitResult]) -> tuple[PairSummary, ...]:
    """The verdict of each pair, in the order of the rows."""
    trials: dict[tuple[str, str], list[Status]] = {}
    for row in rows:
        trials.setdefault((row.agent, row.case_id), []).append(row.status)
    pairs = []
    for (agent, case_id), statuses in trials.items():
        status, passed, measured = judge_trials(statuses)
        pairs.append(
            PairSummary(
                agent=agent,
                case_id=case_id,
                status=status,
                flaky=0 < passed < measured,
                trials=len(statuses),
                measured=measured,
                passed=passed,
            )
        )
    return tuple(pairs)


def judge_trials(statuses: Sequence[Status]) -> tuple[Status, int, int]:
    """A pair's status, how many of its trials passed, and how many were measured.

    It passes on a strict majority of its measured trials; where nothing was measured it is an
    infra_error; measured trials that disagree are flaky.
    """
    measured = len(statuses) - statuses.count(Status.INFRA_ERROR)
    passed = statuses.count(Status.PASS)
    if not measured:
        return Status.INFRA_ERROR, passed, measured
    return (Status.PASS if 2 * passed > measured else Status.FAIL), passed, measured
