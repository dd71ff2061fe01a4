"""The model of delta.json (schema version 1): a comparison and its gate, for reports and CI."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from routing_action.corpus.baseline import Status
from routing_action.corpus.influences import Influence
from routing_action.evidence.chance_sequence import Finding
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.rules import DeltaKind
from routing_action.results.model import Commit, Count, ReusedFrom, Timestamp

DELTA_SCHEMA_VERSION = 1

FindingWord = Literal["worse", "same", "not proven", "open", "no rate"]
FINDINGS: dict[Finding, FindingWord] = {
    Finding.WORSE: "worse",
    Finding.SAME: "same",
    Finding.NOT_PROVEN: "not proven",
    Finding.OPEN: "open",
    Finding.NO_RATE: "no rate",
}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DeltaProof(_Model):
    """What was found for a disallowed token, or for a missing one, there though too weak."""

    token: str
    tier: Literal[1, 2, 3]
    source_detail: str
    proof_line: str


UNKNOWN = "too large to be shown here, or a submodule"
"""The summary of an edit whose content is not known."""

EditKind = Literal["added", "removed", "edited", "renamed"]


class FieldEdit(_Model):
    """A field, or some lines, before and after the change; "" where there was or is nothing."""

    field: str
    before: str
    after: str


class Edit(_Model):
    """Something that the change edits and that can alter what is measured or how it is judged.

    `name` is the case, the pair or the skill that it is about, "" for a file as such;
    `path_before` is where the file was, where that differs. `summary` says what no field does.
    """

    path: str
    influence: Influence
    what: EditKind
    name: str = ""
    path_before: str = ""
    fields: tuple[FieldEdit, ...] = ()
    summary: str = ""


MOST_PAST_RUNS, MOST_PAST_TRIALS = 30, 10_000
_Trials = Annotated[int, Field(ge=0, le=MOST_PAST_TRIALS)]
PastRun = tuple[_Trials, _Trials]


class DeltaChance(_Model):
    """What the test of a pair against its own rate found: `failed` of the `measured` trials failed.

    `before_passes` of `before_trials` passed in its history; `declared_rate` is that of its
    baseline entry, which counts in place of them. An unchanged pair does the same, or worse, with
    probability `odds`. Where the finding is `open` or `no rate` the majority of the trials decides.
    """

    finding: FindingWord
    failed: Count
    measured: Count
    before_passes: Count = 0
    before_trials: Count = 0
    declared_rate: Annotated[float, Field(gt=0, lt=1)] | None = None
    odds: Annotated[float, Field(ge=0, le=1)]


class DeltaEntry(_Model):
    """One row: `was` is what the deciding baseline expects, `got` what was measured.

    `passed` of the `trials` passed, those of `--confirm` among them; `measured` says how many of
    them could be measured, where that is not all. `accepted`: the change's own baseline already
    expects `got`, which counts once it is merged. `red_before` are earlier attempts of the run at
    which the pair was red, `red_in_runs` the ids of other runs. `stale` says what changed since it
    was measured, "" where nothing did. `history` are the last runs on the default branch, the
    oldest first: how many of how many measured trials passed. `chance` is there where a pair was
    tested against its rate. `reused_from` is the run that stands for it, where it was not run.
    """

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
    subagent_skills: tuple[str, ...] = ()
    proofs: tuple[DeltaProof, ...] = ()
    not_alike: tuple[str, ...] = ()
    flaky: bool = False
    timed_out: bool = False
    passed: Count | None = None
    trials: Count | None = None
    measured: Count | None = None
    chance: DeltaChance | None = None
    accepted: bool = False
    unit_run_id: str | None = None
    reused_from: ReusedFrom | None = None
    red_before: tuple[Count, ...] = ()
    stale: str = ""
    red_in_runs: tuple[str, ...] = ()
    history: tuple[PastRun, ...] = Field(default=(), max_length=MOST_PAST_RUNS)

    @property
    def was_red(self) -> bool:
        """True where the pair is not red now, and was."""
        return bool(self.red_before or self.red_in_runs)


class DeltaLeftOut(_Model):
    """A pair that was not measured though it could be."""

    case_id: str
    agent: str


class BaselineSource(_Model):
    """Where the deciding baseline came from; `commit` is null for the checked-in file."""

    path: str
    commit: str | None
    date: str | None
    how: str
    present: bool
    edited: bool


class Totals(_Model):
    """Cost and time over every measured trial that counts; cost is what the CLIs reported.

    `cost_trials` says of how many trials, null in older files. `superseded_cost_usd` is that of
    earlier attempts, which do not count.
    """

    trials: Count
    duration_ms: Count
    cost_usd: float | None
    cost_trials: Count | None = None
    superseded_cost_usd: float | None = None
    cli_versions: dict[str, tuple[str, ...]]
    models: dict[str, tuple[str, ...]]


class DeltaResults(_Model):
    """A results.json that was judged: the run and the artifact that it is of, and its digest.

    A later run for the same pull request takes it over by these.
    """

    run: str
    name: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class DeltaSkill(_Model):
    """What a skill's own file says about when to use it, as the agents were offered it.

    `path` is that file in the repository, "" where it is not known. `before` is the description
    before the change where that edits it, "" where the skill is new; of a skill that is removed
    `description` is "".
    """

    name: str
    agents: tuple[str, ...]
    description: str
    path: str = ""
    before: str | None = None


class Delta(_Model):
    """The whole of delta.json; red rows stand first.

    `errors` are those of the reasons that are about no pair: lost, broken or contradictory results.
    `commit` is the one that was measured, null where the results do not agree or do not tell;
    `run_commands` holds for each agent the shell command that measures it again. `pull_request`
    is the number of the one that the run was for: a hint, which proves nothing. `skills`
    are those that were wanted or used where a pair failed; `prompts` tell by its id how the case of
    each row asks, shortened to one line. `edits` are what the change edits, the most telling
    first, and all of it where `edits_known`; `measured_with` says what was unusual about the
    measurement. `results` are the files that it was made of, where a workflow run made it.
    `left_out` are the pairs that were not selected. `unverified` says why the whole
    report may be untrue; empty where it is our own.
    """

    schema_version: Literal[1] = 1
    written_by: str = ""
    generated_at_utc: Timestamp
    conclusion: Conclusion
    reasons: tuple[str, ...]
    errors: tuple[str, ...] = ()
    baseline: BaselineSource
    cases_file: str
    commit: Commit | None = None
    pull_request: Annotated[int, Field(ge=1)] | None = None
    agents: tuple[str, ...]
    run_commands: dict[str, str] = Field(default_factory=dict)
    counts: dict[DeltaKind, Annotated[int, Field(ge=0)]]
    not_selected: Count
    left_out: tuple[DeltaLeftOut, ...] = ()
    unverified: str = ""
    edits: tuple[Edit, ...] = ()
    edits_known: bool = False
    measured_with: tuple[str, ...] = ()
    notes: tuple[str, ...]
    totals: Totals
    results: tuple[DeltaResults, ...] = ()
    skills: tuple[DeltaSkill, ...] = ()
    prompts: dict[str, str] = Field(default_factory=dict)
    rows: tuple[DeltaEntry, ...]

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        counted = Counter(row.kind for row in self.rows)
        if counted != Counter(self.counts):
            raise ValueError("counts do not match the rows")
        if self.conclusion is not Conclusion.FAILURE and any(row.gates for row in self.rows):
            raise ValueError(f"conclusion is {self.conclusion.value}, though a row gates")
        pairs = {(row.case_id, row.agent) for row in self.rows}
        if len(pairs) != len(self.rows):
            raise ValueError("a pair has two rows")
        return self
