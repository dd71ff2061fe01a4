"""What a command's run comes to: told below the reply, and by a sign on the comment."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from routing_action.bot.last_report import find_marker
from routing_action.bot.work import Settings
from routing_action.github.failures import asking
from routing_action.github.replies import find_reply, react
from routing_action.github.runs import NamedRun, list_jobs, parse_run_name
from routing_action.report.markdown import render_reply

if TYPE_CHECKING:
    from github.Repository import Repository
    from github.WorkflowRun import WorkflowRun

_MOST_JOBS = 40
_DONE = ("success", "skipped")
# The reply is begun before the run is.
_EARLIER = timedelta(hours=1)


def follow_run(repository: Repository, run_id: int, settings: Settings) -> bool:
    """Bring the reply of the command up to date; False where no command of ours started the run.

    However often and in whatever order GitHub tells of it, the last text is that of the end.
    """
    state = ""
    while True:
        with asking(f"read run {run_id}", "actions: read"):
            run = repository.get_workflow_run(run_id)
            named, newer = _find_command(run, settings), run.status
        if named is None:
            return False
        # Read once more after the reply was written: another worker may have told the end before.
        if newer == state:
            return True
        state = newer
        _tell(repository, run, named, settings)
        if state == "completed":
            return True


def _find_command(run: WorkflowRun, settings: Settings) -> NamedRun | None:
    """The command by the run's name, which only somebody who can write gives to a run by hand."""
    is_ours = run.path.partition("@")[0].endswith(f"/{settings.workflow}")
    is_by_hand = run.event == "workflow_dispatch" and is_ours
    return parse_run_name(run.display_title) if is_by_hand else None


def _tell(repository: Repository, run: WorkflowRun, named: NamedRun, settings: Settings) -> None:
    issue = repository.get_issue(named.number)
    reply = find_reply(issue, named.place, run.created_at - _EARLIER, settings.authors)
    if reply is None:
        return
    has_ended = run.status == "completed"
    jobs = [
        {"name": job.name, "state": job.conclusion or job.status, "url": job.url}
        for job in list_jobs(run)[:_MOST_JOBS]
        if not has_ended or job.conclusion not in _DONE
    ]
    marker, url = find_marker(issue, settings.key, settings.authors)
    is_of_head = marker is not None and marker.sha == named.head
    text = render_reply(
        "later",
        url=run.html_url,
        state=run.conclusion if has_ended else "",
        jobs=jobs,
        verdict=marker.conclusion if marker and is_of_head and has_ended else "",
        report_url=url,
    )
    reply.tell_later(text)
    if has_ended:
        sign = "rocket" if run.conclusion == "success" else "confused"
        react(issue, named.place.comment, sign)
