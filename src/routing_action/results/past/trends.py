"""What the history says of each pair: its rate, flips and streak, and where the rate changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from routing_action.corpus.baseline import Pair
from routing_action.evidence.chance import Record, wilson_interval
from routing_action.evidence.change_point import ChangePoint, find_change_point
from routing_action.results.past.history import HistoryLine

LEVELS = "▁▂▃▄▅▆▇"
NOTHING = "·"
"""Stands in a row of levels for runs that could not be measured."""


@dataclass(frozen=True, slots=True)
class Switch:
    """What changed with a run: "CLI", "model", "description" or "other descriptions"."""

    place: int
    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Trend:
    """The runs of a pair in the order of time, and what they add up to.

    `flips` counts neighbouring runs of which one passed and one did not; `streak` the last runs
    that agree, negative where they did not pass. Runs that could not be measured count for neither.
    Time and cost are those of a trial.
    """

    pair: Pair
    lines: Sequence[HistoryLine]
    record: Record
    interval: tuple[float, float]
    flips: int
    streak: int
    duration_ms: int
    cost_usd: float | None
    change: ChangePoint | None

    @property
    def rate(self) -> float | None:
        """Passes of the measured trials; None where none was."""
        return self.record.passes / self.record.trials if self.record.trials else None

    @property
    def switches(self) -> tuple[Switch, ...]:
        """Every switch, in the order of the runs."""
        return tuple(_find_switches(self.lines))

    @property
    def causes(self) -> tuple[Switch, ...]:
        """What switched with the run that the rate changed at, or with one that may be it."""
        change = self.change
        return tuple(
            one for one in self.switches if change and change.first <= one.place <= change.last
        )


def build_trends(lines: Iterable[HistoryLine]) -> list[Trend]:
    """The trend of each pair, the lowest rate first, then the most flips."""
    pairs: dict[Pair, list[HistoryLine]] = {}
    for line in lines:
        pairs.setdefault(line.pair, []).append(line)
    trends = [_build_trend(pair, own) for pair, own in pairs.items()]
    return sorted(
        trends, key=lambda one: (2.0 if one.rate is None else one.rate, -one.flips, one.pair)
    )


def _build_trend(pair: Pair, lines: Sequence[HistoryLine]) -> Trend:
    records = [line.record for line in lines]
    record = Record(sum(line.passes for line in lines), sum(line.measured for line in lines))
    passed = [2 * line.passes > line.measured for line in lines if line.measured]
    costs = [(line.cost_usd, line.trials) for line in lines if line.cost_usd is not None]
    paid = sum(trials for _, trials in costs)
    times = [line.duration_ms / line.trials for line in lines if line.trials]
    return Trend(
        pair=pair,
        lines=lines,
        record=record,
        interval=wilson_interval(record),
        flips=sum(one != other for one, other in pairwise(passed)),
        streak=_count_streak(passed),
        duration_ms=round(median(times)) if times else 0,
        cost_usd=sum(cost for cost, _ in costs) / paid if paid else None,
        change=find_change_point(records),
    )


def _count_streak(passed: Sequence[bool]) -> int:
    if not passed:
        return 0
    length = next((n for n, one in enumerate(reversed(passed)) if one != passed[-1]), len(passed))
    return length if passed[-1] else -length


def _find_switches(lines: Sequence[HistoryLine]) -> Iterator[Switch]:
    """Each value against the last one that was known."""
    last = dict.fromkeys(("CLI", "model", "description", "other descriptions"), "")
    known = None
    for place, line in enumerate(lines):
        values = (line.cli_version, line.model, line.description, line.skills)
        if values == known:
            continue
        known = values
        now = {name: value for name, value in zip(last, values, strict=True) if value}
        found = [name for name, value in now.items() if last[name] not in ("", value)]
        if "description" in found:  # which the digest of all of them follows
            found = [name for name in found if name != "other descriptions"]
        for name in found:
            yield Switch(place, name, last[name], now[name])
        last |= now


def draw_levels(records: Sequence[Record], width: int = 30) -> str:
    """The last runs as blocks, one each: low failed, high passed; a dot for nothing measured."""
    return "".join(
        LEVELS[round((len(LEVELS) - 1) * min(1, one.passes / one.trials))]
        if one.trials
        else NOTHING
        for one in records[-width:]
    )
