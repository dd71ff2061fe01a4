"""Starts, finds and ends workflow runs of a commit.

The name of a run that a command started tells which command, and which commit of which pull
request: the workflow's `run-name` gives it, and by it alone GitHub tells whose run it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from routing_action.github.failures import ApiError, asking
from routing_action.github.replies import Place

if TYPE_CHECKING:
    from github.Repository import Repository
    from github.WorkflowRun import WorkflowRun

_NAME = re.compile(
    r"command (?P<comment>\d{1,19})/(?P<line>\d{1,6})"
    r" for #(?P<number>\d{1,10}) at (?P<head>[0-9a-f]{40,64})"
)
_MOST_RUNS = 50
_MOST_JOBS = 300


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a run: GitHub's words for its state, and its page."""

    name: str
    status: str
    conclusion: str
    url: str


@dataclass(frozen=True, slots=True)
class NamedRun:
    """What the name of a run says."""

    place: Place
    number: int
    head: str


def name_run(mark: str, number: int, head: str) -> str:
    """How the name of a command's run ends; `mark` is comment and line, as `500/1`."""
    return f"command {mark} for {name_change(number, head)}"


def name_change(number: int, head: str) -> str:
    """How the names of all runs by command at a head end."""
    return f"#{number} at {head}"


def parse_run_name(title: str) -> NamedRun | None:
    """What a name says; None where no command has started the run."""
    found = _NAME.fullmatch(title[title.rfind("command ") :]) if "command " in title else None
    if found is None:
        return None
    place = Place(int(found["comment"]), int(found["line"]))
    return NamedRun(place, int(found["number"]), found["head"])


@dataclass(frozen=True, slots=True)
class Start:
    """A run by hand of a workflow file at a branch; its name alone ends with `title`."""

    workflow: str
    ref: str
    inputs: Mapping[str, str]
    title: str


def start_workflow(repository: Repository, start: Start) -> str:
    """Start a workflow by hand, and give the address of its run, as GitHub tells it.

    "" where GitHub has started it and does not say which run it is. Raises ApiError where nothing
    was started. A failure that leaves open whether a run began is followed by a look for it, never
    by another try: two runs would cost twice.
    """
    try:
        with asking(f"start the workflow {start.workflow}", "actions: write"):
            made = repository.get_workflow(start.workflow).create_dispatch(
                start.ref, dict(start.inputs), throw=True, return_run_details=True
            )
    except ApiError as error:
        is_open = error.status == 0 or error.status >= 500
        url = find_started(repository, start) if is_open else ""
        if not url:
            raise
        return url
    # An older GitHub Enterprise Server answers without the run.
    return getattr(made, "html_url", "") or find_started(repository, start)


def find_started(repository: Repository, start: Start) -> str:
    """The address of the run that was started so before; "" where there is none."""
    found = _list_by_hand(repository, start.workflow, start.title)
    return found[0].html_url if found else ""


def find_runs(repository: Repository, workflow: str, sha: str, title: str) -> list[WorkflowRun]:
    """The newest runs of a workflow file for a commit, newest first.

    Those that were started by hand are of the default branch; they count where their title ends
    with `title`.
    """
    with asking("list the workflow's runs", "actions: read"):
        own = _first(repository.get_workflow_runs(head_sha=sha), workflow)
    found = {run.id: run for run in (*own, *_list_by_hand(repository, workflow, title))}
    return [found[run_id] for run_id in sorted(found, reverse=True)]


def find_runs_by_hand(repository: Repository, title: str) -> list[WorkflowRun]:
    """The newest runs of any workflow that were started by hand and whose title ends so."""
    return _list_by_hand(repository, "", title)


def _list_by_hand(repository: Repository, workflow: str, title: str) -> list[WorkflowRun]:
    with asking("list the workflow's runs", "actions: read"):
        by_hand = _first(repository.get_workflow_runs(event="workflow_dispatch"), workflow)
    return [run for run in by_hand if run.display_title.endswith(title)]


def _first(runs: Iterable[WorkflowRun], workflow: str) -> list[WorkflowRun]:
    few = (run for run, _ in zip(runs, range(_MOST_RUNS), strict=False))
    ending = f"/{workflow}" if workflow else ""
    return [run for run in few if run.path.partition("@")[0].endswith(ending)]


def list_jobs(run: WorkflowRun) -> list[Job]:
    """The jobs of the newest attempt, in GitHub's order."""
    with asking(f"list the jobs of run {run.id}", "actions: read"):
        listed = zip(run.jobs(), range(_MOST_JOBS), strict=False)
        return [Job(job.name, job.status, job.conclusion or "", job.html_url) for job, _ in listed]


def cancel_run(run: WorkflowRun) -> bool:
    """True where GitHub has taken the wish to end a run; False where the run had ended."""
    with asking(f"cancel run {run.id}", "actions: write"):
        return run.cancel()


def rerun_failed_jobs(run: WorkflowRun) -> bool:
    """True where the failed jobs of a run, and those that need them, begin again."""
    with asking(f"rerun the failed jobs of run {run.id}", "actions: write"):
        return run.rerun_failed_jobs()
