"""Flags and variables become settings, or an error that names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.errors import UsageError
from routing_action.run.settings import (
    Limits,
    LogScan,
    Outputs,
    RunSettings,
    build_command,
    limit_arguments,
    log_folders,
    parse_positive,
    resolve_max_parallel,
)

CLAUDE = all_providers()["claude"]
COPILOT = all_providers()["copilot"]
NASTY = "Fix `it`; $(rm -rf /) && echo \"{prompt}\" '{model}'\nnow"


@pytest.mark.parametrize(
    ("flag", "variable", "expected"), [(None, "", 4), (None, "2", 2), (3, "2", 3), (1, "x", 1)]
)
def test_the_flag_wins_over_the_variable_over_four(
    flag: int | None, variable: str, expected: int
) -> None:
    """--max-parallel, else MAX_CONCURRENCY, else 4."""
    assert resolve_max_parallel(flag, {"MAX_CONCURRENCY": variable}) == expected


@pytest.mark.parametrize("value", ["0", "-1", "many", "257", "1.5"])
def test_a_bad_max_concurrency_is_refused(value: str) -> None:
    """The error names the variable."""
    with pytest.raises(UsageError, match="MAX_CONCURRENCY"):
        resolve_max_parallel(None, {"MAX_CONCURRENCY": value})


@pytest.mark.parametrize("value", ["0", "-3", "soon", "inf", "nan"])
def test_a_deadline_must_be_a_number_above_zero(value: str) -> None:
    """The error names the flag."""
    with pytest.raises(UsageError, match="--timeout-seconds"):
        parse_positive(value, "--timeout-seconds", "seconds")


@pytest.mark.parametrize("provider", all_providers().values(), ids=lambda one: one.name)
def test_the_prompt_is_one_argument_and_stays_as_it_is(provider: object) -> None:
    """No quoting, no shell, and nothing inside a prompt is replaced."""
    command = build_command(provider, NASTY, "some-model", {})  # type: ignore[arg-type]
    assert NASTY in command
    assert any("some-model" in word for word in command)
    assert command.count(NASTY) == 1


def test_a_prompt_that_looks_like_an_option_is_none() -> None:
    """A prompt such as `--help me` must not be parsed by the CLI as a flag of its own."""
    assert build_command(CLAUDE, "--help me", None, {})[-1] == " --help me"


def test_the_model_goes_where_the_cli_takes_it() -> None:
    """Options stand before the prompt, and never between -p and its value."""
    command = build_command(COPILOT, "hello", "gpt-9", {})
    assert command[:5] == ("copilot", "--model", "gpt-9", "-p", "hello")


def test_a_template_is_split_without_a_shell() -> None:
    """Quotes group words; nothing is expanded."""
    environ = {"AGENT_CLAUDE_TEMPLATE": "my-cli 'two words' $HOME --ask={prompt} {model}"}
    command = build_command(CLAUDE, "a b", "m", environ)
    assert command == ("my-cli", "two words", "$HOME", "--ask=a b", "m")


@pytest.mark.parametrize("template", ["claude -p 'open", "claude -p prompt"])
def test_a_template_that_cannot_work_is_refused(template: str) -> None:
    """Unbalanced quotes, or no place for the prompt."""
    with pytest.raises(UsageError, match="AGENT_CLAUDE_TEMPLATE"):
        build_command(CLAUDE, "p", None, {"AGENT_CLAUDE_TEMPLATE": template})


def test_log_folders_are_separated_like_a_path() -> None:
    """Empty parts are dropped."""
    assert log_folders(CLAUDE, {"AGENT_CLAUDE_LOG_DIRS": "/a::/b c"}) == ("/a", "/b c")
    assert log_folders(CLAUDE, {}) == ()


@pytest.mark.parametrize(
    ("parallel", "asked", "allowed", "scans", "gates"),
    [
        (1, None, False, True, True),
        (4, None, False, False, False),
        (4, True, False, True, False),
        (4, True, True, True, True),
        (1, False, False, False, True),
    ],
)
def test_logs_are_read_and_count_in_serial_runs_alone(
    parallel: int, asked: bool | None, allowed: bool, scans: bool, gates: bool
) -> None:
    """In parallel they are off, and diagnostics only where they are switched on."""
    settings = RunSettings(
        Path(), Outputs(Path()), Limits(max_parallel=parallel), LogScan(asked, allowed)
    )
    assert (settings.scans_logs, settings.gates_on_logs) == (scans, gates)


def test_a_provider_can_have_a_deadline_of_its_own() -> None:
    """--provider-timeout wins for that agent alone."""
    limits = Limits(provider_timeouts={"codex": 5.0})
    assert (limits.timeout_for("codex"), limits.timeout_for("claude")) == (5.0, 300.0)


def test_limits_that_the_cli_has_stand_before_the_prompt() -> None:
    """They are plain arguments, beside the model's."""
    limits = limit_arguments(CLAUDE, Limits(max_turns=7, max_unit_cost_usd=0.5))
    assert limits == ("--max-turns", "7", "--max-budget-usd", "0.5")
    words = build_command(CLAUDE, "p", "m", {}, limits)
    assert words[-7:] == ("--model", "m", *limits, "p")
    assert build_command(CLAUDE, "p", None, {}, limits)[-5:] == (*limits, "p")


@pytest.mark.parametrize(("usd", "text"), [(1.0, "1.0"), (1e-05, "0.00001"), (2e6, "2000000.0")])
def test_an_amount_is_written_without_an_exponent(usd: float, text: str) -> None:
    """Whatever a CLI takes for a number."""
    limits = Limits(max_unit_cost_usd=usd)
    assert limit_arguments(CLAUDE, limits) == ("--max-budget-usd", text)


def test_a_cli_without_limits_gets_none() -> None:
    """An argument that it does not know would end it at once."""
    limits = Limits(max_turns=7, max_unit_cost_usd=0.5)
    assert limit_arguments(COPILOT, limits) == ()
    assert limit_arguments(CLAUDE, Limits()) == ()
