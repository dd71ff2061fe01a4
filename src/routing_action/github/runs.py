"""Starts, finds and ends workflow runs of a commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from routing_action.github.failures import asking

if TYPE_CHECKING:
    from github.Repository import Repository
    from github.WorkflowRun import WorkflowRun

_MOST_RUNS = 50
_MOST_JOBS = 300


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a run: GitHub's words for its state, and its page."""

    name: str
    status: str
    conclusion: str
    url: str


def dispatch_workflow(
    repository: Repository, workflow: str, ref: str, inputs: Mapping[str, str]
) -> str:
    """Start a workflow by hand, and give the address of its run, as GitHub tells it.

    Raises ApiError where nothing was started. A dispatch is not repeated after a failure that
    leaves open whether a run began: two runs would cost twice.
    """
    with asking(f"start the workflow {workflow}", "actions: write"):
        made = repository.get_workflow(workflow).create_dispatch(
            ref, dict(inputs), throw=True, return_run_details=True
        )
    return made.html_url


def find_runs(repository: Repository, workflow: str, sha: str, title: str) -> list[WorkflowRun]:
    """The newest runs of a workflow file for a commit, newest first.

    Those that were started by hand are of the default branch; they count where their title ends
    with `title`.
    """
    with asking("list the workflow's runs", "actions: read"):
        own = _first(repository.get_workflow_runs(head_sha=sha), workflow)
        by_hand = _first(repository.get_workflow_runs(event="workflow_dispatch"), workflow)
    titled = [run for run in by_hand if run.display_title.endswith(title)]
    found = {run.id: run for run in (*own, *titled)}
    return [found[run_id] for run_id in sorted(found, reverse=True)]


def _first(runs: Iterable[WorkflowRun], workflow: str) -> list[WorkflowRun]:
    few = (run for run, _ in zip(runs, range(_MOST_RUNS), strict=False))
    return [run for run in few if run.path.partition("@")[0].endswith(f"/{workflow}")]


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
