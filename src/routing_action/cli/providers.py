"""`routing-action providers list`, and `doctor` beside it: the agent CLIs that are known."""

from __future__ import annotations

import json
from typing import Any

import click

from routing_action.agents.discovery import DEFAULT_AGENTS
from routing_action.agents.provider import Provider
from routing_action.cli.doctor import command as doctor
from routing_action.cli.options import config_option, known_agents


@click.group("providers", short_help="List the agent CLIs that are known, and check them.")
def command() -> None:
    """Look at the agent CLIs that are known."""


command.add_command(doctor)


@command.command("list")
@config_option
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text",
              show_default=True)  # fmt: skip
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
