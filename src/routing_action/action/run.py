"""The action's stages `run` (one leg of a matrix) and `plan` (the matrix itself).

Both start the command that a person would type. Each value is joined to its flag (`--agents=x`),
so that none can become a flag itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from routing_action.action.custody import name_digest
from routing_action.action.handover import hand_over, make_private
from routing_action.action.history import history_folder
from routing_action.action.inputs import Inputs
from routing_action.action.legs import NOTHING_TO_RUN
from routing_action.action.rerun.facts import read_asked
from routing_action.action.runner_files import RunnerFiles
from routing_action.action.step import Step
from routing_action.agents.discovery import DEFAULT_AGENTS, all_providers, find_agents
from routing_action.agents.provider import Provider
from routing_action.errors import ExitCode, HarnessError
from routing_action.gate.judging.settle import weigh_run
from routing_action.report.escape import code_block, code_span
from routing_action.report.terminal.console import render_console
from routing_action.report.terminal.layout import ConsoleStyle
from routing_action.results.batch_folder import RESULTS_FILE, render_results
from routing_action.results.model import Results
from routing_action.results.rerun import run_program
from routing_action.run.batch import judge_run
from routing_action.run.settings import agent_templates
from routing_action.run.workspace.agent_home import find_login_files

_SUMMARY_CHARACTERS = 200_000
_RUN = (
    "cases skills timeout-seconds idle-timeout-seconds max-parallel max-output-mb trials confirm "
    "detect false-alarm shard replay"
).split()
_REUSE = ("never", "auto", "tree")
_PLAN = ("baseline", "skills", "trials", "shards", "changed-from")
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
    _say_unmeasured(step, missing)
    if not agents:
        hand_over(Path(step.variable("ROUTING_FOLDER")), missing)
        step.output(status="not-measured")
        return ExitCode.PASSED
    return _measure(step, agents, missing)


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


def _say_unmeasured(step: Step, reasons: Mapping[str, str]) -> None:
    for agent, reason in reasons.items():
        step.say("warning", f"{agent} was not measured: {reason}")
        step.summarise(f"**{code_span(agent)} was not measured:** {code_span(reason)}\n")


def _measure(step: Step, agents: Sequence[str], missing: Mapping[str, str]) -> ExitCode:
    """Run the leg in a folder that agents do not know; what is uploaded is made of it afterwards.

    The results are those that this process holds, never a file that an agent could have changed.
    """
    folder = Path(step.variable("ROUTING_FOLDER"))
    private, files = make_private(step), RunnerFiles(step.environ)
    code, text, cause = step.call(run_arguments(step, agents, private), partial(_show, folder))
    changed = files.restore()
    if changed:
        names = ", ".join(changed)
        step.say("warning", f"an agent wrote into files of the runner; taken out again: {names}")
    if code == ExitCode.NOTHING_TO_RUN:
        found = dict.fromkeys(agents, "the filters left no case to run")
        _say_unmeasured(step, found)
        hand_over(folder, {**missing, **found}, private)
        step.output(status=NOTHING_TO_RUN)
        return ExitCode.PASSED
    results = _parse(text)
    batch = hand_over(folder, missing, private, results)
    if results is not None and batch is not None:
        _describe(step, results, batch)
    if code > ExitCode.GATE_FAILED or results is None:
        return _fail(step, "run", code or ExitCode.HARNESS, cause)
    step.output(status="failed" if code else "passed")
    return ExitCode.PASSED


def _parse(text: str) -> Results | None:
    """What `run --format=json` printed; None where it could not work."""
    try:
        return Results.model_validate_json(text)
    except ValidationError:
        return None


def _show(folder: Path, text: str) -> str:
    """The results as a person reads them, where they will be found."""
    results = _parse(text)
    return text if results is None else _table(results, folder / results.batch_run_id)


def _table(results: Results, batch: Path) -> str:
    weighed = weigh_run(results, Path(results.options.cases_file).parent)
    fail_on_infra, doubtful = results.options.fail_on_infra, weighed.unproven
    reason = judge_run(results, fail_on_infra, excused=doubtful, ended=weighed.ended)[1]
    text = render_console(
        results,
        reason=reason,
        weighed=weighed,
        artifacts=str(batch),
        program=run_program(),
        style=ConsoleStyle(),
    )
    return f"{text}\n"


def run_arguments(step: Step, agents: Sequence[str], private: Path) -> list[str]:
    """`run` for one leg: its batch goes into `private`, its results to stdout."""
    return [
        "run",
        f"--agents={','.join(agents)}",
        *_flags(step.inputs, _RUN),
        f"--matrix-key={step.variable('ROUTING_LEG')}",
        f"--attempt={step.context.run_attempt}",
        *_history_flag(step),
        *_reuse_flags(step),
        *(["--stop-early"] if step.inputs.flag("stop-early") else []),
        *step.inputs.words("extra-arguments"),
        f"--artifacts-root={private}",
        "--format=json",
    ]


def _history_flag(step: Step) -> list[str]:
    folder = history_folder(step)
    return [f"--history={folder}"] if folder else []


def _reuse_flags(step: Step) -> Iterator[str]:
    """Only a change is spared: what the default branch's own runs measure is what is reused.

    A run by hand, such as a rerun, asks for a new measurement.
    """
    mode = step.inputs.choice("reuse", _REUSE)
    if mode != "never" and (step.context.pull_request or step.context.event_name == "merge_group"):
        yield f"--reuse={mode}"


def _flags(inputs: Inputs, names: Sequence[str]) -> Iterator[str]:
    for name, flag in (("categories", "--category"), ("case-ids", "--case-id")):
        if chosen := inputs.names(name):
            yield f"{flag}={','.join(chosen)}"
    for name in names:
        if value := inputs.text(name):
            yield f"--{name}={value}"


def _describe(step: Step, results: Results, batch: Path) -> None:
    key, attempt = step.variable("ROUTING_LEG"), step.context.run_attempt
    body = code_block(_table(results, batch), limit=_SUMMARY_CHARACTERS)
    step.summarise(f"### {code_span(key)}, attempt {attempt}\n\n{body}\n")
    step.output(
        batch_run_id=results.batch_run_id,
        artifact_dir=str(batch),
        counts=results.summary.model_dump_json(by_alias=True),
        digest=name_digest(key, attempt, render_results(results)),
    )


def _fail(step: Step, command: str, code: int, cause: str) -> ExitCode:
    step.fail(cause or f"routing-action {command} ended with exit code {code}; see the log")
    return ExitCode(code)


def plan_legs(step: Step) -> ExitCode:
    """Write the matrix; an empty one, with the status that says so, where the change moves no case.

    Where the filters leave no case, somebody has misspelt one: that is an error.
    """
    read_asked(step)  # what it raises ends the plan
    code, text, cause = step.call(plan_arguments(step.inputs, history_folder(step)))
    if code == ExitCode.NOTHING_TO_RUN and step.inputs.text("changed-from"):
        step.output(status=NOTHING_TO_RUN, matrix='{"include":[]}')
        step.say("notice", "the plan has nothing to run")
        step.summarise("The plan has nothing to run.\n")
        return ExitCode.PASSED
    if code != ExitCode.PASSED:
        return _fail(step, "plan", code, cause)
    try:
        plan = json.loads(text)
        matrix: dict[str, list[dict[str, str]]] = plan["matrix"]
    except (ValueError, KeyError, TypeError):
        raise HarnessError(
            "the plan is not the JSON that was asked for",
            remedy="leave --format out of the input extra-arguments",
        ) from None
    step.output(status="passed", matrix=json.dumps(matrix, separators=(",", ":")))
    step.summarise(_legs_table(matrix["include"]))
    if plan.get("selection"):
        step.summarise(f"{code_span(plan['selection'])}\n")
    return ExitCode.PASSED


def plan_arguments(inputs: Inputs, history: Path | None = None) -> list[str]:
    """`plan` for a matrix, balanced by the durations in earlier results."""
    # The change's own baseline does not choose who measures it.
    agents = inputs.names("agents") or DEFAULT_AGENTS
    cases = find_file(inputs, "cases", "cases.json")
    pairs = inputs.names("pairs")
    return [
        "plan",
        f"--agents={','.join(agents)}",
        *([f"--pairs={','.join(pairs)}"] if pairs else []),
        *([f"--cases={cases}"] if cases else []),
        *_flags(inputs, _PLAN),
        *(f"--results={path}" for path in earlier_results(inputs)),
        *([f"--history={history}"] if history else []),
        *inputs.words("extra-arguments"),
        "--format=json",
    ]


def find_file(inputs: Inputs, name: str, own: str) -> Path | None:
    """The file of an input, else a replay set's own; None leaves it to the command."""
    if named := inputs.text(name):
        return Path(named)
    kept = Path(inputs.text("replay"), own)
    return kept if inputs.text("replay") and kept.is_file() else None


def earlier_results(inputs: Inputs) -> tuple[Path, ...]:
    """The files of the input `durations`, those of a folder in the order of their names."""
    paths = map(Path, inputs.lines("durations"))
    return tuple(
        file
        for path in paths
        for file in (sorted(path.rglob(RESULTS_FILE)) if path.is_dir() else [path])
    )


def _legs_table(legs: Sequence[Mapping[str, str]]) -> str:
    rows = [
        f"| {code_span(leg['key'], in_table=True)} | {len(leg['case_ids'].split(','))} "
        f"| {leg['expected_seconds']} s |"
        for leg in legs
    ]
    return "\n".join(
        ["| leg | cases | expected, one after the other |", "| --- | --- | --- |", *rows, ""]
    )
