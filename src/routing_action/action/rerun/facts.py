"""The pull request that the inputs name in place of the event: a run by hand that is for it.

What GitHub says of it is found by `look_up`, and read here by the stages after it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from routing_action.action.step import Step
from routing_action.errors import GitHubError, UsageError
from routing_action.gate.compare_results import OtherRun

ASKED_FILE = "asked.json"
RESULTS = "results"


class Asked(BaseModel):
    """What GitHub said: the pull request as its own events hold it, and runs to take over.

    `agents` are those of the earlier report, `by_change` whether it left out pairs; `reports` are
    the runs whose gates had judged those results, and `number` that of the run that had reported
    last, if it is one of them: what completes it is newer, whichever run began first.
    `error` says why nothing is to be done; `notes` are for the report.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pull_request: dict[str, Any] | None = None
    agents: tuple[str, ...] = ()
    by_change: bool = False
    runs: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    number: int = 0
    notes: tuple[str, ...] = ()
    error: str = ""
    is_githubs: bool = False


def read_asked(step: Step) -> Asked:
    """What `fetch` found; nothing where it was not asked. Raises what it could not do."""
    try:
        text = (asked_folder(step) / ASKED_FILE).read_text("utf-8")
    except FileNotFoundError:
        text = ""
    if text:
        asked = Asked.model_validate_json(text)
        if asked.error:
            raise GitHubError(asked.error) if asked.is_githubs else UsageError(asked.error)
        return asked
    if step.inputs.text("pull-request"):
        raise UsageError(
            "the pull request was not looked up", remedy="only action.yml starts this command"
        )
    return Asked()


def of_pull_request(step: Step) -> Step:
    """The step as if the named pull request's own event had started it; else as it is."""
    asked = read_asked(step)
    number = max(step.context.run_number, asked.number)
    step = replace(step, context=replace(step.context, run_number=number))
    if asked.pull_request is None:
        return step
    head, base = asked.pull_request["head"], asked.pull_request["base"]
    context = replace(
        step.context,
        event_name="pull_request",
        event={**step.context.event, "pull_request": asked.pull_request},
        base_ref=base["ref"],
        sha=head["sha"],
    )
    return replace(step, context=context)


def other_runs(step: Step, asked: Asked) -> tuple[OtherRun, ...]:
    """The runs whose results are taken over."""
    return tuple(OtherRun(run, asked_folder(step) / RESULTS / run) for run in asked.runs)


def asked_folder(step: Step) -> Path:
    """Where what was found lies, for the command of this step."""
    stage = step.variable("ROUTING_STAGE")
    return Path(step.variable("RUNNER_TEMP")) / "routing-action" / f"asked-{stage}"
