"""The action's stage `aggregate`: the gate over all legs, and its reports."""

from __future__ import annotations

import json
import os
import shutil
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from routing_action.action.base import pin_base, write_folder
from routing_action.action.custody import check_custody, list_results
from routing_action.action.history import history_folder
from routing_action.action.inputs import Inputs
from routing_action.action.legs import Jobs, judge_legs, parse_jobs, with_legs
from routing_action.action.post import open_github
from routing_action.action.publish import ERROR_FILE
from routing_action.action.rerun.facts import Asked, of_pull_request, other_runs, read_asked
from routing_action.action.run import earlier_results, find_file
from routing_action.action.step import TEMPLATES_AT_BASE, Step
from routing_action.agents.discovery import all_providers, find_agents
from routing_action.errors import ExitCode, HarnessError, RoutingActionError, UsageError
from routing_action.evidence.chance_sequence import (
    DEFAULT_DETECT,
    DEFAULT_FALSE_ALARM,
    Sequential,
)
from routing_action.files.atomic import write_atomically
from routing_action.gate.compare_results import Judged, Judgement, judge
from routing_action.gate.conclusion import Conclusion, Policy
from routing_action.gate.deltas import DELTA_FILE
from routing_action.gate.edits.find import path_in
from routing_action.gate.histories import FallbackHistory, GitHistory, History
from routing_action.gate.model import Delta
from routing_action.gate.rules import DeltaKind
from routing_action.git.command import resolve
from routing_action.github.context import Context
from routing_action.github.history import ApiHistory
from routing_action.report.render_all import HTML_FILE, JUNIT_FILE, write_reports
from routing_action.report.view import GateOutcome, find_outcome
from routing_action.results.find import has_results, read_unmeasured
from routing_action.results.past.history import History as PastRuns
from routing_action.results.past.history import read_history
from routing_action.results.past.trends import Trend, build_trends
from routing_action.results.rerun import run_program

_STATUS = {
    Conclusion.SUCCESS: "passed",
    Conclusion.FAILURE: "failed",
    Conclusion.NEUTRAL: "not-measured",
}


def aggregate(step: Step) -> ExitCode:
    """Judge what all legs left, write the reports, and give the gate as an exit code.

    Where nothing can be judged, the reason is left beside the reports, to be posted.
    """
    report = Path(step.variable("ROUTING_REPORT_DIR"))
    legs = Path(step.variable("ROUTING_LEGS_DIR"))
    if step.environ.get("ROUTING_DOWNLOAD") == "failure":
        step.say("warning", "the legs' artifacts could not be downloaded; see the step before")
    legs.mkdir(parents=True, exist_ok=True)  # none may have matched the pattern
    try:
        step = of_pull_request(step)
        history = _open_history(step)
        past = _read_past(step)
        delta = _judge_all(step, legs, history, past)
    except RoutingActionError as error:
        write_atomically(report / ERROR_FILE, f"{error}\n")
        raise
    delta = _keep_templates(step, delta, report, history)
    write_atomically(report / DELTA_FILE, delta.model_dump_json(indent=2) + "\n")
    _write_reports(step, delta, report, legs, build_trends(past.lines))
    _describe(step, delta, report)
    is_red = delta.conclusion is Conclusion.FAILURE
    return ExitCode.GATE_FAILED if is_red else ExitCode.PASSED


def _open_history(step: Step) -> History:
    """What git knows of the checkout, else what GitHub does."""
    context = step.context

    def open_remote() -> ApiHistory | None:
        """GitHub's own history, for a checkout without one; None without a token or a commit."""
        token = step.inputs.text("token")
        if not (token and context.repository and context.sha):
            return None
        head = resolve(step.root, "HEAD") or context.sha
        return ApiHistory(open_github(context, token), step.root, head)

    return FallbackHistory(GitHistory(step.root, os.environ), open_remote)


def _keep_templates(step: Step, delta: Delta, report: Path, history: History) -> Delta:
    """Keep the report's templates as they were at the base commit, for this stage and the next."""
    kept = report.with_name(report.name + TEMPLATES_AT_BASE)
    shutil.rmtree(kept, ignore_errors=True)  # whoever made it, we did not
    folder = path_in(step.root, Path(step.inputs.text("templates") or "."))
    if not folder or folder == "." or not delta.baseline.commit:
        return delta
    said = f"the report's templates are those of {delta.baseline.commit[:12]}"
    try:
        write_folder(history, delta.baseline.commit, folder, kept)
    except RoutingActionError as error:
        said = f"the report's templates are those of the change: {error.cause}"
    return delta.model_copy(update={"measured_with": (*delta.measured_with, said)})


def _find_start(step: Step, history: History) -> str:
    """Where the change begins, if another commit decides: what is edited must not depend on that.

    For a push it is the commit before it, of a new branch the default one.
    """
    context = step.context
    base = choose_base(context, "")[0]
    if base and (step.inputs.text("baseline-ref") or context.event_name == "push"):
        return history.find_merge_base(pin_base(context, step.root, base)).sha
    before = context.text("before") if context.event_name == "push" else ""
    branch = context.text("repository", "default_branch")
    return before if before.strip("0") or not branch else f"origin/{branch}"


def _judge_all(step: Step, legs: Path, history: History, past: PastRuns) -> Delta:
    """The comparison, and what the jobs of the workflow add to it."""
    jobs = parse_jobs(step.inputs.text("needs"))
    if jobs.errors:
        raise UsageError("; ".join(jobs.errors))
    asked = read_asked(step)
    policy = _read_policy(step, jobs, asked)
    judged = _judge(step, policy, legs, history, past)
    if judged.delta is None:
        raise HarnessError("the cases have no baseline")
    own = [batch for batch in judged.batches if not batch.run]
    measured = {batch.key for batch in own}
    faults, told = check_custody(own, jobs, step.context.run_attempt)
    reasons = (
        *faults,
        *judge_legs(jobs, measured, {*read_unmeasured((legs,)), *policy.excused}),
    )
    delta = with_legs(judged.delta, jobs, reasons)
    added = {
        "pull_request": step.context.pull_request,
        "notes": (*delta.notes, *told, *asked.notes),
        "results": list_results(judged.batches, step.context.run_id),
    }
    return delta.model_copy(update=added)


def _read_policy(step: Step, jobs: Jobs, asked: Asked) -> Policy:
    """What the workflow asks for and allows; nothing of it is from an artifact."""
    inputs, context = step.inputs, step.context
    known = find_agents(None, step.root, all_providers())
    nothing_to_run = jobs.nothing_to_run and not jobs.legs
    wanted = () if nothing_to_run else inputs.names("agents") or (*asked.agents, *jobs.agents)
    by_hand = context.event_name == "workflow_dispatch"
    return Policy(
        inputs.flag("fail-on-infra"),
        inputs.choice("unmeasured", ("fail", "neutral")) == "fail",
        providers=tuple(dict.fromkeys(known.find(name).name for name in wanted)),
        # Who starts a run by hand chooses; else agents are held to the baseline.
        all_agents=not by_hand,
        partial=by_hand,
        commit=resolve(step.root, "HEAD") or context.sha or None,
        by_change=jobs.by_change or asked.by_change,
        planned=jobs.planned,
        allow_infra=tuple(known.find(name).name for name in inputs.names("allow-infra")),
        sequential=(test := _read_test(inputs)),
        by_majority=test is None,
    )


def _read_test(inputs: Inputs) -> Sequential | None:
    """The test that the workflow asks for; what a leg says that it ran by decides nothing."""
    if inputs.text("confirm").lower() != "auto":
        return None
    return Sequential(
        inputs.share("detect", DEFAULT_DETECT), inputs.share("false-alarm", DEFAULT_FALSE_ALARM)
    )


def _judge(step: Step, policy: Policy, legs: Path, history: History, past: PastRuns) -> Judged:
    inputs, context = step.inputs, step.context
    merge_base_of, ref = choose_base(context, inputs.text("baseline-ref"))
    if merge_base_of:
        merge_base_of = pin_base(context, step.root, merge_base_of)
    asked = Judgement(
        folders=(legs,),
        cases=find_file(inputs, "cases", "cases.json"),
        baseline=find_file(inputs, "baseline", "provider-baseline.json"),
        merge_base_of=merge_base_of,
        baseline_ref=ref,
        policy=policy,
        allow_none=True,
        last_attempt=context.run_attempt,
        earlier=earlier_results(inputs),
        agents=find_agents(None, step.root, all_providers()).providers,
        templates=inputs.text("templates"),
        since=_find_start(step, history),
        other_runs=other_runs(step, read_asked(step)),
        past=past,
    )
    now = datetime.now(UTC)
    return judge(asked, step.root, history=history, now=now, program=run_program())


def choose_base(context: Context, baseline_ref: str) -> tuple[str | None, str | None]:
    """The ref whose merge base decides, or the ref that decides; neither is the checked-in file.

    `baseline_ref` always wins. A pull request is held to its merge base, and so is a push to
    another branch than the default one; a push to that one to the checked-in file, a merge group to
    the commit that it is based on, and anything else to the default branch
    (docs/explanation/gate.md, "Two baselines").
    """
    default = context.text("repository", "default_branch")
    if baseline_ref:
        return None, baseline_ref
    if context.event_name in ("pull_request", "pull_request_target"):
        return f"origin/{context.base_ref}", None
    if context.event_name == "push":
        pushed = context.text("ref").partition("refs/heads/")[2]
        return (f"origin/{default}" if default and pushed not in ("", default) else None), None
    if context.event_name == "merge_group":
        ref = context.text("merge_group", "base_sha")
    else:
        # A scheduled run has no default branch in its payload, and always is of it.
        scheduled = context.ref_name if context.event_name == "schedule" else ""
        branch = default or scheduled
        ref = f"origin/{branch}" if branch else ""
    if not ref:
        raise UsageError(
            f"the event {context.event_name or 'of this run'} names no commit to compare with",
            remedy="name the commit to compare with by the input baseline-ref",
        )
    return None, ref


def _read_past(step: Step) -> PastRuns:
    """What runs on the default branch measured; nothing where that is not asked for."""
    folder = history_folder(step)
    try:
        return read_history(folder) if folder else PastRuns()
    except OSError as error:
        step.say("warning", f"the history could not be read: {error}")
        return PastRuns()


def _write_reports(
    step: Step, delta: Delta, report: Path, legs: Path, trends: Sequence[Trend]
) -> None:
    """Every form of the report; a fault of theirs is a warning and never touches the verdict."""
    links = step.context.links(step.variable("ROUTING_LEG"))
    results = (legs,) if has_results((legs,)) else ()
    try:
        warnings = write_reports(
            delta, report, links, results=results, templates=step.templates, trends=trends
        )
    except Exception:
        step.quote(traceback.format_exc())
        warnings = ("a report could not be written; the verdict is not affected",)
    for warning in warnings:
        step.say("warning", warning)
    for name, file in (("html", HTML_FILE), ("junit", JUNIT_FILE)):
        if (report / file).is_file():
            step.output(**{name: str(report / file)})


def _describe(step: Step, delta: Delta, report: Path) -> None:
    is_neutral = delta.conclusion is Conclusion.NEUTRAL
    is_partial = is_neutral and find_outcome(delta) is not GateOutcome.NOT_MEASURED
    step.output(
        status="partial" if is_partial else _STATUS[delta.conclusion],
        conclusion=delta.conclusion.value,
        counts=json.dumps({kind.value: number for kind, number in delta.counts.items()}),
        regressions=str(delta.counts.get(DeltaKind.REGRESSION, 0)),
        delta=str(report / DELTA_FILE),
    )
    if is_neutral:
        step.say("notice", f"routing gate: {'; '.join(delta.reasons)}")
