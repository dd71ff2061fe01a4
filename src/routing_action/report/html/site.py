"""The dashboard of a history: one page that opens anywhere, and the figures of a badge."""

from __future__ import annotations

import io
import json
from datetime import datetime, timedelta

from routing_action.report.html.script import FILTERS, to_script
from routing_action.report.html.trends import build_trend_data
from routing_action.report.sandbox import Sandbox
from routing_action.results.past.history import History, HistoryLine
from routing_action.results.past.trends import Trend, build_trends

SITE_FILE = "index.html"
BADGE_FILE = "badge.json"
CURRENT_DAYS = 30
"""A pair that was last measured longer before the newest run no longer counts for the badge."""

_COLOURS = ((1.0, "brightgreen"), (0.9, "green"), (0.75, "yellow"), (0.0, "red"))


def render_files(history: History, repository: str) -> dict[str, bytes]:
    """The page and the badge, by the names of their files."""
    trends = build_trends(history.lines)
    return {
        SITE_FILE: render_site(trends, repository).encode(),
        BADGE_FILE: render_badge(trends).encode(),
    }


def render_site(trends: list[Trend], repository: str) -> str:
    """The page; `repository` stands in its title, "" where it is not known."""
    newest = _newest_lines(trends)
    last = max((trend.lines[-1] for trend in trends), key=lambda line: line.at, default=None)
    agents = sorted({trend.pair[1] for trend in trends})
    out = io.StringIO()
    out.writelines(
        Sandbox(None, FILTERS).pieces(
            "site.html.j2",
            repository=repository,
            message=_count_passing(newest),
            last=last,
            runs=len({line.run for trend in trends for line in trend.lines}),
            pairs=len(trends),
            meta=to_script({"agents": agents, "counts": {}}),
            trends=build_trend_data(trends),
        )
    )
    return out.getvalue()


def render_badge(trends: list[Trend]) -> str:
    """The JSON of an endpoint badge (the field names: shields.io/badges/endpoint-badge)."""
    newest = _newest_lines(trends)
    share = sum(map(_passes, newest)) / len(newest) if newest else 0.0
    colour = next(name for least, name in _COLOURS if share >= least) if newest else "lightgrey"
    badge = {
        "schemaVersion": 1,
        "label": "skill routing",
        "message": _count_passing(newest),
        "color": colour,
    }
    return json.dumps(badge, indent=2) + "\n"


def _newest_lines(trends: list[Trend]) -> list[HistoryLine]:
    """The last run that measured each pair, of the pairs that are still measured."""
    found = [
        line
        for trend in trends
        if (line := next((one for one in reversed(trend.lines) if one.measured), None))
    ]
    start = _days_before(max((line.at for line in found), default=""))
    return [line for line in found if line.at >= start]


def _days_before(at: str) -> str:
    try:
        return (datetime.fromisoformat(at[:10]) - timedelta(days=CURRENT_DAYS)).date().isoformat()
    except ValueError:
        return ""


def _passes(line: HistoryLine) -> bool:
    return 2 * line.passes > line.measured


def _count_passing(lines: list[HistoryLine]) -> str:
    if not lines:
        return "nothing measured yet"
    return f"{sum(map(_passes, lines))} of {len(lines)} pairs pass"
