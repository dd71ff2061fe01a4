"""The command that is offered to measure a pair again."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.results.model import Options
from routing_action.results.rerun import build_run_command, select_case
from tests.support.result_rows import make_results


def options(**changes: Any) -> Options:  # noqa: ANN401 - any field
    """A batch's options, all at their defaults but for the changes."""
    return make_results().options.model_copy(update=changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"cases_file": "cases.json"}, ""),
        ({"cases_file": "tests/my cases.json"}, "--cases 'tests/my cases.json' "),
        ({"replay": "r", "cases_file": "r/cases.json"}, "--replay=r "),
        ({"replay": "r", "cases_file": "other.json"}, "--replay=r --cases other.json "),
        ({"replay": "r", "trials": 3}, "--replay=r "),
        ({"trials": 3}, "--trials 3 "),
        ({"skills": "my skills"}, "--skills 'my skills' "),
        ({"provider_models": {"claude": "m", "codex": "n"}}, "--provider-model claude:m "),
        ({"provider_models": {"codex": "n"}}, ""),
        ({"timeout_seconds": 20.0}, "--timeout-seconds 20 "),
        ({"provider_timeouts": {"claude": 7.5}}, "--timeout-seconds 7.5 "),
        ({"idle_timeout_seconds": 9.0}, "--idle-timeout-seconds 9 "),
        ({"subagent_loads": "ignore"}, "--subagent-loads ignore "),
        ({"allow_log_fallback_pass": True}, "--allow-log-fallback-pass "),
        ({"stop_early": True}, "--stop-early "),
        ({"config_file": "routing.toml"}, ""),
        ({"config_file": "my own.toml"}, "--config 'my own.toml' "),
        ({"max_turns": 7}, "--max-turns 7 "),
        ({"max_unit_cost_usd": 0.25}, "--max-unit-cost-usd 0.25 "),
        ({"workspace": "shared"}, "--workspace shared "),
    ],
)
def test_a_rerun_keeps_every_option_that_changes_what_is_measured(
    changes: dict[str, Any], words: str
) -> None:
    """Copied as it stands, it starts the same agents in the same way, and a replay stays one."""
    command = build_run_command(options(**changes), "claude", "./test.sh")
    assert command == f"./test.sh {words}--agents claude"


def test_a_case_is_put_behind_the_command() -> None:
    """Names are quoted for the shell."""
    assert select_case("run", "a b") == "run --case-id 'a b'"
