"""`routing-action compare`: results against the baseline at the merge base; the gate."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from pathlib import Path

import click

from routing_action.cli.options import (
    cases_option,
    config_option,
    find_provider,
    format_option,
    full_commit,
    known_agents,
    path_option,
    split_list,
    stdout_style,
)
from routing_action.corpus.cases_file import DEFAULT_CASE_FILES
from routing_action.errors import ExitCode
from routing_action.files.atomic import write_atomically
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES
from routing_action.gate.compare_results import Judgement, judge
from routing_action.gate.conclusion import Conclusion, Policy
from routing_action.gate.histories import GitHistory
from routing_action.gate.model import Delta
from routing_action.github.publication import RunLinks
from routing_action.report.terminal.console import render_delta_text
from routing_action.results.rerun import run_program


@click.command("compare", short_help="Judge results against the baseline at the merge base.")
@path_option(
    "--results-dir",
    "folders",
    multiple=True,
    metavar="DIR",
    help="Search this folder for results.json (repeatable).",
)
@path_option("--results", "files", multiple=True, help="Judge this results.json (repeatable).")
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
    "--commit",
    metavar="SHA",
    callback=full_commit,
    help="The results must be of this commit; others fail the gate.",
)
@format_option("text", "json", "comment")
@path_option("--output", help="Write delta.json here too.")
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
    commit: str | None,
    output_format: str,
    output: Path | None,
) -> int:
    """Judge results against the baseline at the merge base; the exit code is the gate.

    Without --merge-base-of or --baseline-ref the checked-in baseline decides. The highest
    attempt of a matrix key wins; a selected pair without a result is red. Cases and baseline are
    those that the results were made with, where they are not named.
    """
    asked = Judgement(
        folders=folders,
        files=files,
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
        ),
        agents=known_agents().providers,
    )
    judged = judge(
        asked,
        Path.cwd(),
        history=GitHistory(Path.cwd(), os.environ),
        now=datetime.now(UTC),
        program=run_program(),
        needs_baseline=or_exit is None,
    )
    delta = judged.delta
    if delta is None:
        click.echo(f"no comparison: {judged.cases} has no baseline beside it", err=True)
        return or_exit or 0
    text = delta.model_dump_json(indent=2) + "\n"
    if output is not None:
        write_atomically(output, text)
    source = shlex.quote(_from_here((*folders, *files)[0]))
    named = (_from_here(judged.cases), _from_here(Path(delta.baseline.path)))
    if named not in zip(DEFAULT_CASE_FILES, DEFAULT_BASELINE_FILES, strict=True):
        source += " --cases-file {} --baseline {}".format(*map(shlex.quote, named))
    click.echo(text if output_format == "json" else _shown(delta, output_format, source), nl=False)
    failed = delta.conclusion is Conclusion.FAILURE
    return ExitCode.GATE_FAILED if failed else ExitCode.PASSED


def _find(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(find_provider(name).name for name in split_list(names))


def _from_here(path: Path) -> str:
    """A path as short as it can be typed in the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _shown(delta: Delta, output_format: str, source: str) -> str:
    """The text for people, or the comment for GitHub; jinja2 is imported only for the latter."""
    if output_format == "comment":
        from routing_action.report.markdown import render_comment  # noqa: PLC0415

        return render_comment(delta, RunLinks())
    return render_delta_text(delta, stdout_style(os.environ), source) + "\n"
