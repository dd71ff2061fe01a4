"""`/routing status` and `/routing cancel`: the runs that measure a pull request's head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from routing_action.bot.work import Answer, Work, refuse
from routing_action.github.runs import cancel_run, find_runs, list_jobs, name_change

if TYPE_CHECKING:
    from github.WorkflowRun import WorkflowRun

_MOST_JOBS = 40


def show_status(work: Work) -> Answer:
    """The runs of the head, their jobs, and what the newest report says."""
    report = work.find_report()
    listed = [(run, list_jobs(run)[:_MOST_JOBS]) for run in find_runs_of(work)[:5]]
    runs = [
        {
            "id": run.id,
            "url": run.html_url,
            "state": run.conclusion or run.status,
            "jobs": [
                {"name": job.name, "state": job.conclusion or job.status, "url": job.url}
                for job in jobs
            ],
        }
        for run, jobs in listed
    ]
    waits = [job.name for _, jobs in listed for job in jobs if job.status != "completed"]
    marker = report.marker
    values = {
        "head": work.head,
        "runs": runs,
        "waits": list(dict.fromkeys(waits)),
        "conclusion": marker.conclusion if marker else "",
        "of": marker.sha if marker else "",
        "url": report.url,
        "page": work.settings.find_page(work.pull.number) if report.delta else "",
    }
    return Answer("status", values)


def cancel(work: Work) -> Answer:
    """End every run of the head that has not ended; their pairs stay unmeasured."""
    runs = find_runs_of(work)
    running = [run for run in runs if run.status != "completed"]
    cancelled = [run.html_url for run in runs if run.conclusion == "cancelled"]
    if not running and work.is_again and cancelled:
        return Answer("cancel", {"urls": cancelled})
    if not running:
        return refuse("no run of this pull request is going on")
    ended = [run.html_url for run in running if cancel_run(run)]
    if not ended:
        return refuse("the runs ended before they could be cancelled")
    return Answer("cancel", {"urls": ended})


def is_measured(work: Work) -> bool:
    """True while a run by command measures the head, which a commit on the branch would void."""
    return work.has_started or any(
        run.event == "workflow_dispatch" and run.status != "completed" for run in find_runs_of(work)
    )


def find_runs_of(work: Work) -> list[WorkflowRun]:
    """The runs of the head, newest first, with those that commands have started."""
    title = name_change(work.pull.number, work.head)
    return find_runs(work.repository, work.settings.workflow, work.head, title)
