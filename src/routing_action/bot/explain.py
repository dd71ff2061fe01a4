"""`/routing explain`: what happened to a case, agent by agent, from the newest report."""

from __future__ import annotations

from dataclasses import replace

from routing_action.bot.work import Answer, Work, refuse
from routing_action.corpus.naming import fold
from routing_action.files.nearest import suggest
from routing_action.report.page_rows import build_rows

_MOST_ROWS = 12


def explain(work: Work) -> Answer:
    """The rows of a case, with their evidence and commands; red ones first."""
    report, command = work.find_report(), work.command
    delta = report.delta
    if delta is None:
        return refuse(report.problem)
    wanted, agents = fold(command.case_ids[0]), set(map(fold, command.agents))
    of_case = [row for row in delta.rows if fold(row.case_id) == wanted]
    if not of_case:
        hint = suggest(
            command.case_ids[0], [row.case_id for row in delta.rows], "the report lists all cases"
        )
        return refuse(f"the report has no case {command.case_ids[0]}: {hint}")
    chosen = [row for row in of_case if not agents or fold(row.agent) in agents]
    if not chosen:
        known = ", ".join(row.agent for row in of_case)
        return refuse(f"the report has no such agent for this case: it has {known}")
    links = work.context.links(work.settings.key)
    if report.marker:
        marker = report.marker
        links = replace(links, sha=marker.sha, run_id=marker.run, run_attempt=marker.attempt)
    rows = build_rows(delta, chosen[:_MOST_ROWS], links)
    values = {"rows": rows, "url": report.url, "of": report.marker.sha if report.marker else ""}
    return Answer("explain", {**values, "head": work.head})
