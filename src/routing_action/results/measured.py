"""Results as a comparison needs them: lean rows that load fast, and the pairs they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from routing_action.corpus.baseline import Pair
from routing_action.corpus.units import DEFAULT_TIMEOUT_SECONDS

NonEmpty = Annotated[str, msgspec.Meta(min_length=1)]
StatusName = Literal["pass", "fail", "infra_error"]

_ALONE: Mapping[StatusName, tuple[int, int]] = {
    "pass": (1, 1),
    "fail": (0, 1),
    "infra_error": (0, 0),
}
"""How many of a pair's only trial passed, and how many were measured."""


class MeasuredHit(msgspec.Struct, frozen=True, gc=False):
    """The proof of one token in a row."""

    tier: int
    best_score: int
    source_detail: str
    proof_line: str


class MeasuredRow(msgspec.Struct, frozen=True, gc=False):
    """One trial of one pair; the other fields of results.json are not needed here."""

    unit_run_id: NonEmpty
    agent: NonEmpty
    case_id: NonEmpty
    status: StatusName
    timed_out: bool
    outcome: str
    trial: Annotated[int, msgspec.Meta(ge=1)]
    failure_kind: str | None = None
    duration_ms: int = 0
    cost_usd: float | None = None
    cli_version: str | None = None
    model: str | None = None
    error: str | None = None
    missing_evidence: tuple[str, ...] = ()
    disallowed_hits: tuple[str, ...] = ()
    loaded_skills: tuple[str, ...] = ()
    subagent_skills: tuple[str, ...] = ()
    token_hits: dict[str, MeasuredHit | None] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()


class MeasuredOptions(msgspec.Struct, frozen=True):
    """The selection that a batch was planned with, and how it was run."""

    agents: tuple[str, ...]
    selected_case_ids: tuple[str, ...]
    corpus_sha256: str
    trials: int = 1
    attempt: int = 1
    shard: str | None = None
    matrix_key: str | None = None
    cases_file: str = ""
    commit: str | None = None
    replay: str | None = None
    skills: str | None = None
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    idle_timeout_seconds: float | None = None
    provider_timeouts: dict[str, float] = msgspec.field(default_factory=dict)
    provider_models: dict[str, str] = msgspec.field(default_factory=dict)
    subagent_loads: Literal["count", "ignore"] = "count"
    allow_log_fallback_pass: bool = False
    stop_early: bool = False
    max_unit_cost_usd: float | None = None
    max_turns: int | None = None
    config_file: str | None = None
    config_sha256: str | None = None
    workspace: Literal["isolated", "shared"] = "isolated"


class MeasuredSkill(msgspec.Struct, frozen=True):
    """A skill that lay where agents look, with what its file says about when to use it."""

    name: NonEmpty
    agents: tuple[str, ...]
    description: str = ""


class MeasuredBatch(msgspec.Struct, frozen=True):
    """One results.json."""

    schema_version: int
    batch_run_id: str
    complete: bool
    options: MeasuredOptions
    results: tuple[MeasuredRow, ...]
    skills: tuple[MeasuredSkill, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedBatch:
    """A batch with the file it came from, and the key and attempt that its artifact names."""

    file: str
    batch: MeasuredBatch
    key: str
    attempt: int


class MeasuredPair(msgspec.Struct, frozen=True, gc=False):
    """The verdict of a pair over its trials; `row` is the trial that explains it."""

    pair: Pair
    status: StatusName
    timed_out: bool
    flaky: bool
    passed: int
    measured: int
    trials: int
    row: MeasuredRow


_Pairs = dict[str, dict[str, MeasuredPair]]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Everything that was measured, and what is wrong with it.

    `cases` holds the pairs by case id, then by provider; `lost` those that were selected and
    have no result.
    """

    cases: Mapping[str, Mapping[str, MeasuredPair]]
    lost: frozenset[Pair]
    agents: tuple[str, ...]
    corpora: frozenset[str]
    commits: frozenset[str | None]
    run_options: Mapping[str, MeasuredOptions]
    errors: tuple[str, ...]

    def list_pairs(self) -> dict[Pair, MeasuredPair]:
        """The pairs that have a result, in no particular order."""
        found = (pair for agents in self.cases.values() for pair in agents.values())
        return {pair.pair: pair for pair in found}


def gather(batches: Sequence[NamedBatch], commit: str | None = None) -> Measurement:
    """Add batches up: the highest attempt of each key, shards together, no pair twice.

    With `commit`, results of another commit, or of none that is known, are an error each.
    """
    latest = _latest(batches)
    measured = [_sum_up_all(named.batch.results) for named in latest]
    cases = _merge(measured)
    errors = [
        *_lost_shards(latest),
        *(_stale(latest, commit) if commit else ()),
        *_contradictions(latest, measured),
    ]
    return Measurement(
        cases=cases,
        lost=frozenset(_find_lost(latest, cases)),
        agents=tuple(dict.fromkeys(a for named in latest for a in named.batch.options.agents)),
        corpora=frozenset(named.batch.options.corpus_sha256 for named in latest),
        commits=frozenset(named.batch.options.commit for named in latest),
        run_options={
            a: named.batch.options for named in latest for a in named.batch.options.agents
        },
        errors=tuple(dict.fromkeys(errors)),
    )


def _sum_up_all(rows: Iterable[MeasuredRow]) -> _Pairs:
    """The pairs of one batch."""
    cases: _Pairs = {}
    repeated: dict[Pair, list[MeasuredRow]] = {}
    names: dict[str, str] = {}
    for row in rows:
        agents = cases.setdefault(row.case_id, {})
        agent = names.setdefault(row.agent, row.agent)  # one object for all rows is found faster
        if agent in agents:
            repeated.setdefault((row.case_id, agent), [agents[agent].row]).append(row)
        else:
            agents[agent] = _sum_up_one((row.case_id, agent), row)
    for (case_id, agent), trials in repeated.items():
        cases[case_id][agent] = _sum_up((case_id, agent), trials)
    return cases


def _merge(measured: Iterable[_Pairs]) -> _Pairs:
    """All pairs; of those that occur twice the first."""
    cases: _Pairs = {}
    for own in measured:
        for case_id, agents in own.items():
            known = cases.get(case_id)
            cases[case_id] = agents if known is None else {**agents, **known}
    return cases


def _find_lost(batches: Iterable[NamedBatch], cases: _Pairs) -> Iterator[Pair]:
    """The selected pairs that have no result."""
    for named in batches:
        for case_id in named.batch.options.selected_case_ids:
            measured = cases.get(case_id, ())
            for agent in named.batch.options.agents:
                if agent not in measured:
                    yield case_id, agent


def _contradictions(batches: Sequence[NamedBatch], measured: Iterable[_Pairs]) -> Iterator[str]:
    """Batches that are partial, and pairs that an earlier batch has measured too."""
    owners: dict[Pair, str] = {}
    for named, own in zip(batches, measured, strict=True):
        if not named.batch.complete:
            yield f"{named.file}: the batch was interrupted, so its results are partial"
        if len(batches) > 1:
            pairs = [pair.pair for agents in own.values() for pair in agents.values()]
            for pair in sorted(pair for pair in pairs if pair in owners):
                yield f"{pair[1]}:{pair[0]} was measured in {owners[pair]} and in {named.file}"
            for pair in pairs:
                owners.setdefault(pair, named.file)


def _latest(batches: Sequence[NamedBatch]) -> list[NamedBatch]:
    """The highest attempt of each key, in the order of their keys and files."""
    best: dict[str, int] = {}
    for named in batches:
        best[named.key] = max(best.get(named.key, 0), named.attempt)
    kept = [named for named in batches if named.attempt == best[named.key]]
    return sorted(kept, key=lambda named: (named.key, named.file))


def _stale(batches: Iterable[NamedBatch], commit: str) -> Iterator[str]:
    for named in batches:
        measured = named.batch.options.commit
        if measured != commit:
            what = f"commit {measured[:12]}" if measured else "an unknown commit"
            yield f"{named.file}: results of {what}, not of {commit[:12]} which is under review"


def _lost_shards(batches: Sequence[NamedBatch]) -> Iterable[str]:
    """Shards say `I/N`; all N of a provider must be there."""
    seen: dict[tuple[str, ...], tuple[int, set[int]]] = {}
    for named in batches:
        parsed = parse_shard(named.batch.options.shard)
        if parsed is None:
            continue
        place, count = parsed
        agents = tuple(sorted(named.batch.options.agents))
        most, places = seen.get(agents, (0, set()))
        seen[agents] = (max(most, count), places | {place})
    for agents, (count, places) in seen.items():
        lost = sorted(set(range(1, count + 1)) - places)
        if lost:
            names = ", ".join(f"{place}/{count}" for place in lost)
            yield f"{', '.join(agents)}: the results of shard {names} are missing"


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """`2/3` as (2, 3); None where a batch is no shard or its name is none of ours."""
    place, separator, count = (text or "").partition("/")
    if not separator or not place.isdecimal() or not count.isdecimal():
        return None
    return (int(place), int(count)) if 1 <= int(place) <= int(count) <= 256 else None


def _sum_up(pair: Pair, trials: Sequence[MeasuredRow]) -> MeasuredPair:
    """A strict majority of the measured trials decides; all infra is infra_error."""
    measured = [row for row in trials if row.status != "infra_error"]
    passed = sum(row.status == "pass" for row in measured)
    status: StatusName = "infra_error"
    if measured:
        status = "pass" if 2 * passed > len(measured) else "fail"
    return MeasuredPair(
        pair=pair,
        status=status,
        timed_out=any(row.timed_out for row in trials),
        flaky=0 < passed < len(measured),
        passed=passed,
        measured=len(measured),
        trials=len(trials),
        row=next((row for row in trials if row.status == status), trials[0]),
    )


def _sum_up_one(pair: Pair, row: MeasuredRow) -> MeasuredPair:
    passed, measured = _ALONE[row.status]
    return MeasuredPair(pair, row.status, row.timed_out, False, passed, measured, 1, row)
