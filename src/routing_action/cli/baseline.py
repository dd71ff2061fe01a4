"""`routing-action baseline update` and `check`: keep provider-baseline.json true."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from routing_action.agents.discovery import DEFAULT_AGENTS
from routing_action.cli.options import (
    CASES_HELP,
    agents_option,
    config_option,
    find_provider,
    format_option,
    known_agents,
    path_option,
    spell_names,
    split_list,
)
from routing_action.corpus.baseline import Pair, iterate_pairs
from routing_action.corpus.cases_file import DEFAULT_CASE_FILES, find_cases_file, read_cases
from routing_action.errors import ExitCode, UsageError
from routing_action.gate.baseline_findings import (
    ERROR,
    WARNING,
    BaselineFinding,
    BaselineToCheck,
    check_baseline,
    named_agents,
)
from routing_action.gate.baselines import (
    OpenBaseline,
    entry_lines,
    find_baseline_file,
    open_baseline,
    read_baseline,
    render_baseline,
    start_baseline,
)
from routing_action.gate.find_baselines import BaselineRequest, read_baselines
from routing_action.gate.histories import GitHistory
from routing_action.gate.update import Sign, Step, Wishes, apply_steps, plan_removal, plan_update
from routing_action.gate.wording import count
from routing_action.results.batch_folder import one_line
from routing_action.results.measured import Measurement, gather
from routing_action.results.read import read_batches

BASELINE_HELP = "The baseline. Default: provider-baseline.json, also below tests/agent-routing."
_baseline_option = path_option("--baseline", "baseline_file", help=BASELINE_HELP)


@click.group("baseline", short_help="Check the baseline, or update it from results.")
def command() -> None:
    """Work on provider-baseline.json, the expected status of each case on each agent CLI."""


@command.command("update")
@path_option(
    "--from",
    "sources",
    multiple=True,
    metavar="DIR|FILE",
    help="A batch's folder, a folder of several, or a results.json (repeatable).",
)
@_baseline_option
@click.option("--init", is_flag=True, help="Start a new file; replaces none.")
@click.option(
    "--cases",
    "case_ids",
    multiple=True,
    metavar="IDS",
    help="Only these cases (comma-separated, repeatable).",
)
@agents_option("Only these agent CLIs (comma-separated).")
@path_option("--cases-file", help=CASES_HELP)
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

    Adds missing pairs and raises expectations; lowers none without --accept-regression. The file
    is sorted, with one field a line. Exits with 1 where something was rejected.
    """
    gone = split_list(prune_agents)
    _refuse_contradictions(sources, prune or bool(gone), accept_regression, reason)
    opened = (
        start_baseline(baseline_file, Path.cwd())
        if init
        else open_baseline(baseline_file or find_baseline_file(Path.cwd()))
    )
    known = None
    if cases_file or prune or any(Path(name).is_file() for name in DEFAULT_CASE_FILES):
        corpus = read_cases(cases_file or find_cases_file(Path()))
        known = frozenset(case.case_id for case in corpus.cases)
    wishes = Wishes(
        reason=reason.strip(),
        accept=accept_regression,
        fingerprint=record_fingerprint,
        today=datetime.now(UTC).date().isoformat(),
        case_ids=known,
    )
    entered = [pair[1] for pair, _ in iterate_pairs(opened.entries)]
    unmeasured = spell_names(gone, entered, "the baseline has no entry of", "its agents are")
    found: list[Step] = []
    if sources:
        measurement = gather(read_batches(sources))
        if measurement.errors:
            return _reject(measurement.errors, opened.path)
        pairs = _choose(measurement, split_list(case_ids), split_list(agents))
        found += plan_update(measurement, opened.entries, wishes, pairs)
    found += plan_removal(opened.entries, known if prune else None, unmeasured)
    steps = sorted({step.pair: step for step in found}.values(), key=lambda step: step.pair)
    opened.write(apply_steps(opened.entries, steps))
    _show(steps, opened)
    rejects = any(step.sign is Sign.REJECTED for step in steps)
    return ExitCode.GATE_FAILED if rejects else ExitCode.PASSED


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


def _choose(
    measurement: Measurement, case_ids: tuple[str, ...], agents: tuple[str, ...]
) -> list[Pair]:
    """The measured pairs that the filters leave."""
    pairs = list(measurement.pairs)
    cases = spell_names(case_ids, [pair[0] for pair in pairs], "no result of case", "measured")
    named = spell_names(agents, [pair[1] for pair in pairs], "no result of agent", "measured")
    pairs = [pair for pair in pairs if not cases or pair[0] in cases]
    return [pair for pair in pairs if not named or pair[1] in named]


def _reject(errors: Iterable[str], path: Path) -> int:
    for error in errors:
        click.echo(f"! rejected: {one_line(error)}")
    click.echo(f"{path}: nothing was written; name the batch that counts with --from DIR")
    return ExitCode.GATE_FAILED


def _show(steps: Sequence[Step], opened: OpenBaseline) -> None:
    for step in steps:
        click.echo(one_line(str(step)))
    counts = Counter(step.sign for step in steps)
    written = (Sign.ADDED, Sign.CHANGED, Sign.REMOVED)
    shown = [sign for sign in (*written, Sign.REJECTED) if counts[sign]]
    said = ", ".join(f"{counts[sign]} {sign.name.lower()}" for sign in shown) or "nothing to change"
    if any(counts[sign] for sign in written) and not opened.is_laid_out:
        said += "; the whole file is laid out anew: sorted, one field a line"
    click.echo(f"{opened.path}: {said}")


@command.command("check")
@config_option
@_baseline_option
@path_option("--cases-file", "--cases", "cases_file", help=CASES_HELP)
@agents_option("The agent CLIs that need entries. Default: those that the baseline names.")
@format_option("text", "json")
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
    errors, warnings = _describe(findings, ERROR), _describe(findings, WARNING)
    total = sum(map(len, entries.values()))
    if output_format == "json":
        counted = {"cases": len(corpus.cases), "entries": total}
        click.echo(json.dumps({**counted, "errors": errors, "warnings": warnings}, indent=2))
    else:
        for found in findings:
            click.echo(one_line(f"{found.file}:{found.line}: {found.severity}: {found.message}"))
        said = f"{total} {'entry' if total == 1 else 'entries'}"
        counts = f"{count(len(errors), 'error')}, {count(len(warnings), 'warning')}"
        click.echo(f"{path}: {said}, {counts}")
    return ExitCode.GATE_FAILED if errors else ExitCode.PASSED


def _describe(findings: Iterable[BaselineFinding], severity: str) -> list[dict[str, Any]]:
    """The findings of a severity, which is not told again."""
    found = [asdict(one) for one in findings if one.severity == severity]
    return [{name: one[name] for name in one if name != "severity"} for one in found]


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
