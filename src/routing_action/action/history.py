"""The history in a workflow: brought for the other stages, and appended to by `command: history`.

What a leg uploaded becomes lines in a step without the token; the step that has it appends the
lines to the branch, and touches nothing else.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from routing_action.action.custody import check_custody
from routing_action.action.legs import parse_jobs
from routing_action.action.step import Step
from routing_action.errors import ExitCode, RoutingActionError
from routing_action.git.data_branch import (
    DATA_BRANCH,
    DeniedError,
    Files,
    append,
    open_data_branch,
    with_token,
)
from routing_action.report.html.site import render_files
from routing_action.results.find import find_result_files, has_results
from routing_action.results.measured import MeasuredBatch, gather
from routing_action.results.past.history import HistoryLine, parse_history, read_history
from routing_action.results.past.history_lines import add_lines, append_to_folder, build_lines
from routing_action.results.read import read_batches, read_results

AUTO = "auto"
_CHOICES = ("off", AUTO)
_EVENTS = ("push", "schedule", "workflow_dispatch")
_NEW = "history-lines"


def history_folder(step: Step) -> Path | None:
    """What was brought of the history; None where it is not asked for, or there is none."""
    if step.inputs.choice("history", _CHOICES) != AUTO:
        return None
    folder = _folder(step)
    return folder if folder.is_dir() else None


def _folder(step: Step) -> Path:
    return Path(step.variable("RUNNER_TEMP")) / "routing-action" / "history"


def fetch_history(step: Step) -> None:
    """Bring the history where the input asks for it; what fails is a warning."""
    folder = _folder(step)
    shutil.rmtree(folder, ignore_errors=True)
    if step.inputs.choice("history", _CHOICES) != AUTO:
        return
    try:
        with tempfile.TemporaryDirectory() as place:
            environ = _environment(step)
            branch = open_data_branch(step.root, Path(place), environ)
            if branch is None or not branch.fetch():
                step.quote(f"no history yet: origin has no branch {DATA_BRANCH}\n")
                return
            folder.mkdir(parents=True)
            for name, data in branch.read().items():
                (folder / name).write_bytes(data)
    except (RoutingActionError, OSError) as error:
        cause = error.sentence if isinstance(error, RoutingActionError) else error
        step.say("warning", f"the history could not be read, so nothing is said of it: {cause}")


def _environment(step: Step) -> dict[str, str]:
    """The environment of git, with the step's token for the server alone."""
    return with_token(os.environ, step.context.server_url, step.inputs.text("token"))


def collect_lines(step: Step) -> ExitCode:
    """Make the lines of what this run measured, for the step that may push them.

    Nothing is appended that is of another commit than this run's, or that cannot be trusted.
    """
    legs, target = Path(step.variable("ROUTING_LEGS_DIR")), _new_lines(step)
    shutil.rmtree(target, ignore_errors=True)
    if reason := _find_reason(step):
        return _leave(step, "notice", reason)
    if not (legs.is_dir() and has_results((legs,))):
        return _leave(step, "notice", "no leg has measured anything")
    jobs = parse_jobs(step.inputs.text("needs"))
    batches = gather(read_batches([legs])).latest
    faults, _ = check_custody(batches, jobs, step.context.run_attempt)
    if faults:
        return _leave(step, "warning", "; ".join(faults))
    lines = list(_build(step, batches))
    append_to_folder(target, lines)
    step.quote(f"{len(lines)} pairs to append\n")
    step.output(status="passed")
    return ExitCode.PASSED


def _build(step: Step, batches: tuple[MeasuredBatch, ...]) -> Iterator[HistoryLine]:
    context = step.context
    run = f"{context.server_url}/{context.repository}/actions/runs/{context.run_id}"
    for batch in batches:
        if batch.options.replay is not None:
            step.say("notice", f"{batch.key}: a replay measures nothing, so it is not kept")
        elif batch.options.commit != context.sha:
            step.say("warning", f"{batch.key}: its results are not of the commit of this run")
        else:
            for file in find_result_files([Path(batch.file)]):
                yield from build_lines(read_results(file), run)


def _leave(step: Step, level: str, reason: str) -> ExitCode:
    step.say(level, f"nothing is appended to the history: {reason}")
    step.output(status="nothing-to-run")
    return ExitCode.PASSED


def _find_reason(step: Step) -> str:
    """Why this run is none of the default branch; "" where it is."""
    context = step.context
    if context.event_name not in _EVENTS:
        return f"a run by {context.event_name or 'hand'} does not measure the default branch"
    if step.inputs.text("pull-request"):
        return "this run is for a pull request"
    default = context.text("repository", "default_branch")
    if default and context.ref_name != default:
        return f"{context.ref_name} is not the default branch, {default}"
    return ""


def _new_lines(step: Step) -> Path:
    return Path(step.variable("RUNNER_TEMP")) / "routing-action" / _NEW


def push_lines(step: Step) -> ExitCode:
    """Append the lines to the branch, with dashboard and badge; what fails is a warning."""
    new = read_history(_new_lines(step)).lines
    if not new:
        return ExitCode.PASSED
    try:
        done = _push(step, new)
    except DeniedError as error:
        step.say(
            "warning",
            f"the history is not kept: {error.cause}; the job needs `contents: write`, and no rule "
            f"of the repository may forbid pushes to {DATA_BRANCH}",
        )
    except RoutingActionError as error:
        step.say("warning", f"the history is not kept: {error.sentence}")
    else:
        step.quote(f"{DATA_BRANCH}: {f'{len(new)} lines' if done else 'nothing new'}\n")
    return ExitCode.PASSED


def _push(step: Step, new: tuple[HistoryLine, ...]) -> bool:
    def update(files: Files) -> Files:
        changed = add_lines(files, new)
        if not changed:
            return {}
        history = parse_history({**files, **changed})
        return {**changed, **render_files(history, step.context.repository)}

    with tempfile.TemporaryDirectory() as place:
        branch = open_data_branch(step.root, Path(place), _environment(step))
        if branch is None:
            step.say("warning", "the history is not kept: the checkout has no remote")
            return False
        message = f"Measure {step.context.sha[:12]}"
        return append(branch, update, message, lambda: datetime.now(UTC))
