"""Results as a comparison needs them: lean rows that load fast, and the pairs they add up to."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from routing_action.domain.baseline import Pair
from routing_action.domain.plan import DEFAULT_TIMEOUT_SECONDS

StatusName = Literal["pass", "fail", "infra_error"]


class MeasuredHit(msgspec.Struct, frozen=True, gc=False):
    """The proof of one token in a row."""

    tier: int
    best_score: int
    source_detail: str
    proof_line: str


class MeasuredRow(msgspec.Struct, frozen=True, gc=False):
    """One trial of one pair; the other fields of results.json are not needed here."""

    unit_run_id: str
    agent: str
    case_id: str
    status: StatusName
    timed_out: bool
    outcome: str
    trial: int
    failure_kind: str | None = None
    duration_ms: int = 0
    cost_usd: float | None = None
    cli_version: str | None = None
    model: str | None = None
    error: str | None = None
    missing_evidence: tuple[str, ...] = ()
    disallowed_hits: tuple[str, ...] = ()
    loaded_skills: tuple[str, ...] = ()
    token_hits: dict[str, MeasuredHit | None] = msgspec.field(default_factory=dict)


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
    workspace: Literal["isolated", "shared"] = "isolated"


class MeasuredBatch(msgspec.Struct, frozen=True):
    """One results.json."""

    schema_version: int
    batch_run_id: str
    complete: bool
    options: MeasuredOptions
    results: tuple[MeasuredRow, ...]


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


@dataclass(frozen=True, slots=True)
class Measurement:
    """Everything that was measured: pairs, the selection they were to cover, and what is wrong."""

    pairs: Mapping[Pair, MeasuredPair]
    selected: frozenset[Pair]
    agents: tuple[str, ...]
    corpora: frozenset[str]
    commits: frozenset[str | None]
    run_options: Mapping[str, MeasuredOptions]
    errors: tuple[str, ...]


def gather(batches: Sequence[NamedBatch], commit: str | None = None) -> Measurement:
    """Add batches up: the highest attempt of each key, shards together, no pair twice.

    With `commit`, results of another commit, or of none that is known, are an error each.
    """
    latest = _latest(batches)
    errors = [*_lost_shards(latest), *(_stale(latest, commit) if commit else ())]
    rows: dict[Pair, list[MeasuredRow]] = {}
    owners: dict[Pair, NamedBatch] = {}
    for named in latest:
        if not named.batch.complete:
            errors.append(f"{named.file}: the batch was interrupted, so its results are partial")
        own = _by_pair(named.batch.results)
        for pair in sorted(own.keys() & rows.keys()):
            first = owners[pair].file
            errors.append(f"{pair[1]}:{pair[0]} was measured in {first} and in {named.file}")
        rows = {**own, **rows}
        owners = {**dict.fromkeys(own, named), **owners}
    return Measurement(
        pairs={pair: sum_up(pair, trials) for pair, trials in rows.items()},
        selected=frozenset(_selected(latest)),
        agents=tuple(dict.fromkeys(a for named in latest for a in named.batch.options.agents)),
        corpora=frozenset(named.batch.options.corpus_sha256 for named in latest),
        commits=frozenset(named.batch.options.commit for named in latest),
        run_options={
            a: named.batch.options for named in latest for a in named.batch.options.agents
        },
        errors=tuple(dict.fromkeys(errors)),
    )


def _by_pair(rows: Iterable[MeasuredRow]) -> dict[Pair, list[MeasuredRow]]:
    """The trials of each pair of one batch."""
    found: dict[Pair, list[MeasuredRow]] = {}
    for row in rows:
        found.setdefault((row.case_id, row.agent), []).append(row)
    return found


def _latest(batches: Sequence[NamedBatch]) -> list[NamedBatch]:
    """The highest attempt of each key, in the order of their keys and files."""
    best: dict[str, int] = {}
    for named in batches:
        best[named.key] = max(best.get(named.key, 0), named.attempt)
    kept = [named for named in batches if named.attempt == best[named.key]]
    return sorted(kept, key=lambda named: (named.key, named.file))


def _selected(batches: Iterable[NamedBatch]) -> Iterable[Pair]:
    for named in batches:
        options = named.batch.options
        yield from itertools.product(options.selected_case_ids, options.agents)


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


def sum_up(pair: Pair, trials: Sequence[MeasuredRow]) -> MeasuredPair:
    """A strict majority of the measured trials decides; all infra is infra_error."""
    if len(trials) == 1:
        (row,) = trials
        passes, known = int(row.status == "pass"), int(row.status != "infra_error")
        return MeasuredPair(pair, row.status, row.timed_out, False, passes, known, 1, row)
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
