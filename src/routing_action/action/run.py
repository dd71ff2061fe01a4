"""The action's stages `run` (one leg of a matrix) and `plan` (the matrix itself).

Both start the command that a person would type. Each value is joined to its flag (`--agents=x`),
so that none can become a flag itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from routing_action.action.inputs import Inputs
from routing_action.action.legs import NOTHING_TO_RUN
from routing_action.action.step import Step
from routing_action.agents.discovery import DEFAULT_AGENTS, all_providers, find_agents
from routing_action.agents.provider import Provider
from routing_action.errors import ExitCode, HarnessError
from routing_action.files.atomic import write_atomically
from routing_action.report.escape import code_block, code_span
from routing_action.results.batch_folder import RESULTS_FILE
from routing_action.results.find import MARKER_FILE, NotMeasured
from routing_action.results.model import Results
from routing_action.results.read import read_results
from routing_action.run.settings import agent_templates
from routing_action.run.workspace.agent_home import find_login_files

MARKERS = "not-measured"

_SUMMARY_CHARACTERS = 200_000
_RUN = (
    *("cases", "skills", "timeout-seconds", "idle-timeout-seconds", "max-parallel"),
    *("trials", "confirm", "shard", "replay"),
)
_PLAN = ("cases", "trials", "shards", "changed-from")
"""The inputs that are flags of the same name."""


def run_leg(step: Step) -> ExitCode:
    """Measure what can be measured; the exit code that the step is to end with.

    A failed run is data, which the aggregation judges: 0. So is a leg with nothing to run, and
    one that cannot measure: both leave a marker for each agent, and say so.
    """
    known = find_agents(None, Path(), all_providers())
    providers = [known.find(name) for name in step.inputs.names("agents") or DEFAULT_AGENTS]
    missing: Mapping[str, str] = {}
    if not step.inputs.text("replay"):
        missing = missing_credentials(providers, step.environ, from_fork=step.context.from_fork)
    agents = [one.name for one in providers if one.name not in missing]
    _leave_markers(step, missing)
    if not agents:
        step.output(status="not-measured")
        return ExitCode.PASSED
    return _measure(step, agents)


def missing_credentials(
    providers: Iterable[Provider], environ: Mapping[str, str], *, from_fork: bool
) -> dict[str, str]:
    """The reason for each agent that has neither a credential nor a login nor its own command.

    One of an agent's credential variables or login files is enough. `from_fork` only explains.
    """
    reasons = {}
    for one in providers:
        if one.credential_variables and not _can_log_in(one, environ):
            names = " or ".join(one.credential_variables)
            reasons[one.name] = (
                f"a pull request from a fork gets no secrets, so {names} is not set"
                if from_fork
                else f"{names} is not set; give the secret to this step with env"
            )
    return reasons


def _can_log_in(provider: Provider, environ: Mapping[str, str]) -> bool:
    if agent_templates([provider.name], environ):
        return True
    if any(environ.get(name, "").strip() for name in provider.credential_variables):
        return True
    return bool(find_login_files(provider, environ))


def _leave_markers(step: Step, reasons: Mapping[str, str]) -> None:
    """One for each agent, where `results.find` finds it below the leg's folder."""
    folder = Path(step.variable("ROUTING_FOLDER")) / MARKERS
    for agent, reason in reasons.items():
        marker = NotMeasured(agent=agent, reason=reason).model_dump_json()
        write_atomically(folder / agent / MARKER_FILE, marker + "\n")
        step.say("warning", f"{agent} was not measured: {reason}")
        step.summarise(f"**{code_span(agent)} was not measured:** {code_span(reason)}\n")


def _measure(step: Step, agents: Sequence[str]) -> ExitCode:
    folder = Path(step.variable("ROUTING_FOLDER"))
    pointer = folder.parent / f"{folder.name}.batch"
    code, text = step.call(run_arguments(step, agents, folder, pointer))
    if code == ExitCode.NOTHING_TO_RUN:
        _leave_markers(step, dict.fromkeys(agents, "the filters left no case to run"))
        step.output(status=NOTHING_TO_RUN)
        return ExitCode.PASSED
    if text:
        key = code_span(step.variable("ROUTING_LEG"))
        body = code_block(text, limit=_SUMMARY_CHARACTERS)
        step.summarise(f"### {key}, attempt {step.context.run_attempt}\n\n{body}\n")
    if pointer.is_file():
        _describe(step, Path(pointer.read_text("utf-8").strip()))
    if code > ExitCode.GATE_FAILED:
        return _fail(step, "run", code)
    step.output(status="failed" if code else "passed")
    return ExitCode.PASSED


def run_arguments(step: Step, agents: Sequence[str], folder: Path, batch_file: Path) -> list[str]:
    """`run` for one leg: its batch goes into `folder`, the batch's path into `batch_file`."""
    return [
        "run",
        f"--agents={','.join(agents)}",
        *_flags(step.inputs, _RUN),
        f"--matrix-key={step.variable('ROUTING_LEG')}",
        f"--attempt={step.context.run_attempt}",
        f"--artifacts-root={folder}",
        f"--batch-file={batch_file}",
        *step.inputs.words("extra-arguments"),
    ]


def _flags(inputs: Inputs, names: Sequence[str]) -> Iterator[str]:
    for name, flag in (("categories", "--category"), ("case-ids", "--case-id")):
        if chosen := inputs.names(name):
            yield f"{flag}={','.join(chosen)}"
    for name in names:
        if value := inputs.text(name):
            yield f"--{name}={value}"


def _describe(step: Step, batch: Path) -> None:
    results: Results = read_results(batch / RESULTS_FILE)
    step.output(
        batch_run_id=results.batch_run_id,
        artifact_dir=str(batch),
        counts=results.summary.model_dump_json(by_alias=True),
    )


def _fail(step: Step, command: str, code: int) -> ExitCode:
    step.output(status="error")
    step.say("error", f"routing-action {command} ended with exit code {code}; see the log")
    return ExitCode(code)


def plan_legs(step: Step) -> ExitCode:
    """Write the matrix; an empty one, with the status that says so, where no case is left."""
    code, text = step.call(plan_arguments(step.inputs))
    if code == ExitCode.NOTHING_TO_RUN:
        step.output(status=NOTHING_TO_RUN, matrix='{"include":[]}')
        step.say("notice", "the plan has nothing to run")
        step.summarise("The plan has nothing to run.\n")
        return ExitCode.PASSED
    if code != ExitCode.PASSED:
        return _fail(step, "plan", code)
    try:
        matrix: dict[str, list[dict[str, str]]] = json.loads(text)["matrix"]
    except (ValueError, KeyError, TypeError):
        raise HarnessError(
            "the plan is not the JSON that was asked for",
            remedy="leave --format out of the input extra-arguments",
        ) from None
    step.output(status="passed", matrix=json.dumps(matrix, separators=(",", ":")))
    step.summarise(_legs_table(matrix["include"]))
    return ExitCode.PASSED


def plan_arguments(inputs: Inputs) -> list[str]:
    """`plan` for a matrix, balanced by the durations in earlier results.

    These are files, or folders that hold some, and come in the order of their names.
    """
    agents = inputs.names("agents")
    durations: list[Path] = []
    for path in map(Path, inputs.lines("durations")):
        durations += sorted(path.rglob(RESULTS_FILE)) if path.is_dir() else [path]
    return [
        "plan",
        *([f"--agents={','.join(agents)}"] if agents else []),
        *_flags(inputs, _PLAN),
        *(f"--results={path}" for path in durations),
        *inputs.words("extra-arguments"),
        "--format=json",
    ]


def _legs_table(legs: Sequence[Mapping[str, str]]) -> str:
    rows = [
        f"| {code_span(leg['key'], in_table=True)} | {len(leg['case_ids'].split(','))} "
        f"| {leg['expected_seconds']} s |"
        for leg in legs
    ]
    return "\n".join(
        ["| leg | cases | expected, one after the other |", "| --- | --- | --- |", *rows, ""]
    )
