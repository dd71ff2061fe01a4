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
WEAK_BELOW = 0.9
"""A pair with a lower pass rate is told, also where its last run passed."""

_COLOURS = ((1.0, "brightgreen"), (0.9, "green"), (0.75, "yellow"), (0.0, "red"))
_BELOW_GREEN = 0.89


def render_files(history: History, repository: str) -> dict[str, bytes]:
    """The page and the badge, by the names of their files."""
    trends = build_trends(history.lines)
    return {
        SITE_FILE: render_site(trends, repository).encode(),
        BADGE_FILE: render_badge(trends).encode(),
    }


def render_site(trends: list[Trend], repository: str) -> str:
    """The page; `repository` stands in its title, "" where it is not known."""
    last = max((trend.lines[-1] for trend in trends), key=lambda line: line.at, default=None)
    agents = sorted({trend.pair[1] for trend in trends})
    out = io.StringIO()
    out.writelines(
        Sandbox(None, FILTERS).pieces(
            "site.html.j2",
            repository=repository,
            message=_count_passing(trends),
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
    current = _list_current(trends)
    share = sum(_passes(line) for _, line in current) / len(current) if current else 0.0
    # A pair that passes too seldom is no green, whatever its last run did.
    share = min(share, _BELOW_GREEN) if any(_is_weak(one) for one, _ in current) else share
    colour = next(name for least, name in _COLOURS if share >= least) if current else "lightgrey"
    badge = {
        "schemaVersion": 1,
        "label": "skill routing",
        "message": _count_passing(trends),
        "color": colour,
    }
    return json.dumps(badge, indent=2) + "\n"


def _list_current(trends: list[Trend]) -> list[tuple[Trend, HistoryLine]]:
    """The pairs that are still measured, each with the last run that measured it."""
    found = [
        (trend, line)
        for trend in trends
        if (line := next((one for one in reversed(trend.lines) if one.measured), None))
    ]
    start = _days_before(max((line.at for _, line in found), default=""))
    return [(trend, line) for trend, line in found if line.at >= start]


def _days_before(at: str) -> str:
    try:
        return (datetime.fromisoformat(at[:10]) - timedelta(days=CURRENT_DAYS)).date().isoformat()
    except ValueError:
        return ""


def _passes(line: HistoryLine) -> bool:
    return 2 * line.passes > line.measured


def _is_weak(trend: Trend) -> bool:
    """Whether a pair passes too seldom, since its rate changed where it did."""
    record = trend.change.since if trend.change else trend.record
    return record.passes < WEAK_BELOW * record.trials


def _count_passing(trends: list[Trend]) -> str:
    current = _list_current(trends)
    if not current:
        return "nothing measured yet"
    passed = sum(_passes(line) for _, line in current)
    weak = sum(_is_weak(trend) for trend, _ in current)
    more = (
        f"; {weak} {'passes' if weak == 1 else 'pass'} less than {WEAK_BELOW:.0%}" if weak else ""
    )
    return f"{passed} of {len(current)} pairs passed their last run{more}"
