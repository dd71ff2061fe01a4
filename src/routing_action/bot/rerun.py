"""`/routing rerun`: measures pairs again at the pull request's head, in a run of the workflow."""

from __future__ import annotations

from collections.abc import Sequence

from routing_action.bot.commands import Scope
from routing_action.bot.last_report import LastReport
from routing_action.bot.pairs import choose_pairs
from routing_action.bot.work import Answer, Work, refuse, refuse_old
from routing_action.corpus.baseline import Pair
from routing_action.gate.model import Delta
from routing_action.gate.rules import DeltaKind
from routing_action.github.failures import asking
from routing_action.github.runs import (
    Start,
    find_started,
    name_run,
    rerun_failed_jobs,
    start_workflow,
)

_MOST_PAIRS = 500
_MOST_TEXT = 60_000
"""GitHub hands on inputs of at most 65,535 characters together."""
_LOST = (DeltaKind.MISSING, DeltaKind.UNMEASURED)


def rerun(work: Work) -> Answer:
    """Start the run that measures what was asked for; a fork's change only at a commit named."""
    refusal = _check_head(work)
    if refusal is not None:
        return refusal
    report = work.find_report()
    if work.is_fork and not _is_ours(work, report):
        return _dispatch(work)
    delta, command = report.delta, work.command
    if delta is None or report.marker is None:
        return refuse(report.problem, "push a commit, or start the workflow on its page")
    if report.marker.sha != work.head:
        return refuse_old(work, report.marker.sha)
    if command.scope is Scope.FAILED and not command.trials and _has_lost_legs(delta):
        return _rerun_jobs(work, report)
    pairs = _choose(delta, work)
    if isinstance(pairs, Answer):
        return pairs
    if delta.errors and command.scope is not Scope.ALL:
        return refuse(
            f"the report itself is in doubt, so no part of it can be completed: {delta.errors[0]}",
            "write `/routing rerun` for what broke, or `/routing rerun all`",
        )
    return _dispatch(work, "" if delta.errors else report.marker.run, pairs)


def _check_head(work: Work) -> Answer | None:
    """A refusal where the commit that is trusted is not the head, or none is and one must be."""
    trust, head = work.command.trust, work.head
    if work.tip != head:
        return refuse(
            f"a command of this comment has made the commit {work.tip[:12]}, which is the head now",
            "wait for its report, and write the command again",
        )
    if trust and trust != head:
        return refuse(f"`--trust` names {trust[:12]}, and the head is {head[:12]}")
    if work.is_fork and not trust:
        return refuse(
            "this change comes from a fork, and would run with the agents' keys",
            f"read all of it, then write `/routing rerun --trust {head}`",
        )
    return None


def _is_ours(work: Work, report: LastReport) -> bool:
    """False where a fork was only reported on by its own run: nothing of it was measured."""
    run = report.marker.run if report.marker and report.delta else ""
    if not run or report.marker is None or report.marker.sha != work.head:
        return False
    with asking(f"read run {run}", "actions: read"):
        return work.repository.get_workflow_run(int(run)).event == "workflow_dispatch"


def _has_lost_legs(delta: Delta) -> bool:
    return any(row.gates and row.kind in _LOST for row in delta.rows) or bool(delta.errors)


def _rerun_jobs(work: Work, report: LastReport) -> Answer:
    """Legs that broke begin again, in the run that they are of."""
    marker = report.marker
    run_id = int(marker.run) if marker else 0
    with asking(f"read run {run_id}", "actions: read"):
        run = work.repository.get_workflow_run(run_id)
        url, state, attempt = run.html_url, run.status, run.run_attempt
    begun = Answer("rerun_jobs", {"url": url, "head": work.head})
    if work.is_again and marker is not None and attempt > marker.attempt:
        return begun
    if state != "completed":
        return refuse("the run has not ended yet", "wait for it; `/routing status` shows it")
    if not rerun_failed_jobs(run):
        return refuse("GitHub did not start the failed jobs again", f"start them on {url}")
    return begun


def _choose(delta: Delta, work: Work) -> Sequence[Pair] | Answer:
    """The pairs to measure; what is wrong with the names where one is not known."""
    known = [(row.case_id, row.agent) for row in delta.rows if row.kind is not DeltaKind.REMOVED]
    known += [(one.case_id, one.agent) for one in delta.left_out]
    failed = {(row.case_id, row.agent) for row in delta.rows if row.gates}
    is_all = work.command.scope is not Scope.FAILED
    chosen, fault = choose_pairs(work.command, known, lambda pair: is_all or pair in failed)
    if fault:
        return refuse(fault)
    if not chosen:
        return refuse("there is nothing to measure again: no pair is red")
    if len(chosen) > _MOST_PAIRS:
        return refuse(
            f"{len(chosen)} pairs are more than one command can ask for ({_MOST_PAIRS})",
            "name agents or cases, or push a commit",
        )
    return chosen


def _dispatch(work: Work, earlier_run: str = "", pairs: Sequence[Pair] = ()) -> Answer:
    """Measure these pairs and complete the earlier run by them; without pairs, measure all."""
    trials = work.command.trials
    named = ",".join(f"{agent}:{case_id}" for case_id, agent in pairs)
    if len(named) > _MOST_TEXT:
        cause = f"the names of {len(pairs)} pairs are more than GitHub hands on at once"
        return refuse(cause, "name agents or cases, or push a commit")
    start = Start(
        work.settings.workflow,
        work.pull.base.repo.default_branch,
        {
            "command": work.mark,
            "pull_request": str(work.pull.number),
            "head_sha": work.head,
            **({"earlier_run": earlier_run} if earlier_run else {}),
            **({"pairs": named} if named else {}),
            **({"trials": str(trials)} if trials else {}),
        },
        name_run(work.mark, work.pull.number, work.head),
    )
    url = find_started(work.repository, start) if work.is_again else ""
    url = url or start_workflow(work.repository, start)
    values = {"url": url, "pairs": len(pairs), "trials": trials, "head": work.head}
    return Answer("rerun", values, has_started=True)
