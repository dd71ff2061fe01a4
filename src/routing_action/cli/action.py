"""`routing-action action STAGE`: the stages of the composite action, which action.yml starts."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable
from pathlib import Path

import click

from routing_action.action.inputs import (
    COMMANDS,
    comment_key,
    leg_key,
    report_artifact,
    results_artifact,
)
from routing_action.cli.action_step import Step, read_step
from routing_action.errors import ExitCode, RoutingActionError, UsageError


@click.group("action", hidden=True)
def command() -> None:
    """The stages of the composite action; see action.yml."""


@command.command("prepare")
def prepare() -> int:
    """Check what the names depend on, and set the outputs that the other steps need."""
    return _guarded(_prepare)


@command.command("fetch")
def fetch() -> int:
    """Bring the report of the run that a workflow_run event is about."""
    return _guarded(_fetch)


@command.command("main")
def main() -> int:
    """Do the work; the exit code that it comes to is an output, so that a report comes first."""
    step = read_step()
    code = _guarded(_stage, step)
    step.output(exit_code=str(code))
    return 0


@command.command("publish")
def publish() -> int:
    """Post comment, check run and summary; in an aggregation no fault of this changes the gate."""
    step = read_step()
    code = _guarded(_publish, step)
    if code and step.environ.get("ROUTING_STAGE") == "aggregate":
        step.say("warning", "the report could not be posted; the verdict is not concerned")
        return 0
    return code


def _guarded(work: Callable[[Step], ExitCode], step: Step | None = None) -> int:
    """The exit code of a stage; an error becomes an annotation, with status `error`."""
    step = step or read_step()
    try:
        return int(work(step))
    except RoutingActionError as error:
        step.complain(error)
        step.output(status="error")
        return int(error.exit_code)
    except Exception:
        step.quote(traceback.format_exc())
        step.say("error", "this is a bug in routing-action; please report it with the log")
        step.output(status="error")
        return int(ExitCode.BUG)


def _stage(step: Step) -> ExitCode:
    name = step.variable("ROUTING_STAGE")
    # Only the stage that is asked for is imported.
    if name in ("plan", "run"):
        from routing_action.cli.action_run import plan_legs, run_leg  # noqa: PLC0415

        return plan_legs(step) if name == "plan" else run_leg(step)
    if name == "publish":
        from routing_action.cli.action_publish import adopt  # noqa: PLC0415

        return adopt(step)
    from routing_action.cli.action_aggregate import aggregate  # noqa: PLC0415

    return aggregate(step)


def _fetch(step: Step) -> ExitCode:
    from routing_action.cli.action_publish import fetch_report  # noqa: PLC0415

    return fetch_report(step)


def _publish(step: Step) -> ExitCode:
    from routing_action.cli.action_publish import publish_report  # noqa: PLC0415

    return publish_report(step)


# --- prepare ----------------------------------------------------------------------------------


def _prepare(step: Step) -> ExitCode:
    name = step.inputs.choice("command", ("run", *COMMANDS))
    attempt = step.context.run_attempt
    work = Path(step.variable("RUNNER_TEMP")) / "routing-action"
    if name == "run":
        _refuse_target(step)
        key = leg_key(step.inputs)
        folder = _results_root(step, work) / results_artifact(key, attempt)
        _require_new(folder, "the input matrix-key")
        step.output(key=key, artifact_name=folder.name, folder=str(folder))
    elif name != "plan":
        key = comment_key(step.inputs)
        report = work / f"report-{name}-{key}"
        _require_new(report, "the input key")
        step.output(
            key=key,
            artifact_name=report_artifact(key, attempt),
            report_dir=str(report),
            legs_dir=str(work / f"legs-{name}-{key}"),
        )
    step.output(command=name)
    return ExitCode.PASSED


def _refuse_target(step: Step) -> None:
    if step.context.event_name == "pull_request_target":
        raise UsageError(
            "agents are not run on pull_request_target, where a change by a stranger meets secrets",
            remedy="run on pull_request, and let a maintainer start forks by workflow_dispatch",
        )


def _results_root(step: Step, work: Path) -> Path:
    """Where legs go: below the input's folder apart by run, for runners that keep their folders."""
    root = step.inputs.text("artifacts-root")
    if not root:
        return work / "results"
    return step.root / root / f"run-{step.context.run_id or 'local'}"


def _require_new(folder: Path, what: str) -> None:
    """Refuse a name that an earlier step of this job has used: its artifact could not be told."""
    if not folder.exists():
        return
    if not any(folder.iterdir()):
        shutil.rmtree(folder)
        return
    raise UsageError(
        f"{folder} is already there: two steps of this job have the same name",
        remedy=f"give each of them another value of {what}",
    )
