"""`routing-action action STAGE`: the stages of the composite action, which action.yml starts."""

from __future__ import annotations

import click

from routing_action.action.stages import STAGES, run_stage
from routing_action.cli.main import run_command


@click.command("action", hidden=True)
@click.argument("stage", type=click.Choice(STAGES))
def command(stage: str) -> int:
    """Run a stage of the composite action; see action.yml."""
    return run_stage(stage, run_command)
