"""`routing-action evaluate`: judge stored transcripts by the path of a live run."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import click

from routing_action.agents.provider import ReadContext
from routing_action.cli.options import (
    cases_option,
    config_option,
    find_provider,
    format_option,
    known_agents,
    path_option,
    split_list,
    subagents_option,
)
from routing_action.cli.place import find_newest_batch, from_here
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import find_cases_file, read_cases
from routing_action.corpus.identity import NO_SKILLS
from routing_action.corpus.naming import fold
from routing_action.errors import UsageError
from routing_action.evidence.outcome import RunEnd
from routing_action.files.atomic import write_atomically
from routing_action.files.nearest import suggest
from routing_action.files.program import own_program
from routing_action.gate.wording import count, name_few
from routing_action.results.batch_folder import (
    RESULTS_FILE,
    TRANSCRIPTS,
    one_line,
    render_results,
)
from routing_action.results.read import read_results
from routing_action.results.transcript_lines import check_stored
from routing_action.run.evaluate import (
    describe_evaluation,
    evaluate_case,
    evaluate_tokens,
    explain_evaluation,
    read_lines,
)
from routing_action.run.evaluate_batch import EVALUATED_FILE, evaluate_batch
from routing_action.run.lifecycle import format_time
from routing_action.run.offered import read_index


@click.command("evaluate", short_help="Judge stored transcripts again; no agent is started.")
@path_option("--batch", metavar="DIR", help="Judge every run of this batch by the present cases.")
@path_option("--output", written=True, help="The new results. Default: evaluated.json in --batch.")
@click.option("--agent", metavar="NAME", help="Whose output it is.")
@path_option(
    "--stdout",
    "stdout_file",
    help="The transcript of standard output. Default: the newest batch's, of --case-id; its "
    "standard error and its end are then known too.",
)
@path_option("--stderr", "stderr_file", help="The transcript of standard error.")
@click.option(
    "--exit-code",
    type=int,
    default=0,
    show_default=True,
    help="How the CLI ended; negative for a signal.",
)
@click.option("--timed-out", is_flag=True, help="A deadline ended the run.")
@click.option("--stopped-early", is_flag=True, help="`run --stop-early` ended the run.")
@cases_option
@config_option
@click.option("--case-id", metavar="ID", help="Judge this case of --cases.")
@click.option(
    "--token",
    "tokens",
    multiple=True,
    metavar="TOKEN",
    help="A skill name or a file path to look for (repeatable).",
)
@click.option(
    "--skills-root",
    "roots",
    multiple=True,
    metavar="DIR",
    help="The folder that the skills were staged in; reads elsewhere are no proof.",
)
@path_option(
    "--skills",
    metavar="PATH",
    help="The skills that the agent had: a skill, a folder of skills, a plugin, or a repository. "
    "Every name of a skill is then resolved to one of them, as in `--skills .claude/skills`.",
)
@subagents_option
@format_option("json", "text")
def command(
    batch: Path | None,
    output: Path | None,
    agent: str | None,
    stdout_file: Path | None,
    stderr_file: Path | None,
    exit_code: int,
    timed_out: bool,
    stopped_early: bool,
    cases_file: Path | None,
    case_id: str | None,
    tokens: tuple[str, ...],
    roots: tuple[str, ...],
    skills: Path | None,
    subagent_loads: str,
    output_format: str,
) -> int:
    """Judge stored transcripts by the same path as a live run; no agent is started.

    With --batch: all of a batch, after its cases were changed; `compare --results` takes the new
    file. Else give --agent, and either --case-id or one or more --token. The exit code is 0
    whatever was found; with --case-id it is 1 where the case does not pass.
    """
    if batch is not None:
        alone = (agent, stdout_file, stderr_file, case_id, *tokens, *roots, skills)
        _refuse_beside_batch(any(one is not None for one in alone))
        return _evaluate_batch(batch, output, cases_file)
    if agent is None or output is not None:
        raise UsageError(
            "give --agent for one transcript, or --batch for all of a batch",
            remedy=f"`{own_program()} evaluate --agent claude --case-id ID`, or with --batch DIR",
        )
    provider = find_provider(agent)
    case = _chosen_case(cases_file, case_id, tokens)
    end = RunEnd(exit_code=exit_code, timed_out=timed_out, stopped_early=stopped_early)
    if stdout_file is None:
        stdout_file, stderr_file, end = _find_stored(provider.name, case)
    context = ReadContext(
        skills_roots=roots, skills=read_index(skills, provider) if skills else NO_SKILLS
    )
    counted = subagent_loads == "count"
    check_stored(stdout_file)
    stdout = read_lines(stdout_file)
    stderr: Iterable[bytes] = read_lines(stderr_file) if stderr_file else ()
    if case is None:
        wanted = tuple(token.strip() for token in tokens if token.strip())
        evaluation = evaluate_tokens(
            provider, stdout, stderr, wanted, end=end, context=context, count_subagents=counted
        )
    else:
        evaluation = evaluate_case(
            provider, stdout, stderr, case, end=end, context=context, count_subagents=counted
        )
    if output_format == "text":
        click.echo(explain_evaluation(evaluation))
    else:
        click.echo(json.dumps(describe_evaluation(evaluation), indent=2, ensure_ascii=False))
    failed = evaluation.verdict is not None and evaluation.verdict.status.value != "pass"
    return 1 if failed else 0


def _refuse_beside_batch(is_given: bool) -> None:
    if is_given:
        raise UsageError(
            "--batch judges every run of a batch",
            remedy="leave out --agent and what tells of one transcript, or leave out --batch",
        )


def _evaluate_batch(batch: Path, output: Path | None, cases_file: Path | None) -> int:
    """Write the results anew, and say what differs."""
    corpus = read_cases(cases_file or find_cases_file(Path()))
    providers = known_agents().providers
    found = evaluate_batch(batch, corpus, providers, format_time(datetime.now(UTC)))
    path = output or batch / EVALUATED_FILE
    if os.path.realpath(path) == os.path.realpath(batch / RESULTS_FILE):
        raise UsageError("the batch's own results.json is not replaced", remedy="name another file")
    write_atomically(path, render_results(found.results))
    for was, now in found.changed:
        kind = f" ({now.failure_kind})" if now.failure_kind else ""
        said = f"{now.case_id} on {now.agent}: {was.status.value} -> {now.status.value}{kind}"
        click.echo(one_line(said))
    if found.kept:
        few = name_few(f"{row.case_id} on {row.agent}" for row in found.kept)
        said = f"{count(len(found.kept), 'run')} kept as before, as no transcript tells: {few}"
        click.echo(one_line(said))
    for one in found.gone:
        click.echo(one_line(f"{one}: left out: {from_here(Path(corpus.file))} has no such case"))
    for one in found.asked_otherwise:
        again = f"measure it again: `{own_program()} run --case-id {shlex.quote(one)}`"
        click.echo(one_line(f"{one}: left out: its prompt has changed; {again}"))
    counts = found.results.summary
    shown = from_here(path)
    runs = f"{count(counts.total, 'run')}, {counts.passed} pass, {counts.fail} fail"
    changed = count(len(found.changed), "verdict")
    click.echo(f"{shown}: {runs}, {counts.infra_error} infra_error; {changed} changed")
    click.echo(f"next: {own_program()} compare --results {shlex.quote(shown)}")
    return 0


def _find_stored(agent: str, case: Case | None) -> tuple[Path, Path, RunEnd]:
    """The transcripts of a case's first trial in the newest batch, and how it ended."""
    if case is None:
        raise UsageError("--token needs a transcript", remedy="name it with --stdout FILE")
    batch = find_newest_batch()
    for row in read_results(batch / RESULTS_FILE).results:
        if (row.agent, row.case_id) == (agent, case.case_id):
            place = batch / TRANSCRIPTS / row.unit_run_id
            end = RunEnd.by(row.ended_by, row.exit_code)
            return place.with_suffix(".stdout"), place.with_suffix(".stderr"), end
    raise UsageError(
        f"the newest batch has no result of {case.case_id} on {agent}",
        remedy="run that case, or name a transcript with --stdout FILE",
    )


def _chosen_case(
    cases_file: Path | None, case_id: str | None, tokens: tuple[str, ...]
) -> Case | None:
    if (case_id is None) == (not split_list(tokens)):
        raise UsageError(
            "give either --case-id (with --cases FILE) or --token, not both and not neither",
            remedy="--token NAME looks for a skill; --case-id ID judges by a case of --cases FILE",
        )
    if case_id is None:
        return None
    corpus = read_cases(cases_file or find_cases_file(Path()))
    for case in corpus.cases:
        if fold(case.case_id) == fold(case_id):
            return case
    known = [case.case_id for case in corpus.cases]
    raise UsageError(
        f"{corpus.file} has no case {case_id!r}",
        remedy=suggest(case_id, known, f"`{own_program()} plan` lists the cases"),
    )
