"""The action's stages `run` (one leg of a matrix) and `plan` (the matrix itself)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from routing_action.action.arguments import find_durations, plan_arguments, run_arguments
from routing_action.action.credentials import missing_credentials, write_markers
from routing_action.action.legs import NOTHING_TO_RUN
from routing_action.agents.discovery import DEFAULT_AGENTS
from routing_action.cli.action_step import Step
from routing_action.cli.options import find_provider
from routing_action.errors import ExitCode, HarnessError
from routing_action.report.escape import code_block, code_span
from routing_action.results.batch_folder import RESULTS_FILE
from routing_action.results.model import Results
from routing_action.results.read import read_results

_SUMMARY_CHARACTERS = 200_000


def run_leg(step: Step) -> ExitCode:
    """Measure what can be measured; the exit code that the step is to end with.

    A failed run is data, which the aggregation judges: 0. So is a leg with nothing to run, and
    one that cannot measure: both leave a marker for each agent, and say so.
    """
    names = step.inputs.names("agents") or DEFAULT_AGENTS
    providers = [find_provider(name) for name in names]
    folder = Path(step.variable("ROUTING_FOLDER"))
    missing: Mapping[str, str] = {}
    if not step.inputs.text("replay"):
        missing = missing_credentials(providers, step.environ, from_fork=step.context.from_fork)
    agents = [one.name for one in providers if one.name not in missing]
    _leave_markers(step, folder, missing)
    if not agents:
        step.output(status="not-measured")
        return ExitCode.PASSED
    return _measure(step, agents, folder)


def _leave_markers(step: Step, folder: Path, reasons: Mapping[str, str]) -> None:
    write_markers(folder, reasons)
    for agent, reason in reasons.items():
        step.say("warning", f"{agent} was not measured: {reason}")
        step.summarise(f"**{code_span(agent)} was not measured:** {code_span(reason)}\n")


def _measure(step: Step, agents: Sequence[str], folder: Path) -> ExitCode:
    pointer = folder.parent / f"{folder.name}.batch"
    arguments = run_arguments(
        step.inputs,
        agents,
        key=step.variable("ROUTING_LEG"),
        attempt=step.context.run_attempt,
        folder=folder,
        batch_file=pointer,
    )
    code, text = step.call(arguments)
    if code == ExitCode.NOTHING_TO_RUN:
        _leave_markers(step, folder, dict.fromkeys(agents, "the filters left no case to run"))
        step.output(status=NOTHING_TO_RUN)
        return ExitCode.PASSED
    if text:
        step.summarise(_summary(step, text))
    if pointer.is_file():
        _describe(step, Path(pointer.read_text("utf-8").strip()))
    if code > ExitCode.GATE_FAILED:
        step.output(status="error")
        step.say("error", f"routing-action run ended with exit code {code}; see the log")
        return ExitCode(code)
    step.output(status="failed" if code else "passed")
    return ExitCode.PASSED


def _summary(step: Step, text: str) -> str:
    key = code_span(step.variable("ROUTING_LEG"))
    body = code_block(text, limit=_SUMMARY_CHARACTERS)
    return f"### {key}, attempt {step.context.run_attempt}\n\n{body}\n"


def _describe(step: Step, batch: Path) -> None:
    results: Results = read_results(batch / RESULTS_FILE)
    step.output(
        batch_run_id=results.batch_run_id,
        artifact_dir=str(batch),
        counts=results.summary.model_dump_json(by_alias=True),
    )


def plan_legs(step: Step) -> ExitCode:
    """Write the matrix; an empty one, with the status that says so, where no case is left."""
    code, text = step.call(plan_arguments(step.inputs, find_durations(step.inputs)))
    if code == ExitCode.NOTHING_TO_RUN:
        step.output(status=NOTHING_TO_RUN, matrix='{"include":[]}')
        step.say("notice", "the plan has nothing to run")
        step.summarise("The plan has nothing to run.\n")
        return ExitCode.PASSED
    if code != ExitCode.PASSED:
        step.output(status="error")
        step.say("error", f"routing-action plan ended with exit code {code}; see the log")
        return ExitCode(code)
    matrix = _matrix(text)
    step.output(status="passed", matrix=json.dumps(matrix, separators=(",", ":")))
    step.summarise(_legs_table(matrix["include"]))
    return ExitCode.PASSED


def _matrix(text: str) -> dict[str, list[dict[str, str]]]:
    try:
        matrix: dict[str, list[dict[str, str]]] = json.loads(text)["matrix"]
    except (ValueError, KeyError, TypeError):
        raise HarnessError(
            "the plan is not the JSON that was asked for",
            remedy="leave --format out of the input extra-arguments",
        ) from None
    return matrix


def _legs_table(legs: Sequence[Mapping[str, str]]) -> str:
    rows = [
        f"| {code_span(leg['key'], in_table=True)} | {len(leg['case_ids'].split(','))} "
        f"| {leg['expected_seconds']} s |"
        for leg in legs
    ]
    return "\n".join(
        ["| leg | cases | expected, one after the other |", "| --- | --- | --- |", *rows, ""]
    )
