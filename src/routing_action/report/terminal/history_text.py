"""The history on a terminal: a line for each pair, the worst first, and where its rate changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from routing_action.gate.wording import count, format_duration
from routing_action.report.terminal.cells import cell_width, pad, visible
from routing_action.report.terminal.layout import wrap
from routing_action.results.past.trend_words import (
    describe_change,
    format_share,
    format_streak,
)
from routing_action.results.past.trends import Trend, draw_levels

_HEAD = ("pair", "rate", "95% interval", "flips", "streak", "time", "cost", "last runs")
_NARROWEST, _WIDEST, _BLOCKS = 20, 60, 30


def render_history(trends: Sequence[Trend], width: int) -> str:
    """The table; where it is narrow it has no blocks.

    A name is never cut, as it is there to be copied: its line gets longer.
    """
    return "\n".join(_render(trends, width)) + "\n"


def _render(trends: Sequence[Trend], width: int) -> Iterator[str]:
    rows = [_HEAD, *map(_cells, trends)]
    widths = [max(cell_width(row[n]) for row in rows) for n in range(len(_HEAD))]
    shown = len(_HEAD)
    if sum(widths[1:]) + 2 * shown + _NARROWEST > width:
        shown -= 1  # the blocks
    rest = sum(widths[1:shown]) + 2 * (shown - 1)
    widths[0] = min(widths[0], _WIDEST, max(_NARROWEST, width - rest))
    days = sorted(line.at[:10] for one in trends for line in (one.lines[0], one.lines[-1]))
    between = dict.fromkeys(map(visible, (days[0], days[-1])))
    runs = len({line.run for one in trends for line in one.lines})
    yield f"{count(len(trends), 'pair')} in {count(runs, 'run')}, {' to '.join(between)}"
    yield ""
    for row, trend in zip(rows, (None, *trends), strict=True):
        yield "  ".join(map(pad, row[:shown], widths)).rstrip()
        if trend is not None and trend.change is not None:
            yield from (f"    {line}" for line in wrap(describe_change(trend), width - 4))


def _cells(trend: Trend) -> tuple[str, ...]:
    low, high = trend.interval
    is_known = trend.rate is not None
    return (
        visible(f"{trend.pair[1]}:{trend.pair[0]}"),
        format_share(trend.rate) if trend.rate is not None else "-",
        f"{format_share(low)} to {format_share(high)}" if is_known else "-",
        str(trend.flips),
        format_streak(trend.streak) if trend.streak else "-",
        format_duration(trend.duration_ms),
        "-" if trend.cost_usd is None else f"${trend.cost_usd:.4f}",
        draw_levels([line.record for line in trend.lines], _BLOCKS),
    )
