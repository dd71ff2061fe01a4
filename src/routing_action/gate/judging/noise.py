"""How often a gate is red without a cause, what it catches, and what that costs, by its settings.

All chances are exact sums over the numbers of failed trials; only how far the rates of the pairs
are known is drawn, by a seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, median, quantiles

from routing_action.corpus.baseline import Pair
from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import Belief, Bounds, Sequential, believe

DRAWS, SEED = 200, 1
FALLS = (0.5, 0.1)
"""The rates that a fall to is looked at."""

_Chance = Callable[[int, int], float]
"""The chance that the next trial fails, after so many failed of so many."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How a gate judges: trials of every pair, then more of those that failed."""

    trials: int = 1
    confirm: int = 0
    sequential: Sequential | None = None

    def __str__(self) -> str:
        """The rule as options of `run`."""
        words = [f"--trials {self.trials}"] if self.trials > 1 else []
        if self.sequential:
            defaults = Sequential()
            words.append("--confirm auto")
            words += [
                f"--{name.replace('_', '-')} {getattr(self.sequential, name):g}"
                for name in Sequential.__dataclass_fields__
                if getattr(self.sequential, name) != getattr(defaults, name)
            ]
        elif self.confirm:
            words.append(f"--confirm {self.confirm}")
        return " ".join(words) or "one trial"


@dataclass(frozen=True, slots=True)
class KnownPair:
    """A pair that is expected to pass: its record, a rate that is declared, and a trial's cost."""

    pair: Pair
    record: Record
    declared: float | None = None
    cost_usd: float | None = None

    @property
    def belief(self) -> Belief:
        """What is known of its rate."""
        return believe(self.record, self.declared)


@dataclass(frozen=True, slots=True)
class Noise:
    """What a rule does on a corpus; chances from 0 to 1, costs in US dollars, None if unknown.

    `red` is the chance that a change which breaks nothing is red, with the interval that the rates
    leave it; `caught` holds by each of FALLS the chance of the typical and of the worst pair.
    `extra` trials come on top of one of each pair.
    """

    rule: Rule
    red: float
    low: float
    high: float
    caught: Mapping[float, tuple[float, float]]
    extra: float
    cost_usd: float | None


def foresee(rule: Rule, pairs: Sequence[KnownPair], seed: int = SEED) -> Noise:
    """What a rule does on these pairs, of which there is at least one."""
    courses = [_follow_pair(rule, one, len(pairs), _learning(one.belief)) for one in pairs]
    extra = [more for _, more in courses]
    costs = [one.cost_usd for one in pairs]
    known = [cost for cost in costs if cost is not None]
    spread = sorted(_draw_red(rule, pairs, seed))
    low, *_, high = quantiles(spread, n=40, method="inclusive")
    ranked = sorted(pairs, key=lambda one: one.belief.rate)
    caught = {
        fall: (
            _follow_pair(rule, ranked[len(ranked) // 2], len(pairs), _fixed(fall))[0],
            _follow_pair(rule, ranked[0], len(pairs), _fixed(fall))[0],
        )
        for fall in FALLS
    }
    return Noise(
        rule=rule,
        red=fmean(spread),
        low=low,
        high=high,
        caught=caught,
        extra=math.fsum(extra),
        cost_usd=math.fsum(
            more * (fmean(known) if cost is None else cost)
            for more, cost in zip(extra, costs, strict=True)
        )
        if known
        else None,
    )


def recommend(found: Sequence[Noise], wanted: float) -> Noise | None:
    """What is red without a cause seldom enough, finds most and then costs least; None if nothing.

    What finds nearly as much as the best one counts as equal to it.
    """
    able = [one for one in found if one.red <= wanted]
    most = max((_sum_caught(one) for one in able), default=0.0)
    best = [one for one in able if _sum_caught(one) >= most - 0.02]
    return min(best, key=lambda one: one.extra, default=None)


def _sum_caught(noise: Noise) -> float:
    return fmean(typical for typical, _ in noise.caught.values())


def find_worst(pairs: Sequence[KnownPair]) -> KnownPair:
    """The pair that is thought to pass most seldom."""
    return min(pairs, key=lambda one: one.belief.rate)


def find_typical(pairs: Sequence[KnownPair]) -> int:
    """How many trials are known of a pair, at the median."""
    return int(median(one.record.trials for one in pairs))


def _draw_red(rule: Rule, pairs: Sequence[KnownPair], seed: int) -> Iterator[float]:
    """The chance of a red change, for rates as the records allow them."""
    draws = random.Random(seed)  # noqa: S311 - a simulation
    tables = [_tabulate(rule, one, len(pairs)) for one in pairs]
    for _ in range(DRAWS):
        green = 1.0
        for one, table in zip(pairs, tables, strict=True):
            rate = draws.betavariate(one.belief.passes, one.belief.fails)
            green *= 1 - table[round(rate * (len(table) - 1))]
        yield 1 - green


_GRID = 400


def _tabulate(rule: Rule, one: KnownPair, count: int) -> tuple[float, ...]:
    bounds = _find_bounds(rule, one, count)
    return _tabulate_bounds(rule, bounds)


@lru_cache(maxsize=1024)
def _tabulate_bounds(rule: Rule, bounds: Bounds | None) -> tuple[float, ...]:
    """The chance of red at evenly spaced rates from 0 to 1."""
    return tuple(_follow(rule, bounds, _fixed(n / _GRID))[0] for n in range(_GRID + 1))


def _find_bounds(rule: Rule, one: KnownPair, count: int) -> Bounds | None:
    if rule.sequential is None:
        return None
    return rule.sequential.find_bounds(one.belief, count, rule.trials)


def _follow_pair(rule: Rule, one: KnownPair, count: int, chance: _Chance) -> tuple[float, float]:
    return _follow(rule, _find_bounds(rule, one, count), chance)


def _fixed(rate: float) -> _Chance:
    return lambda failed, trials: 1 - rate


def _learning(belief: Belief) -> _Chance:
    """Of a rate that is known by its record alone."""
    total = belief.passes + belief.fails
    return lambda failed, trials: (belief.fails + failed) / (total + trials)


def _follow(rule: Rule, bounds: Bounds | None, chance: _Chance) -> tuple[float, float]:
    """The chance that a pair is red, and how many trials beyond one it takes on average."""
    states = {0: 1.0}
    red, extra = 0.0, float(rule.trials - 1)
    most = len(bounds.worse) if bounds else rule.trials + rule.confirm
    for trials in range(most):
        states = _run_once(states, trials, chance)
        measured = trials + 1
        if bounds is not None:
            red += sum(p for n, p in states.items() if n >= bounds.worse[trials])
            states = {n: p for n, p in states.items() if n < bounds.worse[trials]}
        if measured >= rule.trials:
            states = {n: p for n, p in states.items() if _goes_on(rule, bounds, n, measured)}
            extra += sum(states.values()) if measured < most else 0.0
    if bounds is None:
        red = sum(p for n, p in states.items() if 2 * (most - n) <= most)
    return red, extra


def _run_once(states: Mapping[int, float], trials: int, chance: _Chance) -> dict[int, float]:
    following: dict[int, float] = {}
    for failed, p in states.items():
        fails = chance(failed, trials)
        following[failed] = following.get(failed, 0.0) + p * (1 - fails)
        following[failed + 1] = following.get(failed + 1, 0.0) + p * fails
    return following


def _goes_on(rule: Rule, bounds: Bounds | None, failed: int, measured: int) -> bool:
    """Whether a pair gets another trial; where the majority decides, only after the first ones."""
    if bounds is None:
        return measured > rule.trials or 2 * (measured - failed) <= measured
    last = measured - 1
    return failed > max(0, bounds.same[last]) and failed >= bounds.open[last]
