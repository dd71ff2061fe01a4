"""`/routing help`: the commands, with this repository's own agents and cases."""

from __future__ import annotations

from routing_action.bot.work import Answer, Work

_MOST_NAMES = 30


def show_help(work: Work) -> Answer:
    """The table of commands; the names come from the newest report, where there is one."""
    delta = work.find_report().delta
    rows = delta.rows if delta else ()
    cases = list(dict.fromkeys(row.case_id for row in rows))
    agents = list(dict.fromkeys(row.agent for row in rows))
    return Answer(
        "help",
        {
            "cases": cases[:_MOST_NAMES],
            "more_cases": max(0, len(cases) - _MOST_NAMES),
            "agents": agents[:_MOST_NAMES],
        },
    )
