"""`routing-action providers list` and `doctor`: the known agent CLIs, and their problems."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from routing_action.agents.diagnosis import DRIFT_THRESHOLD, Facts, Finding, Level, diagnose
from routing_action.agents.discovery import DEFAULT_AGENTS
from routing_action.agents.provider import Provider
from routing_action.cli.options import (
    agents_option,
    choose_agents,
    config_option,
    find_provider,
    format_option,
    known_agents,
    path_option,
)
from routing_action.cli.streams.drift import drift_command
from routing_action.cli.streams.record import record_command
from routing_action.cli.streams.try_description import try_command
from routing_action.corpus.cases_file import DEFAULT_CASE_FILES
from routing_action.errors import ExitCode
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES
from routing_action.gate.wording import count
from routing_action.git.credentials import find_credentials
from routing_action.run.readiness.doctor import count_records, examine


@click.group("providers", short_help="List the agent CLIs that are known, and check them.")
def command() -> None:
    """Look at the agent CLIs that are known."""


command.add_command(try_command)
command.add_command(record_command)
command.add_command(drift_command)


@command.command("list")
@config_option
@format_option()
def list_providers(output_format: str) -> int:
    """List every known agent CLI: its command, its credentials and where it reads skills."""
    described = [_describe(provider) for provider in known_agents().providers.values()]
    if output_format == "json":
        click.echo(json.dumps(described, indent=2))
        return 0
    for provider in described:
        mark = " (default)" if provider["default"] else ""
        source = provider["npm_package"]
        place = f"npm {source}" if source else "of your own"
        click.echo(f"{provider['name']}{mark}: {provider['title']}, {place}")
        click.echo(f"  starts       {' '.join(provider['command'])}")
        click.echo(f"  credentials  {', '.join(provider['credential_variables'])}")
        click.echo(f"  skills       {', '.join(provider['skill_folders'])}")
        click.echo(f"  evidence     {provider['documentation']}")
    return 0


def _describe(provider: Provider) -> dict[str, Any]:
    return {
        "name": provider.name,
        "title": provider.title,
        "default": provider.name in DEFAULT_AGENTS,
        "npm_package": provider.npm_package,
        "command": list(provider.command),
        "credential_variables": list(provider.credential_variables),
        "skill_folders": list(provider.skill_folders),
        "documentation": provider.documentation,
    }


@command.command("doctor")
@agents_option()
@config_option
@path_option(
    "--results-dir",
    "results",
    multiple=True,
    metavar="DIR",
    help="Results of live runs, to measure the drift by (repeatable).",
)
@click.option("--drift-threshold", type=click.FloatRange(0, 1, min_open=True), metavar="X",
              default=DRIFT_THRESHOLD, show_default=True,
              help="The share of records not recognised that is a problem.")  # fmt: skip
@format_option()
def doctor(
    agents: tuple[str, ...],
    results: tuple[Path, ...],
    drift_threshold: float,
    output_format: str,
) -> int:
    """Check each agent CLI: is it there, does it start, can it log in, is its output known.

    Each one is started once, to ask for its version; no prompt is sent and nothing is spent.
    Only the names of credentials are printed. Exits with 1 where an agent has a problem.
    """
    counted = count_records(results) if results else None
    beside = next((one for one in DEFAULT_BASELINE_FILES if Path(one).is_file()), None)
    named = choose_agents(agents, DEFAULT_CASE_FILES[0], Path(beside) if beside else None)
    chosen = [find_provider(name) for name in named]
    facts = asyncio.run(examine(chosen, dict(os.environ), Path.cwd(), counted))
    found = [(one, diagnose(one, drift_threshold)) for one in facts]
    ill = [one.provider.name for one, findings in found if _is_ill(findings)]
    if output_format == "json":
        click.echo(json.dumps([_describe_facts(*one) for one in found], indent=2))
    else:
        for one, findings in found:
            click.echo("\n".join(_lines(one, findings)))
        click.echo(_conclude(ill, len(found)))
        if warning := find_credentials(Path.cwd(), os.environ).warning:
            click.echo(warning)
    return ExitCode.GATE_FAILED if ill else ExitCode.PASSED


def _is_ill(findings: Sequence[Finding]) -> bool:
    return any(finding.level is Level.PROBLEM for finding in findings)


def _lines(facts: Facts, findings: Sequence[Finding]) -> list[str]:
    lines = [f"{facts.provider.name}: {facts.provider.title}"]
    for one in findings:
        lines.append(f"  {one.level.value:<8} {one.check:<12} {one.text}")
        if one.remedy and one.level is not Level.OK:
            lines.append(f"{'':24}remedy: {one.remedy}")
    return lines


def _conclude(ill: Sequence[str], known: int) -> str:
    if not ill:
        return f"no problem with {count(known, 'agent')}"
    return f"{len(ill)} of {known} agents cannot be measured as they are: {', '.join(ill)}"


def _describe_facts(facts: Facts, findings: Sequence[Finding]) -> dict[str, Any]:
    tested = facts.provider.tested_versions
    return {
        "name": facts.provider.name,
        "ok": not _is_ill(findings),
        "program": facts.program,
        "path": facts.path or None,
        "version": facts.version,
        "tested_versions": list(tested) if tested else None,
        "credentials": {
            "variables": list(facts.variables),
            "login_files": list(facts.login_files),
        },
        "skills": dict(facts.skills),
        "drift": None
        if facts.counted is None
        else {
            version: {
                "recognised": one.recognised,
                "unrecognised": one.unrecognised,
                "share": one.drift,
            }
            for version, one in facts.counted.items()
        },
        "findings": [
            {
                "check": one.check,
                "level": one.level.value,
                "text": one.text,
                "remedy": one.remedy or None,
            }
            for one in findings
        ],
    }
