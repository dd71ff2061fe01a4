"""What several results.json add up to: the measured pairs, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from routing_action.corpus.baseline import Pair, Status
from routing_action.results.model import MeasuredRow, OfferedSkill, Options, judge_trials

MEASURED_FLOOR = 0.5
"""Where less than this share of the pairs was measured, that says too little to be green."""


@dataclass(frozen=True, slots=True)
class MeasuredBatch:
    """A results.json, with the key and attempt that its artifact names, and that folder.

    `run` is the id of the workflow run that measured it, "" for the one that judges. `stale` says
    what changed after it was measured, beside a newer one; "" where nothing did. `batch_run_id` is
    its own id, "" where it has none.
    """

    file: str
    key: str
    attempt: int
    complete: bool
    options: Options
    skills: tuple[OfferedSkill, ...]
    rows: tuple[MeasuredRow, ...]
    artifact: str = ""
    generated_at: str = ""
    stale: str = ""
    run: str = ""
    batch_run_id: str = ""


When: TypeAlias = int | str
"""An earlier attempt of the run that judges, or the id of another run."""


@dataclass(frozen=True, slots=True)
class MeasuredPair:
    """The verdict of a pair over its trials; `row` is the trial that explains it.

    `each` holds of every trial, in their order, its status and whether it timed out.
    """

    pair: Pair
    status: Status
    timed_out: bool
    passed: int
    measured: int
    trials: int
    row: MeasuredRow
    each: tuple[tuple[Status, bool], ...] = ()

    def list_failed(self, *, allow_timeout: bool) -> tuple[bool, ...]:
        """Of each trial that was measured, in order, whether it failed."""
        return tuple(
            status is Status.FAIL or (late and not allow_timeout)
            for status, late in self.each
            if status is not Status.INFRA_ERROR
        )

    @property
    def flaky(self) -> bool:
        """True where the measured trials disagree."""
        return 0 < self.passed < self.measured


@dataclass(frozen=True, slots=True)
class Measurement:
    """Everything that was measured, and what is wrong with it.

    `lost` are the pairs that were selected and have no result; `run_options` tell of each agent
    how it was run. `earlier` holds what attempts and runs before the one that counts came to, in
    order. `stale` says of pairs that were measured too early what changed since.
    """

    pairs: Mapping[Pair, MeasuredPair]
    lost: frozenset[Pair]
    agents: tuple[str, ...]
    corpora: frozenset[str]
    commits: frozenset[str | None]
    run_options: Mapping[str, Options]
    errors: tuple[str, ...]
    latest: tuple[MeasuredBatch, ...] = ()
    superseded: tuple[MeasuredBatch, ...] = ()
    earlier: Mapping[Pair, Mapping[When, MeasuredPair]] = field(default_factory=dict)
    stale: Mapping[Pair, str] = field(default_factory=dict)


def gather(
    batches: Sequence[MeasuredBatch],
    commit: str | None = None,
    corpus_sha256: str | None = None,
    excused: frozenset[str] = frozenset(),
) -> Measurement:
    """Add batches up: the highest attempt of each key, shards together, no pair twice.

    Of a pair that several runs measured the newest one's trials count.
    With `commit`, results of another commit, or of none that is known, are an error each; with
    `corpus_sha256` those of another case file are. What is cut short or lost of `excused` agents is
    no error. `latest` are the batches that count.
    """
    attempts, superseded = _split(batches)
    latest, older = _keep_newest_runs(attempts)
    superseded = [*older, *superseded]
    errors = [*_lost_shards(latest, excused), *(_stale(latest, commit) if commit else ())]
    errors += [
        f"{batch.file}: measured with another version of {batch.options.cases_file}"
        for batch in latest
        if corpus_sha256 not in (None, batch.options.corpus_sha256)
    ]
    trials: dict[Pair, list[MeasuredRow]] = {}
    owners: dict[Pair, str] = {}
    for batch in latest:
        if not (batch.complete or excused.issuperset(batch.options.agents)):
            errors.append(f"{batch.file}: the batch was interrupted, so its results are partial")
        own = _group(batch)
        errors += [
            f"{pair[1]}:{pair[0]} was measured in {owners[pair]} and in {batch.file}"
            for pair in sorted(own.keys() & trials.keys())
        ]
        trials = {**own, **trials}
        owners = {**dict.fromkeys(own, batch.file), **owners}
    agents = {agent: batch.options for batch in latest for agent in batch.options.agents}
    return Measurement(
        pairs={pair: sum_up(pair, rows) for pair, rows in trials.items()},
        lost=frozenset(
            (case_id, agent)
            for batch in latest
            for case_id in batch.options.selected_case_ids
            for agent in batch.options.agents
            if (case_id, agent) not in trials
        ),
        agents=tuple(agents),
        corpora=frozenset(batch.options.corpus_sha256 for batch in latest),
        commits=frozenset(batch.options.commit for batch in latest),
        run_options=agents,
        errors=tuple(dict.fromkeys(errors)),
        latest=tuple(latest),
        superseded=tuple(superseded),
        earlier=_sum_up_earlier(superseded),
        stale={
            (row.case_id, row.agent): batch.stale
            for batch in latest
            if batch.stale
            for row in batch.rows
        },
    )


def _split(batches: Sequence[MeasuredBatch]) -> tuple[list[MeasuredBatch], list[MeasuredBatch]]:
    """The highest attempt of each key, in the order of their keys and files, and the others."""
    best: dict[tuple[str, str], int] = {}
    for batch in batches:
        leg = (batch.run, batch.key)
        best[leg] = max(best.get(leg, 0), batch.attempt)
    ordered = sorted(batches, key=lambda batch: (batch.key, batch.attempt, batch.file))
    return (
        [batch for batch in ordered if batch.attempt == best[batch.run, batch.key]],
        [batch for batch in ordered if batch.attempt < best[batch.run, batch.key]],
    )


def _keep_newest_runs(
    latest: Sequence[MeasuredBatch],
) -> tuple[list[MeasuredBatch], list[MeasuredBatch]]:
    """The batches with the rows of pairs that no other run measured later, and what is left.

    Both are in the order of time. A pair that one run measured twice stays, and is an error.
    """
    if not any(batch.run for batch in latest):
        return list(latest), []
    kept: list[MeasuredBatch] = []
    older: list[MeasuredBatch] = []
    newest: dict[Pair, str] = {}
    for batch in sorted(latest, key=_time, reverse=True):
        groups: tuple[list[MeasuredRow], list[MeasuredRow]] = ([], [])
        for row in batch.rows:
            run = newest.setdefault((row.case_id, row.agent), batch.run)
            groups[run != batch.run].append(row)
        kept.append(replace(batch, rows=tuple(groups[0])))
        if groups[1]:
            older.append(replace(batch, rows=tuple(groups[1])))
    return kept[::-1], older[::-1]


def _time(batch: MeasuredBatch) -> str:
    return batch.generated_at.rstrip("Z")


def keep_newest(batches: Sequence[MeasuredBatch]) -> list[MeasuredBatch]:
    """Batches that a person named together: of each pair only the newest one's trials are left.

    So a rerun of some pairs completes an earlier batch, which is stale where other skills were
    offered, or another checkout was measured, since. Attempts of a leg stay what they are.
    """
    alone = [batch if batch.artifact else replace(batch, key=batch.file) for batch in batches]
    latest, kept = _split(alone)
    newer: set[Pair] = set()
    ordered = sorted(latest, key=_time, reverse=True)
    for batch in ordered:
        rows = tuple(row for row in batch.rows if (row.case_id, row.agent) not in newer)
        newer |= {(row.case_id, row.agent) for row in rows}
        stale = "" if batch.artifact else _find_staleness(batch, ordered[0])
        kept.append(replace(batch, rows=rows, stale=stale))
    return kept


def _find_staleness(batch: MeasuredBatch, newest: MeasuredBatch) -> str:
    """What changed between two batches, as far as they tell; "" where nothing did."""
    agents = {*batch.options.agents} & {*newest.options.agents}
    texts, now = (
        {skill.path: skill.description for skill in one.skills} for one in (batch, newest)
    )
    if any(texts[path] != now[path] for path in texts.keys() & now.keys()) or any(
        _list_offered(batch, agent) != _list_offered(newest, agent) for agent in agents
    ):
        return "measured before the skills changed"
    if batch.options.commit != newest.options.commit:
        return "measured at another commit than the newest results"
    is_same = set(batch.options.uncommitted) == set(newest.options.uncommitted)
    return "" if is_same else "measured with other uncommitted edits than the newest results"


def _list_offered(batch: MeasuredBatch, agent: str) -> set[tuple[str, str]]:
    return {(one.path, one.declared_name) for one in batch.skills if agent in one.agents}


def _group(batch: MeasuredBatch) -> dict[Pair, list[MeasuredRow]]:
    """The trials of each pair."""
    trials: dict[Pair, list[MeasuredRow]] = {}
    for row in batch.rows:
        trials.setdefault((row.case_id, row.agent), []).append(row)
    return trials


def _sum_up_earlier(superseded: Sequence[MeasuredBatch]) -> dict[Pair, dict[When, MeasuredPair]]:
    """What each pair came to, by attempt or by run."""
    earlier: dict[Pair, dict[When, MeasuredPair]] = {}
    for batch in superseded:
        for pair, rows in _group(batch).items():
            earlier.setdefault(pair, {})[batch.run or batch.attempt] = sum_up(pair, rows)
    return earlier


def _stale(batches: Iterable[MeasuredBatch], commit: str) -> Iterator[str]:
    for batch in batches:
        measured = batch.options.commit
        if measured != commit:
            what = f"commit {measured[:12]}" if measured else "an unknown commit"
            yield f"{batch.file}: results of {what}, not of {commit[:12]} which is under review"


def _lost_shards(batches: Sequence[MeasuredBatch], excused: frozenset[str]) -> Iterable[str]:
    """Shards say `I/N`; all N of a provider must be there."""
    seen: dict[tuple[str, tuple[str, ...]], tuple[int, set[int]]] = {}
    for batch in batches:
        parsed = parse_shard(batch.options.shard)
        if parsed is None:
            continue
        place, count = parsed
        agents = tuple(sorted(batch.options.agents))
        most, places = seen.get((batch.run, agents), (0, set()))
        seen[batch.run, agents] = (max(most, count), places | {place})
    for (_, agents), (count, places) in seen.items():
        lost = sorted(set(range(1, count + 1)) - places)
        if lost and not excused.issuperset(agents):
            names = ", ".join(f"{place}/{count}" for place in lost)
            yield f"{', '.join(agents)}: the results of shard {names} are missing"


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """`2/3` as (2, 3); None where a batch is no shard or its name is none of ours."""
    place, separator, count = (text or "").partition("/")
    if not separator or not place.isdecimal() or not count.isdecimal():
        return None
    return (int(place), int(count)) if 1 <= int(place) <= int(count) <= 256 else None


def sum_up(pair: Pair, trials: Sequence[MeasuredRow]) -> MeasuredPair:
    """What the trials of a pair, at least one, come to."""
    status, passed, measured = judge_trials([row.status for row in trials])
    return MeasuredPair(
        pair=pair,
        status=status,
        timed_out=any(row.timed_out for row in trials),
        passed=passed,
        measured=measured,
        trials=len(trials),
        row=next((row for row in trials if row.status is status), trials[0]),
        each=tuple(
            (row.status, row.timed_out) for row in sorted(trials, key=lambda row: row.trial)
        ),
    )
