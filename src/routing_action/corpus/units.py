"""From cases, providers and trials to units, and to shards balanced by duration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from routing_action.corpus.case import Case

DEFAULT_CASES_FILE = "cases.json"
DEFAULT_CONFIG_FILE = "routing.toml"

DEFAULT_TIMEOUT_SECONDS = 300.0
"""The wall deadline of a unit where none is given."""

DEFAULT_OUTPUT_MB = 200
"""How many million bytes a unit may print where it is not said."""

DEFAULT_MAX_PARALLEL = 4
DEFAULT_THROTTLE_RETRIES = 2
DEFAULT_OUTAGE_AFTER = 5
"""So many units in a row that its service failed stop an agent."""
DEFAULT_REUSE_DAYS = 14
"""How old, in days, a measurement may be that stands for a pair."""
DEFAULT_REUSE_CHECK = 10
"""How many of 100 pairs that could be reused are measured all the same."""
DEFAULT_LOG_FILES, DEFAULT_LOG_BYTES = 60, 300_000

DEFAULT_DURATION_MS = 30_000
"""What a pair without a recorded duration is taken to last, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One trial of one case on one provider; `index` is its place in the results, from 0."""

    index: int
    agent: str
    case: Case
    trial: int = 1

    @property
    def key(self) -> str:
        """The unit's name for people: `claude:case-id`, with the trial where there are several."""
        return f"{self.agent}:{self.case.case_id}" + (f"#{self.trial}" if self.trial > 1 else "")


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of the corpus that one job runs on one provider."""

    agent: str
    index: int
    count: int
    case_ids: tuple[str, ...]
    expected_ms: int

    @property
    def key(self) -> str:
        """The matrix key: the provider, with the shard where there are several."""
        return f"{self.agent}-s{self.index}of{self.count}" if self.count > 1 else self.agent


def build_units(cases: Sequence[Case], agents: Sequence[str], trials: int = 1) -> list[Unit]:
    """Every unit in case-then-provider order, trials of a pair side by side."""
    triples = [
        (agent, case, trial) for case in cases for agent in agents for trial in range(1, trials + 1)
    ]
    return [Unit(index, *triple) for index, triple in enumerate(triples)]


def build_shards(
    cases: Sequence[Case],
    agents: Sequence[str],
    shards: int,
    durations_ms: Mapping[tuple[str, str], int],
) -> list[Shard]:
    """Split each provider's cases into at most `shards` parts of about equal expected duration.

    The longest case goes first into the shortest part; cases keep the file's order inside one.
    """
    planned: list[Shard] = []
    for agent in agents:
        parts = _balance(cases, agent, max(1, min(shards, len(cases))), durations_ms)
        for index, part in enumerate(parts, start=1):
            expected = sum(_duration(agent, case, durations_ms) for case in part)
            ids = tuple(case.case_id for case in part)
            planned.append(Shard(agent, index, len(parts), ids, expected))
    return planned


def _duration(agent: str, case: Case, durations_ms: Mapping[tuple[str, str], int]) -> int:
    return durations_ms.get((agent, case.case_id), DEFAULT_DURATION_MS)


def _balance(
    cases: Sequence[Case],
    agent: str,
    count: int,
    durations_ms: Mapping[tuple[str, str], int],
) -> list[list[Case]]:
    order = {case.case_id: place for place, case in enumerate(cases)}
    parts: list[list[Case]] = [[] for _ in range(count)]
    loads = [0] * count
    for case in sorted(cases, key=lambda c: (-_duration(agent, c, durations_ms), order[c.case_id])):
        shortest = loads.index(min(loads))
        parts[shortest].append(case)
        loads[shortest] += _duration(agent, case, durations_ms)
    for part in parts:
        part.sort(key=lambda case: order[case.case_id])
    return [part for part in parts if part]
