"""The command that measures pairs again as they were measured, from what results.json tells."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from routing_action.corpus.units import (
    DEFAULT_CASES_FILE,
    DEFAULT_CONFIG_FILE,
    DEFAULT_TIMEOUT_SECONDS,
)
from routing_action.results.model import Options

if TYPE_CHECKING:
    from routing_action.results.measured import MeasuredOptions

RUN_PROGRAM = "routing-action run"
"""How a run is started where the repository has no `./test.sh`."""


def run_program() -> str:
    """How a run is started here: the short way where the current folder has one."""
    return "./test.sh" if os.access("test.sh", os.X_OK) else RUN_PROGRAM


def build_run_command(options: Options | MeasuredOptions, agent: str, program: str) -> str:
    """The shell command for one agent; `program` is how a run is started, such as `./test.sh`.

    It holds every option that changes what is measured and is not at its default; a selection
    is put behind it: `--case-id NAME`.
    """
    words = [
        *_set_up(options),
        *_agent(options, agent),
        *_limits(options, agent),
        "--agents",
        agent,
    ]
    return " ".join((program, *map(shlex.quote, words)))


def _set_up(options: Options | MeasuredOptions) -> Iterator[str]:
    own = str(PurePath(options.replay) / "cases.json") if options.replay else ""
    if options.replay:
        yield f"--replay={options.replay}"
    if options.cases_file not in {"", DEFAULT_CASES_FILE, own}:
        yield from ("--cases", options.cases_file)
    if options.config_file not in (None, DEFAULT_CONFIG_FILE):
        yield from ("--config", options.config_file)
    if options.skills:
        yield from ("--skills", options.skills)
    if options.workspace != "isolated":
        yield from ("--workspace", options.workspace)


def _agent(options: Options | MeasuredOptions, agent: str) -> Iterator[str]:
    if agent in options.provider_models:
        yield from ("--provider-model", f"{agent}:{options.provider_models[agent]}")
    if options.max_unit_cost_usd is not None:
        yield from ("--max-unit-cost-usd", f"{options.max_unit_cost_usd:g}")
    if options.max_turns is not None:
        yield from ("--max-turns", str(options.max_turns))


def _limits(options: Options | MeasuredOptions, agent: str) -> Iterator[str]:
    seconds = options.provider_timeouts.get(agent, options.timeout_seconds)
    if seconds != DEFAULT_TIMEOUT_SECONDS:
        yield from ("--timeout-seconds", f"{seconds:g}")
    if options.idle_timeout_seconds is not None:
        yield from ("--idle-timeout-seconds", f"{options.idle_timeout_seconds:g}")
    # A replay set has its own number of trials.
    if options.trials > 1 and not options.replay:
        yield from ("--trials", str(options.trials))
    if options.subagent_loads != "count":
        yield from ("--subagent-loads", options.subagent_loads)
    if options.allow_log_fallback_pass:
        yield "--allow-log-fallback-pass"
    if options.stop_early:
        yield "--stop-early"


def select_case(command: str, case_id: str) -> str:
    """A run command for a single case."""
    return f"{command} --case-id {shlex.quote(case_id)}"
