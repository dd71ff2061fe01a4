"""The stages of the composite action, in the order of action.yml, and what an error comes to."""

from __future__ import annotations

import importlib
import shutil
import traceback
from collections.abc import Callable
from pathlib import Path

from routing_action.action.inputs import (
    COMMANDS,
    comment_key,
    leg_key,
    report_artifact,
    results_artifact,
)
from routing_action.action.step import RunCommand, Step, read_step
from routing_action.errors import ExitCode, RoutingActionError, UsageError

STAGES = ("prepare", "fetch", "answer", "main", "handover", "publish", "conclude")


def run_stage(name: str, run_command: RunCommand) -> int:
    """The exit code of a stage.

    `main` always gives 0: the exit code that it comes to is an output, so that a report comes
    first. In an aggregation no fault of `publish` changes the gate.
    """
    step = read_step(run_command)
    code = _guarded(name, step)
    if name == "main":
        step.output(exit_code=str(code))
        return 0
    if code and name == "publish" and step.environ.get("ROUTING_STAGE") == "aggregate":
        step.say("warning", "the report could not be posted; the verdict is not affected")
        return 0
    return code


def _guarded(name: str, step: Step) -> int:
    """The exit code of the work; an error becomes the output `error`, and an annotation."""
    try:
        return int(_find_work(name, step)(step))
    except RoutingActionError as error:
        cause, code = error.sentence, error.exit_code
    except Exception:
        step.quote(traceback.format_exc())
        cause, code = "this is a bug in routing-action; please report it with the log", ExitCode.BUG
    step.fail(cause)
    if name != "main":  # its cause is said by the step that ends the job
        step.say("error", cause)
    return int(code)


def _find_work(name: str, step: Step) -> Callable[[Step], ExitCode]:
    """Only the module that is asked for is imported."""
    if name == "prepare":
        return _prepare
    command = step.environ.get("ROUTING_STAGE", "")
    if name == "fetch" and command != "publish":
        return _fetch
    if name in ("main", "fetch"):
        step.variable("ROUTING_STAGE")
    module, function = (_WORK.get((name, command)) or _WORK[name, ""]).split(".")
    work: Callable[[Step], ExitCode] = getattr(
        importlib.import_module(f"routing_action.action.{module}"), function
    )
    return work


_WORK = {
    ("fetch", "publish"): "publish.fetch_report",
    ("answer", ""): "answer.answer",
    ("main", "plan"): "run.plan_legs",
    ("main", "run"): "run.run_leg",
    ("main", "aggregate"): "aggregate.aggregate",
    ("main", "publish"): "publish.adopt",
    ("main", "history"): "history.collect_lines",
    ("handover", ""): "handover.hand_over_killed",
    ("publish", ""): "publish.publish_report",
    ("publish", "history"): "history.push_lines",
    ("conclude", ""): "conclude.conclude",
}
"""The function of each stage, by the command where that matters."""


def _fetch(step: Step) -> ExitCode:
    """Bring what the stage `main` needs from GitHub: the history, and what a rerun is for."""
    from routing_action.action.history import fetch_history  # noqa: PLC0415
    from routing_action.action.rerun.look_up import fetch_asked  # noqa: PLC0415

    fetch_history(step)
    is_for_rerun = step.variable("ROUTING_STAGE") in ("aggregate", "plan")
    return fetch_asked(step) if is_for_rerun else ExitCode.PASSED


def _prepare(step: Step) -> ExitCode:
    """Check what the names depend on, and set the outputs that the other steps need.

    GitHub knows no attempt of an artifact, so its name has it.
    """
    name = step.inputs.choice("command", COMMANDS)
    attempt = step.context.run_attempt
    work = Path(step.variable("RUNNER_TEMP")) / "routing-action"
    if name == "run":
        _forbid_target(step)
        key = leg_key(step.inputs)
        folder = _results_root(step, work) / results_artifact(key, attempt)
        _require_new(folder, "the input matrix-key")
        step.output(key=key, artifact_name=folder.name, folder=str(folder))
    elif name in ("aggregate", "publish"):
        key = comment_key(step.inputs)
        report = work / f"report-{name}-{key}"
        _require_new(report, "the input key")
        step.output(
            key=key,
            artifact_name=f"{report_artifact(key)}-a{attempt}",
            report_dir=str(report),
            legs_dir=str(work / f"legs-{name}-{key}"),
        )
    elif name == "history":
        step.output(legs_dir=str(work / "legs-history"))
    step.output(command=name)
    return ExitCode.PASSED


def _forbid_target(step: Step) -> None:
    if step.context.event_name == "pull_request_target":
        raise UsageError(
            "agents are not run on pull_request_target: a stranger's change could read secrets",
            remedy="run on pull_request, and let a maintainer start forks by workflow_dispatch",
        )


def _results_root(step: Step, work: Path) -> Path:
    """Where legs go: below the input's folder apart by run, for runners that keep their folders."""
    root = step.inputs.text("artifacts-root")
    if not root:
        return work / "results"
    return step.root / root / f"run-{step.context.run_id or 'local'}"


def _require_new(folder: Path, what: str) -> None:
    """An error for a name that an earlier step of this job has used: their artifacts would mix."""
    if not folder.exists():
        return
    if not any(folder.iterdir()):
        shutil.rmtree(folder)
        return
    raise UsageError(
        f"{folder} is already there: two steps of this job have the same name",
        remedy=f"give each of them another value of {what}",
    )
