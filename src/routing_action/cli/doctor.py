"""`routing-action providers doctor`: what is wrong about the agent CLIs on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from routing_action.agents.diagnosis import DRIFT_THRESHOLD, Facts, Finding, Level, diagnose
from routing_action.agents.discovery import DEFAULT_AGENTS
from routing_action.cli.options import config_option, find_provider, split_list
from routing_action.errors import ExitCode


@click.command("doctor")
@click.option("--agents", multiple=True, metavar="NAMES",
              help="The agent CLIs. Default: claude,codex,copilot.")  # fmt: skip
@config_option
@click.option("--results-dir", "results", multiple=True, type=click.Path(path_type=Path),
              metavar="DIR", help="Results of live runs, to tell the drift by (repeatable).",
              )  # fmt: skip
@click.option("--drift-threshold", type=click.FloatRange(0, 1, min_open=True), metavar="X",
              default=DRIFT_THRESHOLD, show_default=True,
              help="The share of records not recognised that is a problem.")  # fmt: skip
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text",
              show_default=True)  # fmt: skip
def command(
    agents: tuple[str, ...],
    results: tuple[Path, ...],
    drift_threshold: float,
    output_format: str,
) -> int:
    """Check each agent CLI: is it there, does it start, can it log in, is its output known.

    Each one is started once, to ask for its version; no prompt is sent and nothing is paid for.
    Credentials are told by their names alone. Exits with 1 where an agent has a problem.
    """
    # The engine is imported only where a process is really started.
    import asyncio  # noqa: PLC0415

    from routing_action.run.doctor import count_records, examine  # noqa: PLC0415

    counted = count_records(results) if results else None
    chosen = [find_provider(name) for name in split_list(agents) or DEFAULT_AGENTS]
    facts = asyncio.run(examine(chosen, dict(os.environ), Path.cwd(), counted))
    found = [(one, diagnose(one, drift_threshold)) for one in facts]
    ill = [one.provider.name for one, findings in found if _is_ill(findings)]
    if output_format == "json":
        click.echo(json.dumps([_describe(*one) for one in found], indent=2))
    else:
        for one, findings in found:
            click.echo("\n".join(_lines(one, findings)))
        click.echo(_conclude(ill, len(found)))
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


def _conclude(ill: Sequence[str], count: int) -> str:
    if not ill:
        return f"no problem with {count} agent{'' if count == 1 else 's'}"
    return f"{len(ill)} of {count} agents cannot be measured as they are: {', '.join(ill)}"


def _describe(facts: Facts, findings: Sequence[Finding]) -> dict[str, Any]:
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
