"""How many failed trials prove that a pair got worse: a sequential test against its own rate.

Pure arithmetic. Sources: A. Wald, Sequential tests of statistical hypotheses, Annals of
Mathematical Statistics 16 (1945), with the method of weight functions of its section 4 for a rate
that is only known by a record; J. Ville, Étude critique de la notion de collectif (1939), for the
bound that holds whenever one looks. docs/explanation/how-sure.md says it in words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from routing_action.evidence.chance import Record

DEFAULT_DETECT = 0.25
DEFAULT_FALSE_ALARM = 0.01
DEFAULT_MAX_CONFIRM = 8
MISS = 0.2
"""Where trials are so much likelier for an unchanged pair, they speak for one (Wald's beta)."""

SURPRISING = 0.05
"""What an unchanged pair does more seldom is a surprise, though no proof."""

_LEAST_TRIALS = 2
"""No single trial proves anything, however good the record is; nor do fewer fails than passes."""
_LEAST_RATE = 0.5
_KNOWN = 1e6
"""So many trials make a rate as good as known."""


class Finding(Enum):
    """What the trials of a pair say of it."""

    WORSE = auto()
    """It fell below its own rate."""
    SAME = auto()
    """They are as those of an unchanged pair."""
    NOT_PROVEN = auto()
    """Neither, and no more trials would prove a fall."""
    OPEN = auto()
    """More trials can prove a fall."""
    NO_RATE = auto()
    """Its record is not that of a passing pair, so there is nothing to fall from."""


@dataclass(frozen=True, slots=True)
class Sequential:
    """What a test is to hold: the settings of `--confirm auto`.

    A pair that fell to `detect` times its rate is to be found; all pairs together may be red by
    chance in `false_alarm` of all runs; a pair that failed gets at most `max_confirm` more trials.
    """

    detect: float = DEFAULT_DETECT
    false_alarm: float = DEFAULT_FALSE_ALARM
    max_confirm: int = DEFAULT_MAX_CONFIRM

    def find_bounds(self, belief: Belief, pairs: int, trials: int = 1) -> Bounds:
        """The bounds of one of so many pairs, for what is measured of it and what may follow."""
        most = max(trials, 1 + self.max_confirm)
        return find_bounds(belief, self.false_alarm / max(1, pairs), self.detect, most)

    def judge(self, belief: Belief, pairs: int, failed: Sequence[bool]) -> Finding:
        """What the measured trials of one of so many pairs say, in their order."""
        if belief.rate < _LEAST_RATE:
            return Finding.NO_RATE
        return self.find_bounds(belief, pairs, len(failed)).judge(failed)


@dataclass(frozen=True, slots=True)
class Belief:
    """What is known of a pass rate: a Beta distribution, as if so many trials had been seen."""

    passes: float
    fails: float

    @property
    def rate(self) -> float:
        """The mean."""
        return self.passes / (self.passes + self.fails)

    def log_chance(self, failed: int, trials: int) -> float:
        """The logarithm of the chance of one certain order of so many fails among the trials."""
        passed = trials - failed
        return _log_beta(self.passes + passed, self.fails + failed) - _log_beta(
            self.passes, self.fails
        )

    def chance(self, failed: int, trials: int) -> float:
        """The chance that at least so many of the trials fail (beta-binomial)."""
        every = range(failed, trials + 1)
        logs = (self.log_chance(one, trials) + math.log(math.comb(trials, one)) for one in every)
        return min(1.0, math.fsum(map(math.exp, logs)))


PRIOR = Belief(9.5, 0.5)
"""Of a pair without a record: as if 9.5 of 10 trials had passed."""


def believe(record: Record, stated: float | None = None) -> Belief:
    """What a record says of a pair, beside what is thought of any; a rate that is stated counts."""
    if stated is not None:
        return Belief(stated * _KNOWN, (1 - stated) * _KNOWN)
    return Belief(PRIOR.passes + record.passes, PRIOR.fails + record.trials - record.passes)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What decides after 1, 2, 3 ... measured trials, by the number of those that failed.

    `worse` holds the least that proves a fall (more than all where none does), `same` the most
    that speaks for an unchanged pair (-1 where none does), `open` the least of which the trials
    that are left can still make a proof.
    """

    worse: tuple[int, ...]
    same: tuple[int, ...]
    open: tuple[int, ...]

    def judge(self, failed: Sequence[bool]) -> Finding:
        """What measured trials say, in their order; a proof stands whatever comes after it.

        There are as many bounds as trials, at least.
        """
        count = 0
        for one, bound in zip(failed, self.worse, strict=False):
            count += one
            if count >= bound:
                return Finding.WORSE
        if not failed:
            return Finding.OPEN
        last = len(failed) - 1
        if count <= self.same[last]:
            return Finding.SAME
        return Finding.OPEN if count >= self.open[last] else Finding.NOT_PROVEN


@lru_cache(maxsize=4096)
def find_bounds(belief: Belief, alpha: float, detect: float, most: int) -> Bounds:
    """The bounds for up to `most` trials of a test against a fall to `detect` times the rate.

    It calls an unchanged pair worse with probability `alpha` at most, whenever one stops.
    """
    fallen = detect * belief.rate
    passes, fails = math.log(fallen), math.log1p(-fallen)
    worse: list[int] = []
    same: list[int] = []
    for trials in range(1, most + 1):
        # How much likelier the trials are for a fallen pair: Wald's ratio, as a logarithm.
        ratios = [
            passes * (trials - failed) + fails * failed - belief.log_chance(failed, trials)
            for failed in range(trials + 1)
        ]
        proofs = (n for n, ratio in enumerate(ratios) if ratio >= -math.log(alpha))
        worse.append(max(min(proofs, default=trials + 1), _least_fails(trials)))
        same.append(max((n for n, one in enumerate(ratios) if one <= math.log(MISS)), default=-1))
    reached, spent = _follow(belief, worse)
    # What Wald's bound leaves of alpha is spent at the last trial, after which none follows.
    while worse[-1] > _least_fails(most) and spent + (chance := reached[worse[-1] - 1]) <= alpha:
        worse[-1] -= 1
        spent += chance
    still = [min(bound - later for later, bound in enumerate(worse[n:])) for n in range(most)]
    return Bounds(tuple(worse), tuple(same), tuple(still))


def _least_fails(trials: int) -> int:
    return max(_LEAST_TRIALS, (trials + 1) // 2)


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)


def _follow(belief: Belief, worse: Sequence[int]) -> tuple[list[float], float]:
    """The chance of each number of fails at the end without a proof, and that of a proof before."""
    reached, spent = [1.0], 0.0
    for trials, bound in enumerate(worse):
        following = [0.0] * (trials + 2)
        for failed, chance in enumerate(reached):
            fails = (belief.fails + failed) / (belief.passes + belief.fails + trials)
            following[failed] += chance * (1 - fails)
            following[failed + 1] += chance * fails
        spent += math.fsum(following[bound:])
        reached = [chance if n < bound else 0.0 for n, chance in enumerate(following)]
    return reached, spent
