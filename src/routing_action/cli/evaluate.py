"""`routing-action evaluate`: judge a stored transcript by the path of a live run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click

from routing_action.agents.provider import ReadContext
from routing_action.cli.options import (
    cases_option,
    config_option,
    find_provider,
    format_option,
    path_option,
    split_list,
    subagents_option,
)
from routing_action.cli.place import find_newest_batch
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import find_cases_file, read_cases
from routing_action.corpus.identity import NO_SKILLS
from routing_action.corpus.naming import fold
from routing_action.errors import UsageError
from routing_action.evidence.outcome import RunEnd
from routing_action.results.batch_folder import RESULTS_FILE, TRANSCRIPTS
from routing_action.results.read import read_results
from routing_action.results.transcript_lines import check_stored
from routing_action.run.evaluate import (
    describe_evaluation,
    evaluate_case,
    evaluate_tokens,
    explain_evaluation,
    read_lines,
)
from routing_action.run.offered import read_index


@click.command("evaluate", short_help="Judge a stored transcript; no agent is started.")
@click.option("--agent", required=True, metavar="NAME", help="Whose output it is.")
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
    "Every name of a skill is then resolved to one of them.",
)
@subagents_option
@format_option("json", "text")
def command(
    agent: str,
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
    """Judge a stored transcript by the same path as a live run; no agent is started.

    Give either --cases with --case-id, or one or more --token. The exit code is 0 whatever was
    found; with --case-id it is 1 where the case does not pass.
    """
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
    raise UsageError(
        f"{corpus.file} has no case {case_id!r}",
        remedy="`routing-action plan` lists the cases",
    )
