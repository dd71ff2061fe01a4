"""`/routing status` and `/routing cancel`: the runs that measure a pull request's head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from routing_action.bot.work import Answer, Work, refuse
from routing_action.github.runs import cancel_run, find_runs, list_jobs

if TYPE_CHECKING:
    from github.WorkflowRun import WorkflowRun

_MOST_JOBS = 40


def show_status(work: Work) -> Answer:
    """The runs of the head, their jobs, and what the newest report says."""
    report = work.find_report()
    runs = [
        {
            "id": run.id,
            "url": run.html_url,
            "state": run.conclusion or run.status,
            "jobs": [
                {"name": job.name, "state": job.conclusion or job.status, "url": job.url}
                for job in list_jobs(run)[:_MOST_JOBS]
            ],
        }
        for run in _runs_of(work)[:5]
    ]
    marker = report.marker
    values = {
        "head": work.head,
        "runs": runs,
        "conclusion": marker.conclusion if marker else "",
        "of": marker.sha if marker else "",
        "url": report.url,
    }
    return Answer("status", values)


def cancel(work: Work) -> Answer:
    """End every run of the head that has not ended; their pairs stay unmeasured."""
    running = [run for run in _runs_of(work) if run.status != "completed"]
    if not running:
        return refuse("no run of this pull request is going on")
    ended = [run.html_url for run in running if cancel_run(run)]
    if not ended:
        return refuse("the runs ended before they could be cancelled")
    return Answer("cancel", {"urls": ended})


def _runs_of(work: Work) -> list[WorkflowRun]:
    return find_runs(
        work.repository, work.settings.workflow, work.head, f"#{work.pull.number} at {work.head}"
    )
