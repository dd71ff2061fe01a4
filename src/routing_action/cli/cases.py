"""`routing-action cases check`: read a case file as a run would, and say what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import click

from routing_action.app.cases import Finding, check_cases
from routing_action.cli.options import cases_option
from routing_action.store.documents import find_cases_file, read_cases


@click.group("cases", short_help="Check a case file.")
def command() -> None:
    """Work on a case file."""


@command.command("check")
@cases_option
@click.option("--strict", is_flag=True, help="Exit with 1 on warnings too.")
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text",
              show_default=True)  # fmt: skip
def check(cases_file: Path | None, strict: bool, output_format: str) -> int:
    """Read a case file as a run would.

    Exits with 2 where it cannot be used; warnings alone give 0, or 1 with --strict.
    """
    path = cases_file or find_cases_file(Path.cwd())
    corpus = read_cases(path)
    findings = check_cases(corpus)
    if output_format == "json":
        click.echo(
            json.dumps({"cases": len(corpus.cases), "warnings": _describe(findings)}, indent=2)
        )
    else:
        for finding in findings:
            click.echo(f"{path}:{finding.line}: warning: {finding.message}")
        click.echo(f"{path}: {len(corpus.cases)} cases, {len(findings)} warnings")
    return 1 if strict and findings else 0


def _describe(findings: list[Finding]) -> list[dict[str, str | int]]:
    return [
        {"case_id": found.case_id, "line": found.line, "rule": found.rule, "message": found.message}
        for found in findings
    ]
