"""Where a pass rate changed: one split of a row of runs, and how surely it is no chance; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from routing_action.evidence.chance import Record

CHANGE_LEVEL = 0.05
"""A pair whose rate never changed shows a change point at most this often, whatever its rate."""


_NEAR = 1.92
"""How much less likely, in its logarithm, a place may be to be in the 95% interval around the best:
half the quantile of chi-squared with one degree of freedom."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The run that the new rate most likely begins with, the trials before and since.

    It may as well begin with any run from `first` to `last`. `p` is the chance of such a split
    where nothing changed, already corrected for the number of places where one could be found.
    """

    place: int
    first: int
    last: int
    before: Record
    since: Record
    p: float


def find_change_point(records: Sequence[Record], level: float = CHANGE_LEVEL) -> ChangePoint | None:
    """The split that makes the runs most likely, if it is significant; in one pass over the runs.

    The split maximises the binomial likelihood (D. V. Hinkley and E. A. Hinkley, Inference about
    the change-point in a sequence of binomial variables, Biometrika 57, 1970). Its significance is
    Fisher's exact test, two-sided by doubling, times the number of splits that were possible
    (Bonferroni): that bound holds for short histories and rates near 1 too, where the usual
    chi-squared limit does not. Trials count as independent.
    """
    total = Record(sum(one.passes for one in records), sum(one.trials for one in records))
    if total.passes in (0, total.trials):
        return None
    # n log n, from which the largest likelihood of trials by their own rate is made.
    logs = [0.0, *(n * math.log(n) for n in range(1, total.trials + 1))]
    gains: dict[int, tuple[float, Record]] = {}
    passes = trials = 0
    for place, record in enumerate(records):
        rest, left = total.passes - passes, total.trials - trials
        if trials and left and record.trials:
            gain = (
                logs[passes] + logs[trials - passes] - logs[trials]
                + logs[rest] + logs[left - rest] - logs[left]
            )  # fmt: skip
            gains[place] = gain, Record(passes, trials)
        passes, trials = passes + record.passes, trials + record.trials
    if not gains:
        return None
    best = max(gains, key=lambda place: gains[place][0])
    most, kept = gains[best]
    since = Record(total.passes - kept.passes, total.trials - kept.trials)
    p = min(1.0, 2 * len(gains) * _tail(kept, since))
    if p > level:
        return None
    near = [place for place, (gain, _) in gains.items() if gain >= most - _NEAR]
    return ChangePoint(best, near[0], near[-1], kept, since, p)


def _tail(before: Record, since: Record) -> float:
    """The chance of passes as unevenly spread as these, in their direction (hypergeometric)."""
    passes, trials = before.passes + since.passes, before.trials + since.trials
    fell = before.passes * since.trials > since.passes * before.trials
    least, most = max(0, passes - since.trials), min(passes, before.trials)
    counts = range(before.passes, most + 1) if fell else range(least, before.passes + 1)
    whole = _log_choose(trials, passes)
    return math.fsum(
        math.exp(_log_choose(before.trials, one) + _log_choose(since.trials, passes - one) - whole)
        for one in counts
    )


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
