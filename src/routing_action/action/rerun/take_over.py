"""Takes over what earlier runs of the same change measured.

What is believed of a run is what GitHub says of it, and files whose digests the report of its gate
holds.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from routing_action.action.inputs import report_artifact
from routing_action.errors import UsageError
from routing_action.files.plain_files import hash_file
from routing_action.gate.deltas import DELTA_FILE, read_delta
from routing_action.gate.model import Delta
from routing_action.github.artifacts import fetch_artifact, fetch_results
from routing_action.github.failures import asking
from routing_action.results.batch_folder import RESULTS_FILE
from routing_action.results.find import ARTIFACT

if TYPE_CHECKING:
    from github.Repository import Repository
    from github.WorkflowRun import WorkflowRun

_AGAIN = "push a commit, or write `/routing rerun all`"


@dataclass(frozen=True, slots=True)
class Change:
    """The head of a pull request in a repository, and the key of the gate that judges it."""

    repository: str
    number: int
    head: str
    key: str


def take_over(repository: Repository, change: Change, run_id: str, folder: Path) -> Delta:
    """What the gate of an earlier run came to; it is of this change, whoever is asked.

    Raises UsageError where the run proves nothing about the head, ApiError where GitHub does not
    answer.
    """
    if not run_id.isdecimal():
        raise UsageError(f"the input earlier-run {run_id!r} is no id of a run")
    with asking(f"read run {run_id}", "actions: read"):
        run = repository.get_workflow_run(int(run_id))
        event, doubt = run.event, _find_doubt(run, change)
    if not doubt:
        name = report_artifact(change.key)
        delta = read_delta(fetch_artifact(repository, int(run_id), name, folder) / DELTA_FILE)
        is_of_head = event != "workflow_dispatch" or delta.commit == change.head
        if delta.pull_request == change.number and is_of_head and not delta.errors:
            return delta
        other = f"its report is not of #{change.number} at {change.head[:12]}"
        doubt = delta.errors[0] if delta.errors else other
    raise UsageError(f"nothing can be taken over from run {run_id}: {doubt}", remedy=_AGAIN)


def _find_doubt(run: WorkflowRun, change: Change) -> str:
    """Why a run proves nothing about this head; "" where it does.

    A run of a fork executes the fork's own workflow, which can upload anything.
    """
    owner = getattr(run.head_repository, "full_name", "")
    if owner.casefold() != change.repository.casefold():
        return "it is a fork's own, which could have uploaded anything"
    if run.event == "workflow_dispatch":
        return ""  # its report tells the commit
    if run.event != "pull_request":
        return f"it was started by {run.event}, not for a pull request"
    return "" if run.head_sha == change.head else f"it measured {run.head_sha[:12]}"


def bring_results(
    repository: Repository, delta: Delta, folder: Path, known: Collection[str]
) -> tuple[str, ...]:
    """Fetch the results that a report was made of, into folders by run; those runs.

    Those of `known` runs are there. Raises UsageError where one is not what was judged.
    """
    due: dict[str, dict[str, str]] = {}
    for one in delta.results:
        if one.run.isdecimal():
            due.setdefault(one.run, {})[one.name] = one.sha256
    new = {run: digests for run, digests in due.items() if run not in known}
    if not due:
        cause = "the earlier report does not tell which results it was made of"
        raise UsageError(cause, remedy=_AGAIN)
    for run, digests in new.items():
        fetch_results(repository, int(run), ARTIFACT, folder / run)
        for name in _check(folder / run, digests):
            cause = f"the results {name} of run {run} are not those that its gate judged"
            raise UsageError(cause, remedy=_AGAIN)
    return tuple(new)


def _check(folder: Path, digests: dict[str, str]) -> Iterator[str]:
    """The artifacts that are lost or changed; those that no gate has judged are removed."""
    found = {
        place.name: {hash_file(file) for file in place.rglob(RESULTS_FILE)}
        for place in sorted(folder.iterdir())
    }
    for name, hashes in found.items():
        if hashes and name not in digests:
            shutil.rmtree(folder / name)
    yield from (name for name, due in digests.items() if found.get(name) != {due})
