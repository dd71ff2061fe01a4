"""U4: how often the gate is red without a cause, what it catches, and how many trials that takes.

Trials are drawn at rates that only the simulation knows. Which pairs run again, and what is red, is
decided by the product's own run and gate; every figure is counted, and none comes of a formula.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import Row
from routing_action.corpus.baseline import Baseline, BaselineEntry, Pair, Status
from routing_action.corpus.case import Case
from routing_action.corpus.units import Unit
from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import Sequential
from routing_action.evidence.outcome import Outcome
from routing_action.gate.judging.certainty import Certainty
from routing_action.gate.judging.tree import Tree
from routing_action.gate.rules import compare
from routing_action.results.measured import MeasuredBatch, gather
from routing_action.results.model import Options, UnitResult
from routing_action.run.trials.confirm import Confirm, Confirming

STEADY, PAIRS, RECORD = 0.995, 60, 30
MIXED = (*[STEADY] * 45, *(0.65 + 0.3 * n / 14 for n in range(15)))
"""Three in four pairs pass nearly always, the rest in 65 to 95 % of runs."""
AUTO = Confirming(sequential=Sequential())
_AGENT = "claude"
_CHOSEN: dict[str, Any] = {
    "agents": (_AGENT,), "selected_case_ids": (), "shard": None, "commit": None,
    "corpus_sha256": "0" * 64,
}  # fmt: skip
_OPTIONS = Options.model_construct(**_CHOSEN)


@dataclass(frozen=True)
class Verdict:
    """The red pairs of a pull request, by their numbers, and the trials that it took beyond one."""

    red: frozenset[int]
    extra: int


@dataclass
class Repository:
    """Pairs that each pass at a rate, and what was seen of them on the default branch."""

    rates: Sequence[float]
    seed: int
    record: int = RECORD
    records: dict[Pair, Record] = field(init=False)
    _draws: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Draw the history."""
        self._draws = random.Random(self.seed)  # noqa: S311 - a simulation
        self.records = {
            (f"{n}", _AGENT): Record(
                sum(self._passes(rate) for _ in range(self.record)), self.record
            )
            for n, rate in enumerate(self.rates)
            if self.record
        }
        entry = BaselineEntry(expected_status=Status.PASS)
        self._baseline: Baseline = {f"{n}": {_AGENT: entry} for n in range(len(self.rates))}
        self._cases = [Case(case_id=f"{n}", prompt="p") for n in range(len(self.rates))]

    def open_pull_request(
        self, confirming: Confirming = AUTO, changed: Mapping[int, float] | None = None
    ) -> Verdict:
        """Measure and judge it once; `changed` are the rates of the pairs that it breaks."""
        rates = {**dict(enumerate(self.rates)), **(changed or {})}
        units = [Unit(n, _AGENT, case) for n, case in enumerate(self._cases)]
        rows = [self._run(unit, rates) for unit in units]
        confirm = Confirm(confirming, self._baseline, self.records)
        for _ in range(confirming.waves):
            again = confirm.next_units(rows, units)
            units += again
            rows += [self._run(unit, rates) for unit in again]
        batch = MeasuredBatch("r.json", "k", 1, True, _OPTIONS, (), tuple(rows))
        certainty = Certainty(confirming.sequential, self.records, len(self.rates))
        tree = Tree(frozenset(self._baseline), self._baseline, certainty=certainty)
        found = compare(gather([batch]), self._baseline, tree)
        red = frozenset(int(row.pair[0]) for row in found.rows if row.gates)
        return Verdict(red, len(rows) - len(self.rates))

    def _run(self, unit: Unit, rates: Mapping[int, float]) -> UnitResult:
        passed = self._passes(rates[int(unit.case.case_id)])
        fields: dict[str, Any] = {
            "agent": unit.agent,
            "case_id": unit.case.case_id,
            "trial": unit.trial,
            "status": Status.PASS if passed else Status.FAIL,
            "outcome": Outcome.COMPLETED,
            "timed_out": False,
            "failure_kind": None if passed else "missing_required",
        }
        return UnitResult.model_construct(**fields)

    def _passes(self, rate: float) -> bool:
        return self._draws.random() < rate


def measure(rounds: int, small: bool) -> Iterator[Row]:
    """A value for each round, each of a repository of its own."""
    count = 20 if small else 400
    tested = [_open_many(Repository(MIXED, seed), count) for seed in range(rounds)]
    yield Row("U4", "red without a cause", [one.red for one in tested], "%", most=1)
    yield Row("U4", "extra trials", [one.extra for one in tested], "trials", most=12)
    fresh = [_open_many(Repository(MIXED, seed, 0), count) for seed in range(rounds)]
    yield Row("U4", "red, without a history", [one.red for one in fresh], "%", most=1)
    yield Row("U4", "extra, without a history", [one.extra for one in fresh], "trials", most=12)
    for what, confirming in (("one trial", Confirming()), ("--confirm 2", Confirming(2))):
        others = [_open_many(Repository(MIXED, seed), count, confirming) for seed in range(rounds)]
        yield Row("U4", f"red with {what} instead", [one.red for one in others], "%", least=1)
        extra = [one.extra for one in others]
        yield Row("U4", f"extra with {what} instead", extra, "trials", least=0)
    for low in (0.10, 0.50):
        caught = [_catch(Repository([0.95] * PAIRS, seed), low, count) for seed in range(rounds)]
        least = 85 if low < 0.25 else 0
        yield Row("U4", f"caught, 95 to {low:.0%} at one look", caught, "%", least=least)


@dataclass(frozen=True)
class _Shares:
    red: float
    extra: float


def _open_many(repository: Repository, count: int, confirming: Confirming = AUTO) -> _Shares:
    found = [repository.open_pull_request(confirming) for _ in range(count)]
    red = sum(bool(one.red) for one in found)
    return _Shares(100 * red / count, sum(one.extra for one in found) / count)


def _catch(repository: Repository, low: float, count: int) -> float:
    """The share of fallen pairs that are red, in percent: every pair falls, and is judged alone."""
    fallen = dict.fromkeys(range(PAIRS), low)
    looks = max(1, count // PAIRS)
    found = [repository.open_pull_request(changed=fallen) for _ in range(looks)]
    return 100 * sum(len(one.red) for one in found) / (looks * PAIRS)
