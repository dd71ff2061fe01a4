"""`routing-action compare`: results against the baseline at the merge base; the gate."""

from __future__ import annotations

import os
import shlex
from collections.abc import Container, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click
from click.core import ParameterSource

from routing_action.cli.certainty import AUTO, read_sequential, sequential_options
from routing_action.cli.options import (
    cases_option,
    config_option,
    find_provider,
    format_option,
    full_commit,
    known_agents,
    path_option,
    read_history_option,
    split_list,
    stdout_style,
)
from routing_action.cli.place import folder_of, from_here, name_results, program_here
from routing_action.corpus.baseline import Pair, Status
from routing_action.corpus.units import DEFAULT_REUSE_DAYS
from routing_action.errors import ExitCode, HarnessError, RoutingActionError
from routing_action.files.atomic import write_atomically
from routing_action.files.program import own_program
from routing_action.gate.compare_results import Judgement, judge
from routing_action.gate.conclusion import Conclusion, Policy
from routing_action.gate.deltas import DELTA_FILE
from routing_action.gate.histories import GitHistory
from routing_action.gate.model import Delta
from routing_action.github.publication import RunLinks
from routing_action.report.escape import printable
from routing_action.report.steps import name_source
from routing_action.report.terminal.delta_text import render_delta_text
from routing_action.report.terminal.layout import wrap
from routing_action.results.batch_folder import RESULTS_FILE, TRANSCRIPTS
from routing_action.results.find import list_batches
from routing_action.results.measured import MeasuredBatch
from routing_action.results.read import read_results
from routing_action.results.rerun import add_history

_MOST_LOOKED_AT = 20
"""Earlier batches that are read to complete one; each can be large."""

_JUDGING = frozenset(
    "baseline_file merge_base_of baseline_ref base_file cases_file confirm detect false_alarm "
    "max_confirm history_folder".split()
)


@click.command("compare", short_help="Judge results against the baseline at the merge base.")
@path_option(
    "--results-dir",
    "folders",
    multiple=True,
    metavar="DIR",
    help="Search this folder for results.json (repeatable); no pair may be there twice.",
)
@path_option(
    "--results",
    "files",
    multiple=True,
    metavar="BATCH",
    help="A batch's folder, or its results.json (repeatable: of each pair the newest counts). "
    "Default: the newest batch.",
)
@path_option(
    "--baseline",
    "baseline_file",
    help="Default: provider-baseline.json, else tests/agent-routing/...",
)
@click.option(
    "--merge-base-of",
    metavar="REF",
    help="Decide by the baseline at the merge base of REF and HEAD.",
)
@click.option("--baseline-ref", metavar="REF", help="Decide by the baseline at this commit.")
@path_option("--base-file", help="Decide by this file, a copy of the merge base's baseline.")
@click.option("--or-exit", type=int, hidden=True, help="Exit so where the cases have no baseline.")
@cases_option
@config_option
@click.option(
    "--providers",
    multiple=True,
    metavar="NAMES",
    help="Every agent that must have results. Default: those that have.",
)
@click.option(
    "--unmeasured",
    type=click.Choice(["neutral", "fail"]),
    default="fail",
    show_default=True,
    help="How a leg that could not be measured counts.",
)
@click.option(
    "--allow-infra",
    multiple=True,
    metavar="NAMES",
    help="Agents that may break: what could not be measured is INFRA for them, no regression.",
)
@click.option("--fail-on-infra", is_flag=True, help="All INFRA makes the gate red too.")
@click.option(
    "--reuse-days",
    type=click.IntRange(1, 365),
    default=DEFAULT_REUSE_DAYS,
    show_default=True,
    metavar="N",
    help="How old what was reused may be.",
)
@click.option(
    "--confirm",
    type=click.Choice([AUTO, "majority"]),
    help="What a pair that failed is judged by: a test against its own rate, or the majority of "
    "its trials. Default: as the results were run; with --commit the majority.",
)
@sequential_options
@click.option(
    "--commit",
    metavar="SHA",
    callback=full_commit,
    help="The results must be of this commit; others fail the gate.",
)
@format_option("text", "json", "comment")
@path_option("--output", written=True, help="Write delta.json here too.")
def command(
    folders: tuple[Path, ...],
    files: tuple[Path, ...],
    baseline_file: Path | None,
    merge_base_of: str | None,
    baseline_ref: str | None,
    base_file: Path | None,
    or_exit: int | None,
    cases_file: Path | None,
    providers: tuple[str, ...],
    unmeasured: str,
    allow_infra: tuple[str, ...],
    fail_on_infra: bool,
    confirm: str | None,
    detect: float,
    false_alarm: float,
    max_confirm: int,
    history_folder: Path | None,
    reuse_days: int,
    commit: str | None,
    output_format: str,
    output: Path | None,
) -> int:
    """Judge results against the baseline at the merge base; the exit code is the gate.

    Without --merge-base-of or --baseline-ref the checked-in baseline decides. The highest
    attempt of a matrix key wins; a selected pair without a result is red. Cases and baseline are
    those that the results were made with, where they are not named. The batch's folder
    gets delta.json, which `report` and `publish` read.
    """
    results = name_results(files) if files or not folders else ()
    asked = Judgement(
        folders=folders,
        files=results,
        cases=cases_file,
        baseline=baseline_file,
        merge_base_of=merge_base_of or None,
        baseline_ref=baseline_ref or None,
        base_file=base_file,
        policy=Policy(
            fail_on_infra,
            unmeasured == "fail",
            providers=_find(providers),
            commit=commit,
            allow_infra=_find(allow_infra),
            sequential=read_sequential(confirm == AUTO, detect, false_alarm, max_confirm),
            by_majority=confirm == "majority",
        ),
        past=read_history_option(history_folder),
        agents=known_agents().providers,
        reuse_days=reuse_days,
    )
    judged = judge(
        asked,
        Path.cwd(),
        history=GitHistory(Path.cwd(), os.environ),
        now=datetime.now(UTC),
        program=program_here(),
        needs_baseline=or_exit is None,
    )
    delta = judged.delta
    if delta is None:
        click.echo(f"no comparison: {judged.cases} has no baseline beside it", err=True)
        return or_exit or 0
    if history_folder is not None:
        commands = {
            agent: add_history(command, from_here(history_folder))
            for agent, command in delta.run_commands.items()
        }
        delta = delta.model_copy(update={"run_commands": commands})
    text = delta.model_dump_json(indent=2) + "\n"
    if output is not None:
        write_atomically(output, text)
    _write_beside(judged.batches, text)
    named = [Path(from_here(folder_of(path))) for path in (*folders, *results)]
    source = name_source(delta, named)
    click.echo(text if output_format == "json" else _shown(delta, output_format, source), nl=False)
    if or_exit is not None and results:
        click.echo(f"artifacts: {from_here(results[0].parent)}")
    _offer_to_complete(delta, results)
    failed = delta.conclusion is Conclusion.FAILURE
    return ExitCode.GATE_FAILED if failed else ExitCode.PASSED


def _offer_to_complete(delta: Delta, results: Sequence[Path]) -> None:
    """How an earlier batch completes this one, where some pairs were not measured."""
    if not delta.left_out or len(results) != 1:
        return
    folder = results[0].parent
    before = _find_complement(folder, {(one.case_id, one.agent) for one in delta.left_out})
    if before:
        named = " ".join(f"--results {shlex.quote(from_here(one))}" for one in (before, folder))
        pairs = "1 pair was" if len(delta.left_out) == 1 else f"{len(delta.left_out)} pairs were"
        said = f"routing-action: {pairs} not measured; to judge together with the batch before:"
        click.echo("\n".join(wrap(said, stdout_style(os.environ).width, indent="  ")), err=True)
        click.echo(f"  {own_program()} compare {named}{_repeat_judging()}", err=True)


def _repeat_judging() -> str:
    """The options that said by what this comparison judges, for the next one."""
    context, words = click.get_current_context(), ""
    for option in context.command.params:
        name = option.name or ""
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if name in _JUDGING and is_given:
            value = context.params[name]
            shown = from_here(value) if isinstance(value, Path) else str(value)
            words += f" {option.opts[0]} {shlex.quote(shown)}"
    return words


def _find_complement(folder: Path, left_out: Container[Pair]) -> Path | None:
    """The newest batch before this one that measured a pair which is left out, in the same way."""
    batches = list_batches(folder.parent)
    if folder not in batches:
        return None
    own = read_results(folder / RESULTS_FILE).options
    for batch in batches[batches.index(folder) + 1 :][:_MOST_LOOKED_AT]:
        with suppress(RoutingActionError):
            found = read_results(batch / RESULTS_FILE)
            if (found.options.cases_file, found.options.replay) == (own.cases_file, own.replay):
                measured = (one for one in found.pairs if one.status is not Status.INFRA_ERROR)
                if any((one.case_id, one.agent) in left_out for one in measured):
                    return batch
    return None


def _write_beside(batches: Sequence[MeasuredBatch], text: str) -> None:
    """Write delta.json into the folder of the newest batch; where that fails, the verdict stands.

    A results.json that lies in no batch's folder, such as a test's own, gets none.
    """
    newest = max(batches, key=lambda one: one.generated_at, default=None)
    folder = Path(newest.file).parent if newest else None
    if folder is None or not (folder / TRANSCRIPTS).is_dir():
        return
    try:
        write_atomically(folder / DELTA_FILE, text)
    except HarnessError as error:
        click.echo(f"routing-action: warning: {printable(str(error))}", err=True)


def _find(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(find_provider(name).name for name in split_list(names))


def _shown(delta: Delta, output_format: str, source: str) -> str:
    """The text for people, or the comment for GitHub; jinja2 is imported only for the latter."""
    if output_format == "comment":
        from routing_action.report.markdown import render_comment  # noqa: PLC0415

        return render_comment(delta, RunLinks(results=source))
    return render_delta_text(delta, stdout_style(os.environ), source) + "\n"
