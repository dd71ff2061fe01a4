"""The command that measures pairs again as they were measured, from what results.json tells."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path, PurePath

from routing_action.corpus.units import (
    DEFAULT_CASES_FILE,
    DEFAULT_CONFIG_FILE,
    DEFAULT_LOG_BYTES,
    DEFAULT_LOG_FILES,
    DEFAULT_MAX_PARALLEL,
    DEFAULT_OUTAGE_AFTER,
    DEFAULT_OUTPUT_MB,
    DEFAULT_THROTTLE_RETRIES,
    DEFAULT_TIMEOUT_SECONDS,
)
from routing_action.evidence.chance_sequence import (
    DEFAULT_DETECT,
    DEFAULT_FALSE_ALARM,
    DEFAULT_MAX_CONFIRM,
)
from routing_action.files.plain_files import read_head
from routing_action.files.program import NAME, own_program
from routing_action.results.model import Options

RUN_PROGRAM = f"{NAME} run"
"""How a run is started where a person has the program installed."""

SHORT_WAY = "./test.sh"

_SHORT_WAY = b"routing_action run"
"""Stands in our `./test.sh`; many a repository has one of its own."""


def run_program() -> str:
    """How a run is started here: the short way where the current folder has ours."""
    is_ours = os.access("test.sh", os.X_OK) and _SHORT_WAY in read_head("test.sh", 2**16)
    return SHORT_WAY if is_ours else f"{own_program()} run"


def resume_command(folder: Path) -> str:
    """What continues the batch whose folder this is."""
    return f"{run_program()} --resume {shlex.quote(str(folder))}"


def build_run_command(options: Options, agent: str, program: str) -> str:
    """The shell command for one agent; `program` is how a run is started, such as `./test.sh`.

    It holds every option that changes what is measured and is not at its default; a selection
    is put behind it: `--case-id NAME`.
    """
    replay = options.replay
    own_cases = str(PurePath(replay) / "cases.json") if replay else ""
    has_cases = options.cases_file not in {"", DEFAULT_CASES_FILE, own_cases}
    model = options.provider_models.get(agent)
    seconds = options.provider_timeouts.get(agent, options.timeout_seconds)
    scans_logs = options.log_scan if options.log_scan != (options.max_parallel == 1) else None
    # None and False stand for options that are left out.
    values: dict[str, str | float | bool | None] = {
        f"--replay={replay}": bool(replay),
        "--cases": options.cases_file if has_cases else None,
        "--config": options.config_file if options.config_file != DEFAULT_CONFIG_FILE else None,
        "--skills": options.skills or None,
        "--workspace": options.workspace if options.workspace != "isolated" else None,
        "--provider-model": f"{agent}:{model}" if model is not None else None,
        "--max-parallel": _unless(options.max_parallel, DEFAULT_MAX_PARALLEL),
        "--max-cost-usd": options.max_cost_usd,
        "--max-unit-cost-usd": options.max_unit_cost_usd,
        "--max-turns": options.max_turns,
        "--max-output-mb": _unless(options.max_output_mb, DEFAULT_OUTPUT_MB),
        "--throttle-retries": _unless(options.throttle_retries, DEFAULT_THROTTLE_RETRIES),
        "--outage-after": _unless(options.outage_after, DEFAULT_OUTAGE_AFTER),
        "--timeout-seconds": _unless(seconds, DEFAULT_TIMEOUT_SECONDS),
        "--idle-timeout-seconds": options.idle_timeout_seconds,
        "--trials": _unless(options.trials, 1),
        **_confirm(options),
        "--subagent-loads": options.subagent_loads if options.subagent_loads != "count" else None,
        "--enable-log-scan": scans_logs is True,
        "--disable-log-scan": scans_logs is False,
        "--log-max-files": _unless(options.log_max_files, DEFAULT_LOG_FILES),
        "--log-max-bytes": _unless(options.log_max_bytes, DEFAULT_LOG_BYTES),
        "--allow-log-fallback-pass": options.allow_log_fallback_pass,
        "--stop-early": options.stop_early,
        "--agents": agent,
    }
    words: list[str] = []
    for name, value in values.items():
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            words += (name, value if isinstance(value, str) else f"{value:.15g}")
    return " ".join((program, *map(shlex.quote, words)))


def add_history(command: str, folder: str) -> str:
    """A run command that tells a fall from chance by this history, in place of other trials."""
    if " --confirm auto" not in command:
        command = f"{_TRIALS.sub('', command)} --confirm auto"
    own = "" if " --history " in command else f" --history {shlex.quote(folder)}"
    return command + own


_TRIALS = re.compile(r" --(?:trials|confirm) \d+(?= |$)")


def _confirm(options: Options) -> dict[str, str | float | None]:
    """The test of `--confirm`; a workflow's own history lies where no reader has one."""
    if options.confirm != "auto":
        return {"--confirm": _unless(options.confirm, 0)}
    folder = options.history or ""
    is_here = folder and not (options.matrix_key and PurePath(folder).is_absolute())
    return {
        "--confirm": options.confirm,
        "--detect": _unless(options.detect, DEFAULT_DETECT),
        "--false-alarm": _unless(options.false_alarm, DEFAULT_FALSE_ALARM),
        "--max-confirm": _unless(options.max_confirm, DEFAULT_MAX_CONFIRM),
        "--history": folder if is_here else None,
    }


def _unless(value: float | None, default: float) -> float | None:
    return None if value == default else value


def select_case(command: str, case_id: str) -> str:
    """A run command for a single case."""
    return f"{command} --case-id {shlex.quote(case_id)}"
