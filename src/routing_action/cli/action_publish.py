"""The action's stages `publish`, which posts a report, and `adopt`, which takes another run's."""

from __future__ import annotations

from pathlib import Path

from routing_action.action.post import Publication, error_marker, marker_for, publish
from routing_action.cli.action_step import Step
from routing_action.cli.publish import open_door
from routing_action.errors import DocumentError, ExitCode, RoutingActionError, UsageError
from routing_action.gate.deltas import read_delta
from routing_action.github.artifacts import REPORT, fetch_artifacts, list_artifacts
from routing_action.github.client import Client
from routing_action.github.comments import CommentMode, Marker
from routing_action.github.context import Context
from routing_action.github.publication import RunLinks
from routing_action.report.render_all import Rendered, render_all, render_error

DELTA_FILE = "delta.json"
ERROR_FILE = "error.txt"
DRY_RUN = "dry-run"
_MODES = tuple(mode.value for mode in CommentMode)


def publish_report(step: Step) -> ExitCode:
    """Post comment, check run and job summary; whatever fails here is a warning.

    A step whose whole task is to post ends with GITHUB where something could not be.
    """
    report = Path(step.variable("ROUTING_REPORT_DIR"))
    place = step.context.place(step.inputs.text("key"), step.environ.get("ROUTING_REPORT_URL", ""))
    rendered, marker, hint = _render(step, report, place)
    step.summarise(rendered.summary)
    done = _post(step, report, place, rendered, marker, hint)
    for warning in done.warnings:
        step.say("warning", warning)
    step.output(comment_url=done.comment_url, check_url=done.check_url)
    is_task = step.environ.get("ROUTING_STAGE") == "publish"
    return ExitCode.GITHUB if done.warnings and is_task else ExitCode.PASSED


def _render(step: Step, report: Path, place: RunLinks) -> tuple[Rendered, Marker, int | None]:
    """The delta's views; where there is no delta, why there is none. Last, its pull request."""
    delta_file = report / DELTA_FILE
    if not delta_file.is_file():
        message = _read_error(report)
        return render_error(message, place), error_marker(message, place), None
    delta = read_delta(delta_file)
    named = step.inputs.text("templates")
    rendered, warnings = render_all(delta, place, step.root / named if named else None)
    for warning in warnings:
        step.say("warning", warning)
    return rendered, marker_for(delta, place), delta.pull_request


def _read_error(report: Path) -> str:
    try:
        return (report / ERROR_FILE).read_text("utf-8", "replace")
    except OSError:
        return "the gate ended before it could say why; see the log of the run"


def _post(
    step: Step,
    report: Path,
    place: RunLinks,
    rendered: Rendered,
    marker: Marker,
    hint: int | None,
) -> Publication:
    is_dry = step.inputs.flag("dry-run")
    mode = CommentMode(step.inputs.choice("comment-mode", _MODES))
    try:
        door = open_door(
            step.context, step.inputs.text("token"), report / DRY_RUN if is_dry else None
        )
    except RoutingActionError as error:
        return Publication("", "", (str(error),))
    return publish(
        rendered,
        marker,
        client=Client(door),
        context=step.context,
        place=place,
        mode=mode,
        hint=hint,
    )


def fetch_report(step: Step) -> ExitCode:
    """Bring the newest report of our key from the run that a workflow_run event is about.

    Only artifacts of exactly the event's head are taken, whatever else that run has uploaded.
    """
    # aiohttp is imported only where something is downloaded.
    from routing_action.github.downloads import ArtifactDownloads  # noqa: PLC0415

    context = step.context
    run_id = _other_run(context)
    downloads = ArtifactDownloads(context.api_url, step.inputs.text("token"))
    listed = list_artifacts(
        Client(downloads), context.repository, run_id, prefix=REPORT, head_sha=context.head_sha
    )
    ours = [one for one in listed if one.key == step.variable("ROUTING_LEG")]
    if not ours:
        raise DocumentError(
            f"uploaded no report called {REPORT}-{step.variable('ROUTING_LEG')}-a...",
            file=f"run {run_id}",
            remedy="see whether its aggregation ran, and has the same `key`",
        )
    legs = Path(step.variable("ROUTING_LEGS_DIR"))
    fetch_artifacts(downloads, context.repository, ours, legs)
    return ExitCode.PASSED


def _other_run(context: Context) -> str:
    run = context.event.get("workflow_run")
    number = run.get("id") if isinstance(run, dict) else None
    if not isinstance(number, int):
        raise UsageError(
            "the event names no other run", remedy="start `command: publish` by `on: workflow_run`"
        )
    return str(number)


def adopt(step: Step) -> ExitCode:
    """Take the newest report that another run uploaded: data, checked before anything is shown.

    Its verdict is not this job's: the run that measured has failed or passed by itself.
    """
    report = Path(step.variable("ROUTING_REPORT_DIR"))
    legs = Path(step.variable("ROUTING_LEGS_DIR"))
    found = sorted(legs.rglob(DELTA_FILE), key=_attempt)
    if not found:
        raise DocumentError(
            f"holds no {DELTA_FILE}",
            file=str(legs),
            remedy="see whether the other run uploaded its report",
        )
    delta = read_delta(found[-1])
    report.mkdir(parents=True, exist_ok=True)
    (report / DELTA_FILE).write_text(delta.model_dump_json(indent=2) + "\n", encoding="utf-8")
    step.output(status="passed", conclusion=delta.conclusion.value)
    return ExitCode.PASSED


def _attempt(path: Path) -> int:
    tail = path.parent.name.rpartition("-a")[2]
    return int(tail) if tail.isdecimal() and len(tail) < 7 else 0
