"""`/routing rerun`: measures pairs again at the pull request's head, in a run of the workflow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from routing_action.bot.commands import Command, Scope
from routing_action.bot.last_report import LastReport
from routing_action.bot.work import Answer, Work, refuse, refuse_old
from routing_action.corpus.baseline import Pair
from routing_action.corpus.naming import fold
from routing_action.files.nearest import suggest
from routing_action.gate.model import Delta
from routing_action.gate.rules import DeltaKind
from routing_action.github.failures import asking
from routing_action.github.runs import dispatch_workflow, rerun_failed_jobs

_MOST_PAIRS = 500
_MOST_TEXT = 60_000
"""GitHub hands on inputs of at most 65,535 characters together."""
_LOST = (DeltaKind.MISSING, DeltaKind.UNMEASURED)


def rerun(work: Work) -> Answer:
    """Start the run that measures what was asked for; a fork's change only at a commit named."""
    refusal = _check_trust(work)
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


def _check_trust(work: Work) -> Answer | None:
    """A refusal where the commit that is trusted is not the head, or none is and one must be."""
    trust, head = work.command.trust, work.head
    if trust and trust != head:
        return refuse(f"--trust names {trust[:12]}, and the head is {head[:12]}")
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
    run_id = int(report.marker.run) if report.marker else 0
    with asking(f"read run {run_id}", "actions: read"):
        run = work.repository.get_workflow_run(run_id)
        url, state = run.html_url, run.status
    if state != "completed":
        return refuse("the run has not ended yet", "wait for it; `/routing status` shows it")
    if not rerun_failed_jobs(run):
        return refuse("GitHub did not start the failed jobs again", f"start them on {url}")
    return Answer("rerun_jobs", {"url": url, "head": work.head})


def _choose(delta: Delta, work: Work) -> Sequence[Pair] | Answer:
    """The pairs to measure; what is wrong with the names where one is not known."""
    command = work.command
    known = [(row.case_id, row.agent) for row in delta.rows if row.kind is not DeltaKind.REMOVED]
    known += [(one.case_id, one.agent) for one in delta.left_out]
    if refusal := find_unknown(command, known):
        return refuse(refusal)
    failed = {(row.case_id, row.agent) for row in delta.rows if row.gates}
    cases, agents = set(map(fold, command.case_ids)), set(map(fold, command.agents))
    chosen = [
        pair
        for pair in known
        if (command.scope is not Scope.FAILED or pair in failed)
        and (not cases or fold(pair[0]) in cases)
        and (not agents or fold(pair[1]) in agents)
    ]
    if not chosen:
        return refuse("there is nothing to measure again: no pair is red")
    if len(chosen) > _MOST_PAIRS:
        return refuse(
            f"{len(chosen)} pairs are more than one command can ask for ({_MOST_PAIRS})",
            "name agents or cases, or push a commit",
        )
    return chosen


def find_unknown(command: Command, known: Sequence[Pair]) -> str:
    """What is wrong with the first case or agent that the command names; "" where all are known."""
    case_ids, agents = (pair[0] for pair in known), (pair[1] for pair in known)
    refusal = _find_unknown(command.case_ids, case_ids, "case")
    return refusal or _find_unknown(command.agents, agents, "agent")


def _find_unknown(names: Iterable[str], known: Iterable[str], noun: str) -> str:
    spelled = dict.fromkeys(known)
    folded = {fold(one) for one in spelled}
    for name in names:
        if fold(name) not in folded:
            hint = suggest(name, spelled, "the report lists all that there are")
            return f"there is no {noun} {name}: {hint}"
    return ""


def _dispatch(work: Work, earlier_run: str = "", pairs: Sequence[Pair] = ()) -> Answer:
    """Measure these pairs and complete the earlier run by them; without pairs, measure all."""
    trials = work.command.trials
    named = ",".join(f"{agent}:{case_id}" for case_id, agent in pairs)
    if len(named) > _MOST_TEXT:
        cause = f"the names of {len(pairs)} pairs are more than GitHub hands on at once"
        return refuse(cause, "name agents or cases, or push a commit")
    inputs = {
        "pull_request": str(work.pull.number),
        "head_sha": work.head,
        **({"earlier_run": earlier_run} if earlier_run else {}),
        **({"pairs": named} if named else {}),
        **({"trials": str(trials)} if trials else {}),
    }
    ref = work.pull.base.repo.default_branch
    url = dispatch_workflow(work.repository, work.settings.workflow, ref, inputs)
    values = {"url": url, "pairs": len(pairs), "trials": trials, "head": work.head}
    return Answer("rerun", values)
