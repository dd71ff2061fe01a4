"""The action's stage `fetch` for a run that is for a pull request: what GitHub says of it.

It has the token, which later stages do not get. What is wrong is written down, and told by them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from routing_action.action.post import open_github
from routing_action.action.rerun.facts import ASKED_FILE, RESULTS, Asked, asked_folder
from routing_action.action.rerun.take_over import Change, bring_results, take_over
from routing_action.action.step import Step
from routing_action.bot.last_report import find_marker
from routing_action.errors import (
    DocumentError,
    ExitCode,
    GitHubError,
    RoutingActionError,
    UsageError,
)
from routing_action.files.atomic import write_atomically
from routing_action.github.comments import Marker
from routing_action.github.failures import ApiError, asking
from routing_action.github.people import name_authors
from routing_action.github.runs import find_runs_by_hand, name_change

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

_MOST_OTHERS = 5
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def fetch_asked(step: Step) -> ExitCode:
    """Find out about the pull request and the earlier run."""
    folder = asked_folder(step)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        asked = _ask(step)
    except RoutingActionError as error:
        asked = Asked(error=error.sentence, is_githubs=isinstance(error, GitHubError))
    write_atomically(folder / ASKED_FILE, asked.model_dump_json() + "\n")
    return ExitCode.PASSED


def _ask(step: Step) -> Asked:
    number, sha = step.inputs.text("pull-request"), step.inputs.text("head-sha").lower()
    if not number:
        return _look_for_newer(step)
    if not number.isdecimal() or not _COMMIT.fullmatch(sha):
        raise UsageError(
            "the inputs pull-request and head-sha name no pull request and commit",
            remedy="give the number, and the full id of the pull request's head",
        )
    repository = open_github(step.context, step.inputs.text("token"))
    with asking(f"read pull request #{number}", "pull-requests: read"):
        pull = repository.get_pull(int(number))
        facts = _describe(pull)
    _require_head(facts, pull.state, sha)
    asked = Asked(pull_request=facts)
    run_id = step.inputs.text("earlier-run")
    if step.variable("ROUTING_STAGE") != "aggregate" or not run_id:
        return asked
    found = _complete(step, repository, facts, run_id)
    return found.model_copy(update={"pull_request": facts})


def _complete(step: Step, repository: Repository, facts: Mapping[str, Any], run_id: str) -> Asked:
    """What the named run judged, the one that reported last, and others by command at this head.

    One of the first two has to prove something; what the others measured is added where it does.
    """
    marker = _find_newest(step, repository, facts)
    newest = marker.run if marker is not None and marker.run != step.context.run_id else ""
    asked: Asked | None = None
    if newest and newest != run_id:
        with suppress(UsageError, DocumentError):
            asked = _take_over(step, repository, facts, newest)
    if asked is None:
        asked = _take_over(step, repository, facts, run_id)
    for other in _list_others(repository, facts, {newest, run_id, step.context.run_id}):
        with suppress(UsageError, DocumentError):
            asked = _take_over(step, repository, facts, other, asked)
    number = marker.number if marker is not None and newest in asked.reports else 0
    return asked.model_copy(update={"number": number})


def _list_others(
    repository: Repository, facts: Mapping[str, Any], known: set[str]
) -> Iterator[str]:
    """Runs by command at this head that have ended, newest first.

    Two that judged at the same time know nothing of each other, and one comment alone is shown.
    """
    title = name_change(facts["number"], facts["head"]["sha"])
    runs = (run for run in find_runs_by_hand(repository, title) if run.status == "completed")
    listed = (str(run.id) for run in runs if str(run.id) not in known)
    yield from islice(listed, _MOST_OTHERS)


def _find_newest(step: Step, repository: Repository, facts: Mapping[str, Any]) -> Marker | None:
    """What the comment says of itself, where it is of this head."""
    issue = repository.get_issue(facts["number"])
    authors = name_authors(step.inputs.text("app-slug"))
    marker, _ = find_marker(issue, step.variable("ROUTING_LEG"), authors)
    return marker if marker is not None and marker.sha == facts["head"]["sha"] else None


def _look_for_newer(step: Step) -> Asked:
    """Where the gate of a pull request's own run runs again: what a run by command measured since.

    So the check that a branch rule requires, which is this run's, follows the newest report.
    """
    context, token = step.context, step.inputs.text("token")
    is_again = step.variable("ROUTING_STAGE") == "aggregate" and context.run_attempt > 1
    if not is_again or context.pull_request is None or not token:
        return Asked()
    repository, facts = open_github(context, token), context.value("pull_request")
    try:
        marker = _find_newest(step, repository, facts)
    except ApiError:
        return Asked()  # a gate that may post nothing has no comment to look for
    if marker is None or marker.number <= context.run_number:
        return Asked()
    try:
        return _complete(step, repository, facts, marker.run)
    except RoutingActionError as error:
        note = f"a newer run of this commit could not be taken into account: {error.cause}"
        return Asked(notes=(note,))


def _describe(pull: PullRequest) -> dict[str, Any]:
    """As the payload of an event has it."""
    ends = {
        name: {
            "sha": end.sha,
            "ref": end.ref,
            "repo": {"full_name": getattr(end.repo, "full_name", "")},
        }
        for name, end in (("head", pull.head), ("base", pull.base))
    }
    return {"number": pull.number, **ends}


def _require_head(facts: Mapping[str, Any], state: str, sha: str) -> None:
    number, head = facts["number"], facts["head"]["sha"]
    if state != "open":
        raise UsageError(f"pull request #{number} is closed")
    if head != sha:
        raise UsageError(
            f"a commit was pushed to pull request #{number} after this run was asked for: its head "
            f"is {head[:12]}, and the run was to measure {sha[:12]}",
            remedy="look at the new commit, and write the command again",
        )


def _take_over(
    step: Step,
    repository: Repository,
    facts: Mapping[str, Any],
    run_id: str,
    before: Asked | None = None,
) -> Asked:
    """What an earlier run judged, and the results that it was made of, beside those of `before`."""
    before = before or Asked()
    head, key = facts["head"]["sha"], step.variable("ROUTING_LEG")
    change = Change(step.context.repository, facts["number"], head, key)
    folder = asked_folder(step)
    delta = take_over(repository, change, run_id, folder / f"report-{run_id}")
    known = (step.context.run_id, *before.runs)
    runs = bring_results(repository, delta, folder / RESULTS, known)
    return Asked(
        runs=(*before.runs, *runs),
        agents=tuple(dict.fromkeys((*before.agents, *delta.agents))),
        by_change=before.by_change if before.reports else bool(delta.left_out),
        reports=(*before.reports, run_id),
    )
