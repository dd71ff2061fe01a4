"""The data that templates/report_trends.js reads: sums and blocks, and no single run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from routing_action.evidence.chance import Record
from routing_action.report.html.script import to_script
from routing_action.results.past.history import HistoryLine
from routing_action.results.past.trend_words import describe_change, describe_switch
from routing_action.results.past.trends import Trend, draw_levels

BLOCKS = 40
"""Blocks of a chart: where there are more runs, each block is several."""

_MOST_MARKS = 8


def build_trend_data(trends: Sequence[Trend]) -> Markup:
    """The pairs in the given order; `null` where there is none."""
    if not trends:
        return to_script(None)
    texts: dict[str, int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    times = [line.at for trend in trends for line in (trend.lines[0], trend.lines[-1])]
    rows = [_build_row(trend, number) for trend in trends]
    return to_script(
        {"from": min(times)[:10], "to": max(times)[:10], "pairs": rows, "texts": list(texts)}
    )


def _build_row(trend: Trend, number: Any) -> list[Any]:  # noqa: ANN401 - a function
    """The columns, in the order in which the script reads them."""
    blocks = _split(len(trend.lines))
    marks = [one for one in trend.switches if one.what != "other descriptions"][-_MOST_MARKS:]
    low, high = trend.interval
    change = trend.change
    return [
        *trend.pair,
        trend.record.passes,
        trend.record.trials,
        round(low, 4),
        round(high, 4),
        len(trend.lines),
        trend.flips,
        trend.streak,
        trend.duration_ms,
        trend.cost_usd,
        draw_levels([_add(trend.lines[start:end]) for start, end in blocks], BLOCKS),
        [(_find_block(blocks, one.place), number(describe_switch(trend, one))) for one in marks],
        [_find_block(blocks, change.place), number(describe_change(trend))] if change else None,
    ]


def _split(count: int) -> list[tuple[int, int]]:
    """The first and the end of each block, of nearly equally many runs."""
    blocks = min(count, BLOCKS)
    return list(pairwise(count * n // blocks for n in range(blocks + 1)))


def _add(lines: Sequence[HistoryLine]) -> Record:
    return Record(sum(line.passes for line in lines), sum(line.measured for line in lines))


def _find_block(blocks: Sequence[tuple[int, int]], place: int) -> int:
    return next(number for number, (_, end) in enumerate(blocks) if place < end)
