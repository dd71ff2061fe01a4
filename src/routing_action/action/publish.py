"""The action's stages `fetch` and `adopt`, which take another run's report, and `publish`."""

from __future__ import annotations

from pathlib import Path

from routing_action.action.inputs import report_artifact
from routing_action.action.post import Publication, error_marker, marker_for, open_github, post
from routing_action.action.rerun.facts import of_pull_request
from routing_action.action.step import Step
from routing_action.errors import DocumentError, ExitCode, RoutingActionError, UsageError
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.deltas import DELTA_FILE, read_delta
from routing_action.gate.model import Delta
from routing_action.github.artifacts import fetch_artifact
from routing_action.github.comments import CommentMode
from routing_action.github.context import Context
from routing_action.github.people import name_authors
from routing_action.report.render_all import render_all, render_error

ERROR_FILE = "error.txt"
DRY_RUN = "dry-run"
UNVERIFIED = "reported by the fork's own run, not verified"
_MODES = tuple(mode.value for mode in CommentMode)


def publish_report(step: Step) -> ExitCode:
    """Post comment, check run and job summary; whatever fails here is a warning.

    A step whose whole task is to post ends with GITHUB where something could not be.
    """
    done = _publish(step)
    for warning in done.warnings:
        step.say("warning", warning)
    step.output(comment_url=done.comment_url, check_url=done.check_url)
    is_task = step.environ.get("ROUTING_STAGE") == "publish"
    return ExitCode.GITHUB if done.warnings and is_task else ExitCode.PASSED


def _publish(step: Step) -> Publication:
    """The delta's views; where there is no delta, why there is none.

    A run for a pull request whose head is another one by now posts nothing.
    """
    try:
        step = of_pull_request(step)
    except RoutingActionError as error:
        step.summarise(render_error(error.sentence, step.context.links("")).summary)
        return Publication("", "", ())
    report = Path(step.variable("ROUTING_REPORT_DIR"))
    links = step.context.links(step.inputs.text("key"), step.environ.get("ROUTING_REPORT_URL", ""))
    hint = None
    if (report / DELTA_FILE).is_file():
        delta = read_delta(report / DELTA_FILE)
        rendered, warnings = render_all(delta, links, step.templates)
        marker, hint = marker_for(delta, links), delta.pull_request
        for warning in warnings:
            step.say("warning", warning)
    else:
        message = _read_error(report)
        rendered, marker = render_error(message, links), error_marker(message, links)
    step.summarise(rendered.summary)
    dry_run = report / DRY_RUN if step.inputs.flag("dry-run") else None
    mode = CommentMode(step.inputs.choice("comment-mode", _MODES))
    try:
        authors = name_authors(step.inputs.text("app-slug"))
        repository = open_github(step.context, step.inputs.text("token"), dry_run)
    except RoutingActionError as error:
        return Publication("", "", (str(error),))
    return post(
        rendered,
        marker,
        repository=repository,
        context=step.context,
        links=links,
        mode=mode,
        authors=authors,
        hint=hint,
    )


def _read_error(report: Path) -> str:
    try:
        return (report / ERROR_FILE).read_text("utf-8", "replace")
    except OSError:
        return "the gate ended before it could say why; see the log of the run"


def fetch_report(step: Step) -> ExitCode:
    """Bring the newest report of our key from the run that a workflow_run event is about.

    Only an artifact of exactly the event's head is taken, whatever else that run has uploaded.
    """
    context = step.context
    run_id = context.value("workflow_run", "id")
    if not isinstance(run_id, int):
        raise UsageError(
            "the event names no other run", remedy="start `command: publish` by `on: workflow_run`"
        )
    fetch_artifact(
        open_github(context, step.inputs.text("token")),
        run_id,
        report_artifact(step.variable("ROUTING_LEG")),
        Path(step.variable("ROUTING_LEGS_DIR")),
        head_sha=context.head_sha,
    )
    return ExitCode.PASSED


def adopt(step: Step) -> ExitCode:
    """Take the report that another run uploaded: data, checked before anything is shown.

    Its verdict is not this job's: the run that measured has failed or passed by itself. Unless
    that run was of a branch of this repository, it is marked as not verified.
    """
    report = Path(step.variable("ROUTING_REPORT_DIR"))
    legs = Path(step.variable("ROUTING_LEGS_DIR"))
    found = sorted(legs.rglob(DELTA_FILE))
    if not found:
        raise DocumentError(
            f"holds no {DELTA_FILE}",
            file=str(legs),
            remedy="see whether the other run uploaded its report",
        )
    delta = mark_origin(read_delta(found[-1]), step.context)
    report.mkdir(parents=True, exist_ok=True)
    (report / DELTA_FILE).write_text(delta.model_dump_json(indent=2) + "\n", encoding="utf-8")
    step.output(status="passed", conclusion=delta.conclusion.value)
    return ExitCode.PASSED


def mark_origin(delta: Delta, context: Context) -> Delta:
    """The delta, marked and neutral at best unless its run was of a branch of this repository.

    A fork's run executes the fork's own workflow, which can write any report. Red stays red.
    """
    if context.is_of_own_run:
        return delta.model_copy(update={"unverified": ""})
    is_green = delta.conclusion is Conclusion.SUCCESS
    conclusion = Conclusion.NEUTRAL if is_green else delta.conclusion
    return delta.model_copy(update={"conclusion": conclusion, "unverified": UNVERIFIED})
