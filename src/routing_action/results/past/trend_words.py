"""Says in words what the history tells of a pair."""

from __future__ import annotations

from routing_action.results.past.trends import Switch, Trend


def format_share(share: float) -> str:
    """A share as a whole percentage; 100 and 0 only where it is exactly that."""
    percent = round(100 * share)
    if 0 < share < 1:
        percent = min(99, max(1, percent))
    return f"{percent}%"


def format_streak(streak: int) -> str:
    """The last runs that agree: `pass ×12`."""
    return f"{'pass' if streak > 0 else 'fail'} ×{abs(streak)}" if streak else "–"


def describe_change(trend: Trend) -> str:
    """Where the rate changed, from what to what, and what changed with it; "" where it did not."""
    change = trend.change
    if change is None:
        return ""
    rates = (one.passes / one.trials for one in (change.before, change.since))
    before, since = map(format_share, rates)
    causes = ", ".join(
        _name_switch(one) if one.place == change.place else describe_switch(trend, one)
        for one in trend.causes
    )
    more = change.last - change.first
    around = f", give or take {more} run{'' if more == 1 else 's'}" if more else ""
    return f"{before} → {since} at {_name_run(trend, change.place)}{around}; " + (
        f"with it changed {causes}" if causes else "CLI, model and descriptions stayed the same"
    )


def describe_switch(trend: Trend, switch: Switch) -> str:
    """What changed, and at which run."""
    return f"{_name_switch(switch)} at {_name_run(trend, switch.place)}"


def _name_switch(switch: Switch) -> str:
    if switch.what in ("CLI", "model"):
        return f"{switch.what} {switch.before} → {switch.after}"
    return "its description" if switch.what == "description" else switch.what


def _name_run(trend: Trend, place: int) -> str:
    line = trend.lines[place]
    return f"{line.commit[:12] or 'an unknown commit'} ({line.at[:10]})"
