"""The command lines that the action's inputs come to."""

from __future__ import annotations

from pathlib import Path

from routing_action.action.arguments import find_durations, plan_arguments, run_arguments
from routing_action.action.inputs import Inputs, variable


def given_inputs(**values: str) -> Inputs:
    """Inputs as action.yml sets them; `_` in a name stands for `-`."""
    return Inputs({variable(name.replace("_", "-")): value for name, value in values.items()})


def words(inputs: Inputs) -> list[str]:
    """The run of a leg called `k` in its second attempt."""
    return run_arguments(
        inputs, ["claude"], key="k", attempt=2, folder=Path("f"), batch_file=Path("b")
    )


def test_a_leg_without_inputs_runs_every_case_of_its_agent() -> None:
    """Only what names the leg is given."""
    expected = ["run", "--agents=claude", "--matrix-key=k", "--attempt=2", "--artifacts-root=f"]
    assert words(Inputs({})) == [*expected, "--batch-file=b"]


def test_every_input_of_a_leg_reaches_the_run() -> None:
    """A list by commas, extra arguments last, where they win."""
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
    assert found[-2:] == ["--seed", "1"]


def test_a_value_never_becomes_a_flag() -> None:
    """Someone who may start a workflow by hand types only values."""
    assert "--case-id=--workspace" in words(given_inputs(case_ids="--workspace"))


def test_a_plan_is_asked_for_as_json() -> None:
    """Whatever else is asked for."""
    inputs = given_inputs(agents="claude,codex", shards="4", changed_from="main")
    expected = ["plan", "--agents=claude,codex", "--shards=4", "--changed-from=main"]
    assert plan_arguments(inputs, [Path("r.json")]) == [
        *expected, "--results=r.json", "--format=json",
    ]  # fmt: skip
    assert plan_arguments(Inputs({}), []) == ["plan", "--format=json"]


def test_durations_come_from_files_and_from_folders_around_them(tmp_path: Path) -> None:
    """What an earlier run's artifacts hold."""
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").touch()
    inputs = given_inputs(durations=f"{tmp_path}\nx.json")
    found = [tmp_path / "a" / "results.json", tmp_path / "b" / "results.json", Path("x.json")]
    assert find_durations(inputs) == found
