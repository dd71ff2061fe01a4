"""`routing-action baseline update` and `check`: keep provider-baseline.json true."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from routing_action.agents.discovery import DEFAULT_AGENTS
from routing_action.cli.options import (
    CASES_HELP,
    config_option,
    find_provider,
    known_agents,
    split_list,
)
from routing_action.corpus.baseline import Baseline, Pair
from routing_action.corpus.cases_file import find_cases_file, read_cases
from routing_action.corpus.naming import fold
from routing_action.errors import DocumentError, ExitCode, UsageError
from routing_action.gate.baseline_files import OpenBaseline, open_baseline, start_baseline
from routing_action.gate.baseline_text import render_baseline
from routing_action.gate.baselines import entry_lines, find_baseline_file, read_baseline
from routing_action.gate.baselines_to_compare import BaselineRequest, read_baselines
from routing_action.gate.check import (
    ERROR,
    BaselineFinding,
    BaselineToCheck,
    check_baseline,
    named_agents,
)
from routing_action.gate.histories import GitHistory
from routing_action.gate.update import (
    Sign,
    Update,
    Wishes,
    describe_update,
    join_updates,
    plan_pruning,
    plan_removal,
    plan_update,
)
from routing_action.results.batch_folder import one_line
from routing_action.results.measured import Measurement, gather
from routing_action.results.measured_files import read_batches

BASELINE_HELP = "The baseline. Default: provider-baseline.json, also below tests/agent-routing."
_baseline_option = click.option(
    "--baseline",
    "baseline_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=BASELINE_HELP,
)
_agents_option = click.option(
    "--agents", multiple=True, metavar="NAMES", help="Only these agent CLIs (comma-separated)."
)


@click.group("baseline", short_help="Check the baseline, or update it from results.")
def command() -> None:
    """Work on provider-baseline.json, the expected status of each case on each agent CLI."""


@command.command("update")
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR|FILE",
    help="A batch's folder, a folder of several, or a results.json (repeatable).",
)
@_baseline_option
@click.option("--init", is_flag=True, help="Start a new file; refuses to replace one.")
@click.option(
    "--cases",
    "case_ids",
    multiple=True,
    metavar="IDS",
    help="Only these cases (comma-separated, repeatable).",
)
@_agents_option
@click.option("--cases-file", type=click.Path(path_type=Path), metavar="FILE", help=CASES_HELP)
@click.option("--reason", default="", metavar="TEXT", help="Why, for entries that are no pass.")
@click.option("--accept-regression", is_flag=True, help="Lower expectations too; needs --reason.")
@click.option(
    "--record-fingerprint",
    is_flag=True,
    help="Write with which CLI version, model and corpus it was measured, and the date.",
)
@click.option("--prune", is_flag=True, help="Remove the entries of cases that no longer exist.")
@click.option(
    "--prune-agents",
    multiple=True,
    metavar="NAMES",
    help="Remove every entry of these agent CLIs, which are no longer measured.",
)
def update(
    sources: tuple[Path, ...],
    baseline_file: Path | None,
    init: bool,
    case_ids: tuple[str, ...],
    agents: tuple[str, ...],
    cases_file: Path | None,
    reason: str,
    accept_regression: bool,
    record_fingerprint: bool,
    prune: bool,
    prune_agents: tuple[str, ...],
) -> int:
    """Write what was measured, where it is no worse than what was expected.

    Adds missing pairs and raises expectations; lowers none without --accept-regression. Entries
    that do not change keep their text. Exits with 1 where something was refused.
    """
    gone = split_list(prune_agents)
    _refuse_contradictions(sources, prune or bool(gone), accept_regression, reason)
    opened = _open(baseline_file, init)
    known = _known_cases(cases_file, needed=prune)
    wishes = Wishes(
        reason=reason.strip(),
        accept=accept_regression,
        fingerprint=record_fingerprint,
        today=datetime.now(UTC).date().isoformat(),
        case_ids=known,
    )
    updates = []
    if sources:
        measurement = gather(read_batches(sources))
        pairs = _choose(measurement, split_list(case_ids), split_list(agents))
        updates.append(plan_update(measurement, opened.entries, wishes, pairs))
    if prune and known is not None:
        updates.append(plan_pruning(opened.entries, known))
    updates.append(plan_removal(opened.entries, _entered(opened.entries, gone)))
    joined = join_updates(updates)
    opened.write(joined.changes)
    _show(joined, opened.file)
    return ExitCode.GATE_FAILED if joined.refused else ExitCode.PASSED


def _entered(entries: Baseline, agents: tuple[str, ...]) -> tuple[str, ...]:
    """The agents as the baseline spells them; one that has no entry is a mistake."""
    known = {fold(agent): agent for agents_of in entries.values() for agent in agents_of}
    unknown = [agent for agent in agents if fold(agent) not in known]
    if unknown:
        raise UsageError(
            f"the baseline has no entry of {', '.join(unknown)}",
            remedy=f"its agents are: {', '.join(sorted(known.values()))}",
        )
    return tuple(known[fold(agent)] for agent in agents)


def _refuse_contradictions(
    sources: tuple[Path, ...], prune: bool, accept: bool, reason: str
) -> None:
    if not sources and not prune:
        raise UsageError(
            "nothing to update from",
            remedy="name the results with --from DIR, or clean up with --prune or --prune-agents",
        )
    given = reason.strip()
    if given == "TEXT" or (accept and not given):
        cause = "--reason TEXT is a placeholder" if given else "--accept-regression needs a reason"
        remedy = 'say why with --reason "TEXT"; it is written beside what is lowered'
        raise UsageError(cause, remedy=remedy)
    if len(reason) > 500 or not reason.isprintable():
        raise UsageError(
            "--reason is too long, or holds characters that cannot be shown",
            remedy="write one line of at most 500 characters",
        )


def _open(baseline_file: Path | None, init: bool) -> OpenBaseline:
    if init:
        return start_baseline(baseline_file, Path.cwd())
    return open_baseline(baseline_file or find_baseline_file(Path.cwd()))


def _known_cases(cases_file: Path | None, *, needed: bool) -> frozenset[str] | None:
    """The case ids that exist; None where there is no case file and none is needed."""
    try:
        path = cases_file or find_cases_file(Path())
    except DocumentError:
        if needed:
            raise
        return None
    return frozenset(case.case_id for case in read_cases(path).cases)


def _choose(
    measurement: Measurement, case_ids: tuple[str, ...], agents: tuple[str, ...]
) -> list[Pair]:
    """The measured pairs that the filters leave; a filter that fits nothing is a mistake."""
    pairs = list(measurement.list_pairs())
    for name, wanted, place in (("case", case_ids, 0), ("agent", agents, 1)):
        measured = {fold(pair[place]): pair[place] for pair in pairs}
        unknown = [one for one in wanted if fold(one) not in measured]
        if unknown:
            raise UsageError(
                f"no result of {name} {', '.join(repr(one) for one in unknown)}",
                remedy=f"measured: {one_line(', '.join(sorted(measured.values())))[:500]}",
            )
    wanted_cases, wanted_agents = set(map(fold, case_ids)), set(map(fold, agents))
    return [
        pair
        for pair in pairs
        if (not wanted_cases or fold(pair[0]) in wanted_cases)
        and (not wanted_agents or fold(pair[1]) in wanted_agents)
    ]


def _show(update: Update, file: str) -> None:
    for error in update.errors:
        click.echo(f"! refused: {one_line(error)}")
    for line in describe_update(update):
        click.echo(one_line(line))
    words = (
        (Sign.ADDED, "added"),
        (Sign.CHANGED, "changed"),
        (Sign.REMOVED, "removed"),
        (Sign.REFUSED, "refused"),
    )
    counts = [f"{update.count(sign)} {word}" for sign, word in words if update.count(sign)]
    if update.errors:
        click.echo(f"{file}: nothing was written; name the batch that counts with --from DIR")
    else:
        click.echo(f"{file}: {', '.join(counts) or 'nothing to change'}")


@command.command("check")
@config_option
@_baseline_option
@click.option("--cases-file", "--cases", "cases_file", type=click.Path(path_type=Path),
              metavar="FILE", help=CASES_HELP)  # fmt: skip
@click.option(
    "--agents",
    multiple=True,
    metavar="NAMES",
    help="The agent CLIs that need entries. Default: those that the baseline names.",
)
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text",
              show_default=True)  # fmt: skip
def check(
    baseline_file: Path | None,
    cases_file: Path | None,
    agents: tuple[str, ...],
    output_format: str,
) -> int:
    """Say what is wrong with the baseline: missing pairs, entries without a case, no reasons.

    Exits with 1 on errors, with 0 where there are warnings alone.
    """
    path = baseline_file or find_baseline_file(Path.cwd())
    entries, document = read_baseline(path)
    checked = BaselineToCheck(
        str(path), entries, entry_lines(document), tuple(known_agents().providers)
    )
    corpus = read_cases(cases_file or find_cases_file(Path()))
    wanted = tuple(find_provider(name).name for name in split_list(agents))
    findings = check_baseline(checked, corpus, wanted or named_agents(checked, DEFAULT_AGENTS))
    errors = [found for found in findings if found.severity == ERROR]
    warnings = [found for found in findings if found.severity != ERROR]
    count = sum(map(len, entries.values()))
    if output_format == "json":
        described = {
            "cases": len(corpus.cases),
            "entries": count,
            "errors": _describe(errors),
            "warnings": _describe(warnings),
        }
        click.echo(json.dumps(described, indent=2))
    else:
        for found in findings:
            click.echo(one_line(f"{found.file}:{found.line}: {found.severity}: {found.message}"))
        click.echo(f"{path}: {count} entries, {len(errors)} errors, {len(warnings)} warnings")
    return ExitCode.GATE_FAILED if errors else ExitCode.PASSED


def _describe(findings: Iterable[BaselineFinding]) -> list[dict[str, Any]]:
    return [
        {
            "rule": found.rule,
            "case_id": found.pair[0],
            "provider": found.pair[1],
            "file": found.file,
            "line": found.line,
            "message": found.message,
        }
        for found in findings
    ]


@command.command("show")
@_baseline_option
@click.option("--merge-base-of", metavar="REF", help="As it is at the merge base of REF and HEAD.")
@click.option("--baseline-ref", metavar="REF", help="As it is at this commit.")
def show(baseline_file: Path | None, merge_base_of: str | None, baseline_ref: str | None) -> int:
    """Print the baseline that decides, as `compare` with the same flags would read it.

    Standard error says which commit that is, its date, and how it was found.
    """
    if merge_base_of and baseline_ref:
        raise UsageError("give --merge-base-of or --baseline-ref, not both")
    path = baseline_file or find_baseline_file(Path.cwd())
    request = BaselineRequest(path, merge_base_of or None, baseline_ref or None)
    baselines = read_baselines(request, Path.cwd(), GitHistory(Path.cwd(), os.environ))
    source = baselines.source
    place = f"{source.commit} of {source.date}, " if source.commit else ""
    click.echo(f"{source.path}: {place}{source.how}", err=True)
    if baselines.deciding is None:
        click.echo("the file does not exist there: every pair would be new", err=True)
        return ExitCode.PASSED
    click.echo(render_baseline(baselines.deciding), nl=False)
    return ExitCode.PASSED
