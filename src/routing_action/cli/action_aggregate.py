"""The action's stage `aggregate`: the gate over all legs, and its reports."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from routing_action.action.base import choose_base
from routing_action.action.legs import Jobs, judge_legs, parse_jobs
from routing_action.action.verdict import with_legs
from routing_action.cli.action_publish import DELTA_FILE, ERROR_FILE
from routing_action.cli.action_step import Step
from routing_action.cli.options import find_provider, run_program
from routing_action.cli.publish import open_door
from routing_action.errors import ExitCode, HarnessError, RoutingActionError
from routing_action.gate.comparison import DeltaKind
from routing_action.gate.histories import ApiHistory, FallbackHistory, GitHistory
from routing_action.gate.judge import Judged, Judgement, judge
from routing_action.gate.model import Delta
from routing_action.gate.verdict import Conclusion, Policy
from routing_action.git.command import find_head
from routing_action.github.client import Client
from routing_action.report.render_all import HTML_FILE, JUNIT_FILE, write_reports
from routing_action.results.batch_folder import write_atomically
from routing_action.results.unmeasured import has_results, read_unmeasured

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
    try:
        return _aggregate(step, report)
    except RoutingActionError as error:
        write_atomically(report / ERROR_FILE, f"{error}\n")
        raise


def _aggregate(step: Step, report: Path) -> ExitCode:
    legs = _legs_folder(step)
    jobs = parse_jobs(step.inputs.text("needs"))
    judged = _judge(step, jobs, legs)
    if judged.delta is None:
        raise HarnessError("the cases have no baseline")
    reasons = judge_legs(jobs, _keys(judged), read_unmeasured((legs,)))
    delta = with_legs(judged.delta, jobs, reasons)
    delta = delta.model_copy(update={"pull_request": step.context.pull_request})
    write_atomically(report / DELTA_FILE, delta.model_dump_json(indent=2) + "\n")
    _write_reports(step, delta, report, legs)
    _describe(step, delta, report)
    return _code(delta)


def _write_reports(step: Step, delta: Delta, report: Path, legs: Path) -> None:
    """Every form of the report; a fault of theirs is a warning and never touches the verdict."""
    place = step.context.place(step.variable("ROUTING_LEG"))
    named = step.inputs.text("templates")
    templates = step.root / named if named else None
    results = (legs,) if has_results((legs,)) else ()
    try:
        warnings = write_reports(delta, report, place, results=results, templates=templates)
    except Exception:
        step.quote(traceback.format_exc())
        warnings = ("a report could not be written; the verdict is not concerned",)
    for warning in warnings:
        step.say("warning", warning)
    for name, file in (("html", HTML_FILE), ("junit", JUNIT_FILE)):
        if (report / file).is_file():
            step.output(**{name: str(report / file)})


def _legs_folder(step: Step) -> Path:
    """Where the legs' artifacts were put; made where none matched the pattern."""
    folder = Path(step.variable("ROUTING_LEGS_DIR"))
    if step.environ.get("ROUTING_DOWNLOAD") == "failure":
        step.say("warning", "the legs' artifacts could not be downloaded; see the step before")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _judge(step: Step, jobs: Jobs, legs: Path) -> Judged:
    inputs = step.inputs
    base = choose_base(step.context, inputs.text("baseline-ref"))
    unmeasured = inputs.choice("unmeasured", ("fail", "neutral"))
    asked = Judgement(
        folders=(legs,),
        cases=_file(inputs.text("cases"), inputs.text("replay"), "cases.json"),
        baseline=_file(inputs.text("baseline"), inputs.text("replay"), "provider-baseline.json"),
        merge_base_of=base.merge_base_of,
        baseline_ref=base.ref,
        providers=_providers(inputs.names("agents"), jobs),
        policy=Policy(inputs.flag("fail-on-infra"), unmeasured == "fail"),
        commit=find_head(step.root) or step.context.sha or None,
        allow_none=True,
        # Who starts a run by hand chooses; a workflow's own list of agents is held to the baseline.
        partial=step.context.event_name == "workflow_dispatch",
    )
    git = GitHistory(step.root, os.environ)
    return judge(
        asked,
        step.root,
        history=FallbackHistory(git, lambda: _remote_history(step)),
        now=datetime.now(UTC),
        program=run_program(),
    )


def _remote_history(step: Step) -> ApiHistory | None:
    """GitHub's own, for a checkout without history; None without a token or a commit."""
    context, token = step.context, step.inputs.text("token")
    if not (token and context.repository and context.sha):
        return None
    client = Client(open_door(context, token, None))
    head = find_head(step.root) or context.sha
    return ApiHistory(client, context.repository, step.root, head)


def _providers(named: Sequence[str], jobs: Jobs) -> tuple[str, ...]:
    """The agents that must have results; none of them where the plan had nothing to run."""
    if jobs.nothing_to_run and not jobs.legs:
        return ()
    return tuple(find_provider(name).name for name in (named or jobs.agents))


def _file(named: str, replay: str, own: str) -> Path | None:
    """The file of an input, else a replay set's own; None leaves it to the comparison."""
    if named:
        return Path(named)
    kept = Path(replay) / own if replay else None
    return kept if kept is not None and kept.is_file() else None


def _keys(judged: Judged) -> set[str]:
    return {named.key for named in judged.batches}


def _describe(step: Step, delta: Delta, report: Path) -> None:
    step.output(
        status=_STATUS[delta.conclusion],
        conclusion=delta.conclusion.value,
        counts=json.dumps({kind.value: number for kind, number in delta.counts.items()}),
        regressions=str(delta.counts.get(DeltaKind.REGRESSION, 0)),
        delta=str(report / DELTA_FILE),
    )
    if delta.conclusion is not Conclusion.SUCCESS:
        level = "error" if delta.conclusion is Conclusion.FAILURE else "notice"
        step.say(level, f"routing gate: {'; '.join(delta.reasons)}")


def _code(delta: Delta) -> ExitCode:
    failed = delta.conclusion is Conclusion.FAILURE
    return ExitCode.GATE_FAILED if failed else ExitCode.PASSED
