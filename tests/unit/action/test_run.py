"""What a leg and a plan start, and which agents a leg can measure, known beforehand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from routing_action.action.inputs import Inputs, variable
from routing_action.action.run import missing_credentials, plan_arguments, run_arguments
from routing_action.action.step import Step
from routing_action.agents.discovery import all_providers
from routing_action.github.context import Context

CODEX = all_providers()["codex"]


def given_inputs(**values: str) -> Inputs:
    """Inputs as action.yml sets them; `_` in a name stands for `-`."""
    return Inputs({variable(name.replace("_", "-")): value for name, value in values.items()})


def words(inputs: Inputs) -> list[str]:
    """The run of a leg called `k` in its second attempt."""
    context = Context(run_attempt=2)
    step = Step({"ROUTING_LEG": "k"}, inputs, context, Path(), run_command=lambda *_: 0)
    return run_arguments(step, ["claude"], Path("f"))


def test_a_leg_without_inputs_runs_every_case_of_its_agent() -> None:
    """Only what names the leg is given."""
    expected = ["run", "--agents=claude", "--matrix-key=k", "--attempt=2"]
    assert words(Inputs({})) == [*expected, "--artifacts-root=f", "--format=json"]


def test_every_input_of_a_leg_reaches_the_run() -> None:
    """A list by commas; extra arguments win over all but the place and form of the results."""
    inputs = given_inputs(
        categories="x\ny", case_ids="a", cases="c.json", skills="s", timeout_seconds="9",
        idle_timeout_seconds="8", max_parallel="7", trials="3", confirm="2", shard="1/2",
        replay="r", extra_arguments="--seed 1",
    )  # fmt: skip
    found = words(inputs)
    for word in (
        "--category=x,y", "--case-id=a", "--cases=c.json", "--skills=s", "--timeout-seconds=9",
        "--idle-timeout-seconds=8", "--max-parallel=7", "--trials=3", "--confirm=2",
        "--shard=1/2", "--replay=r",
    ):  # fmt: skip
        assert word in found
    assert found[-4:-2] == ["--seed", "1"]


def test_a_value_never_becomes_a_flag() -> None:
    """Someone who may start a workflow by hand types only values."""
    assert "--case-id=--workspace" in words(given_inputs(case_ids="--workspace"))


def test_a_plan_is_asked_for_as_json() -> None:
    """Whatever else is asked for."""
    inputs = given_inputs(
        agents="claude,codex", shards="4", changed_from="main", durations="r.json"
    )
    expected = ["plan", "--agents=claude,codex", "--shards=4", "--changed-from=main"]
    assert plan_arguments(inputs) == [*expected, "--results=r.json", "--format=json"]
    chosen = plan_arguments(given_inputs(agents="claude", pairs="claude:a, codex:b\ncodex:c"))
    assert chosen[1:3] == ["--agents=claude", "--pairs=claude:a,codex:b,codex:c"]
    every = "--agents=claude,codex,copilot"  # never those that the change's own baseline names
    assert plan_arguments(Inputs({})) == ["plan", every, "--format=json"]


def test_durations_come_from_files_and_from_folders_around_them(tmp_path: Path) -> None:
    """What an earlier run's artifacts hold."""
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").touch()
    inputs = given_inputs(durations=f"{tmp_path}\nx.json")
    found = [tmp_path / "a" / "results.json", tmp_path / "b" / "results.json", Path("x.json")]
    assert plan_arguments(inputs)[2:-1] == [f"--results={path}" for path in found]


def missing(**environ: str) -> dict[str, str]:
    """The reasons for codex alone."""
    return missing_credentials([CODEX], environ, from_fork=False)


def test_an_agent_without_a_secret_cannot_be_measured() -> None:
    """The reason names the variables; one of them is enough."""
    (reason,) = missing(OPENAI_API_KEY=" ").values()
    assert reason == (
        "OPENAI_API_KEY or CODEX_API_KEY is not set; give the secret to this step with env"
    )
    assert missing(CODEX_API_KEY="k") == {}


def test_a_pull_request_from_a_fork_is_named_as_the_cause() -> None:
    """Its author can do nothing about it."""
    reasons = missing_credentials([CODEX], {}, from_fork=True)
    assert reasons["codex"].startswith("a pull request from a fork gets no secrets")


def test_a_login_on_the_machine_is_enough(tmp_path: Path) -> None:
    """A runner of one's own may be logged in, also where a variable names the folder."""
    assert missing(HOME=str(tmp_path)) != {}
    for folder in (tmp_path / ".codex", tmp_path / "elsewhere"):
        folder.mkdir()
        (folder / "auth.json").write_text('{"OPENAI_API_KEY": "k"}', encoding="utf-8")
    assert missing(HOME=str(tmp_path)) == {}
    there = str(tmp_path / "elsewhere")
    assert missing(HOME="/nowhere", **dict.fromkeys(CODEX.home_variables, there)) == {}


def test_an_own_command_brings_its_own_login() -> None:
    """What it needs is not known here."""
    assert missing(AGENT_CODEX_TEMPLATE="x {prompt}") == {}


def test_an_agent_that_needs_no_secret_is_measured() -> None:
    """Its record names none."""
    assert missing_credentials([replace(CODEX, credential_variables=())], {}, from_fork=True) == {}
