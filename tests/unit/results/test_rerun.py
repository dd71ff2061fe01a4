"""The command that is offered to measure a pair again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from routing_action.results.model import Options
from routing_action.results.rerun import add_history, build_run_command, run_program, select_case
from tests.support.command_line import ROOT
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
        ({"replay": "r", "trials": 3}, "--replay=r --trials 3 "),
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
        ({"confirm": 2}, "--confirm 2 "),
        (
            {
                "confirm": "auto",
                "detect": 0.25,
                "false_alarm": 0.05,
                "max_confirm": 8,
                "history": "my past",
            },
            "--confirm auto --false-alarm 0.05 --history 'my past' ",
        ),
        ({"confirm": "auto", "history": "/past"}, "--confirm auto --history /past "),
        ({"confirm": "auto", "history": "/past", "matrix_key": "k"}, "--confirm auto "),
        ({"config_file": "routing.toml"}, ""),
        ({"config_file": "my own.toml"}, "--config 'my own.toml' "),
        ({"max_turns": 7}, "--max-turns 7 "),
        ({"max_unit_cost_usd": 0.25}, "--max-unit-cost-usd 0.25 "),
        ({"workspace": "shared"}, "--workspace shared "),
        ({"max_parallel": 1, "log_scan": True}, "--max-parallel 1 "),
        ({"max_parallel": 1, "log_scan": False}, "--max-parallel 1 --disable-log-scan "),
        ({"max_parallel": 8}, "--max-parallel 8 "),
        ({"log_scan": True}, "--enable-log-scan "),
        (
            {"log_scan": True, "allow_log_fallback_pass": True},
            "--enable-log-scan --allow-log-fallback-pass ",
        ),
        ({"log_max_files": 5, "log_max_bytes": 9}, "--log-max-files 5 --log-max-bytes 9 "),
        ({"max_cost_usd": 0.5}, "--max-cost-usd 0.5 "),
        ({"throttle_retries": 0}, "--throttle-retries 0 "),
        ({"max_output_mb": 1}, "--max-output-mb 1 "),
        ({"timeout_seconds": 1234567.5}, "--timeout-seconds 1234567.5 "),
        ({"fail_on_infra": True, "shard": "1/2", "matrix_key": "k"}, ""),
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


def write_script(text: str, mode: int) -> None:
    """A test.sh in the current folder."""
    Path("test.sh").write_text(text, encoding="utf-8")
    Path("test.sh").chmod(mode)


def test_the_short_way_is_named_where_it_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a test.sh that a repository has for its own tests, nor one that cannot be started."""
    monkeypatch.chdir(tmp_path)
    assert run_program() == "routing-action run"
    write_script("exec pytest\n", 0o755)
    assert run_program() == "routing-action run"
    write_script((ROOT / "test.sh").read_text("utf-8"), 0o644)
    assert run_program() == "routing-action run"
    Path("test.sh").chmod(0o755)
    assert run_program() == "./test.sh"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("run --trials 5 --agents a", "run --agents a --confirm auto --history 'a b'"),
        ("run --confirm 3 --agents a", "run --agents a --confirm auto --history 'a b'"),
        ("run --confirm auto --agents a", "run --confirm auto --agents a --history 'a b'"),
        ("run --confirm auto --history h", "run --confirm auto --history h"),
    ],
)
def test_a_known_history_tells_how_often_to_run(command: str, told: str) -> None:
    """In place of another number of trials, and once."""
    assert add_history(command, "a b") == told
