"""`routing-action baseline update` and `check`: keep provider-baseline.json true."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from routing_action.agents.discovery import DEFAULT_AGENTS
from routing_action.cli.baseline_update import update
from routing_action.cli.options import (
    BASELINE_HELP,
    CASES_HELP,
    agents_option,
    config_option,
    find_provider,
    format_option,
    known_agents,
    path_option,
    split_list,
)
from routing_action.cli.place import from_here
from routing_action.corpus.cases_file import find_cases_file, read_cases
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
    entry_lines,
    find_baseline_file,
    read_baseline,
    render_baseline,
)
from routing_action.gate.find_baselines import BaselineRequest, read_baselines
from routing_action.gate.histories import GitHistory
from routing_action.gate.wording import count
from routing_action.results.batch_folder import one_line

_baseline_option = path_option("--baseline", "baseline_file", help=BASELINE_HELP)


@click.group("baseline", short_help="Check the baseline, or update it from results.")
def command() -> None:
    """Work on provider-baseline.json, the expected status of each case on each agent CLI."""


command.add_command(update)


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
        from_here(path),
        entries,
        entry_lines(document),
        tuple(known_agents().providers),
        datetime.now(UTC).date().isoformat(),
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
        click.echo(f"{from_here(path)}: {said}, {counts}")
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
