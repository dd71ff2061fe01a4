"""Says what a run left out, whether that can have changed, and what earlier attempts came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from routing_action.corpus.baseline import Pair
from routing_action.gate.rules import Comparison
from routing_action.gate.wording import name_few
from routing_action.results.measured import Measurement, When

_SHOWN = 5


def find_doubt(comparison: Comparison, moved: Mapping[str, str] | None, *, by_change: bool) -> str:
    """Why a partial run proves too little; "" where nothing that was left out can have changed.

    `by_change`: the plan chose by what changed. `moved` is what the gate found of that by itself,
    None where it could not.
    """
    left = comparison.left_out
    if not left:
        return ""
    if by_change and moved is not None:
        left = tuple(pair for pair in left if pair[0] in moved)
        reasons = dict.fromkeys(moved[case_id] for case_id, _ in left)
        why = f", although {next(iter(reasons))}" if reasons else ""
    else:
        why = ", and the history is not here to tell whether it matters" if by_change else ""
    return f"left out: {_name(left, comparison)}{why}" if left else ""


def describe_stale(measurement: Measurement) -> str:
    """How many pairs were measured too early to be green; "" where none was."""
    counts = Counter(measurement.stale.values())
    return "; ".join(f"{_count_pairs(number)} {what}" for what, number in sorted(counts.items()))


def _count_pairs(number: int) -> str:
    return "1 pair was" if number == 1 else f"{number} pairs were"


def _name(left: Sequence[Pair], comparison: Comparison) -> str:
    """The cases that were left out altogether, else the agents, else the pairs."""
    rows = [row.pair for row in comparison.rows]
    cases = dict.fromkeys(case_id for case_id, _ in left if case_id not in dict(rows))
    seen = {agent for _, agent in rows}
    agents = dict.fromkeys(agent for _, agent in left if agent not in seen)
    return name_few(cases or agents or [f"{one} on {agent}" for one, agent in left], _SHOWN)


def describe_attempts(
    comparison: Comparison, measurement: Measurement, last_attempt: int | None
) -> Iterator[str]:
    """One sentence for the pairs that were red at the same earlier attempts and are not now."""
    own = [batch.attempt for batch in measurement.latest if not batch.run]
    last = max(own, default=1)
    groups: dict[tuple[bool, tuple[When, ...]], list[str]] = {}
    for pair, attempts in comparison.red_before.items():
        group = groups.setdefault((pair in measurement.pairs, attempts), [])
        group.append(f"{pair[0]} on {pair[1]}")
    for (is_measured, attempts), pairs in groups.items():
        now = f"green at attempt {last} of {max(last, last_attempt or last)}"
        now = now if is_measured else f"not measured again at attempt {last}"
        yield f"{now}, but red {name_times(attempts)}: {name_few(pairs, _SHOWN)}"


def name_times(times: Sequence[When]) -> str:
    """`at attempts 1, 2 of this run`, `in run 11`, or both."""
    attempts = [str(one) for one in times if isinstance(one, int)]
    runs = [one for one in times if isinstance(one, str)]
    told = [f"in run{'' if len(runs) == 1 else 's'} {', '.join(runs)}"] if runs else []
    if attempts:
        many = "" if len(attempts) == 1 else "s"
        told.append(f"at attempt{many} {', '.join(attempts)} of this run")
    return " and ".join(told)
