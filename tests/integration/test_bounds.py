"""What bounds a batch: cost, turns, lanes, and retries of throttling alone."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import subprocess
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext
from routing_action.corpus.units import Unit
from routing_action.evidence.outcome import Outcome
from routing_action.files.redaction import Redactor
from routing_action.results.batch_folder import BatchFolder
from routing_action.run.launcher import Launch, Launcher, Parts
from routing_action.run.lifecycle import LifecycleLog, Ports, Stop, new_uuid
from routing_action.run.limits import Brakes
from routing_action.run.settings import Outputs, RunSettings
from routing_action.run.unit import UnitRunner
from tests.support.builders import case_of
from tests.support.command_line import ROOT, Finished, Project, loads
from tests.support.result_rows import make_row

QUICK = ROOT / "tests" / "fakes" / "quick_agent.sh"
SPENDER = ROOT / "tests" / "fakes" / "spender.sh"
QUARTER = {"prompt": "please load:foo cost:0.25"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project, whose fake agent counts how often it was started."""
    project = Project(tmp_path)
    project.options = ("--starts", str(tmp_path / "starts.txt"))
    return project


def starts(project: Project) -> int:
    """How often an agent was started."""
    file = project.root / "starts.txt"
    return len(file.read_text("utf-8").splitlines()) if file.exists() else 0


def spending(count: int) -> list[dict[str, Any]]:
    """So many cases that pass and cost a quarter of a dollar each."""
    return [loads(f"c{n}", **QUARTER) for n in range(count)]


# ---- cost of a batch


def test_p9_a_batch_that_has_cost_its_cap_starts_nothing_more(project: Project) -> None:
    """Hours of spending end at the cap: the rest is not run, and says why."""
    project.write_cases(*spending(4))
    done = project.run("--max-parallel", "1", "--max-cost-usd", "0.5")
    assert done.column("outcome") == ["completed"] * 2 + ["not_run"] * 2
    assert done.column("status") == ["pass"] * 2 + ["infra_error"] * 2
    assert "its cap is 0.5 USD" in done.column("error")[2]
    assert starts(project) == 2
    assert done.results["complete"] is True
    assert "cost known: 0.5000 USD of 2 runs" in done.stderr
    assert "claude:c0 -> completed" in done.stderr


@pytest.mark.slow
def test_what_was_not_run_is_not_green(project: Project) -> None:
    """Less than half was measured, so the run alone is red, by decision 0007."""
    project.write_cases(*spending(3))
    arguments = ("--max-parallel", "1", "--max-cost-usd")
    assert project.run(*arguments, "0.25").code == 1
    done = project.run(*arguments, "0.5")
    assert done.code == 0
    assert "verdict: every measured pair passed, 1 pair not measured" in done.stdout


def test_only_what_was_running_goes_beyond_the_cap(project: Project) -> None:
    """Three ran when the cap was reached; none was started afterwards."""
    project.options = (*project.options, "--sleep", "0.3")
    project.write_cases(*spending(9))
    done = project.run("--max-parallel", "3", "--max-cost-usd", "0.25")
    assert starts(project) == 3
    assert done.column("outcome").count("completed") == 3
    assert done.column("outcome").count("not_run") == 6


def test_the_options_tell_a_reader_of_the_bounds(project: Project) -> None:
    """results.json holds what was asked for."""
    project.write_cases(*spending(1))
    done = project.run(
        *("--max-cost-usd", "2.5", "--max-unit-cost-usd", "0.75", "--max-turns", "9"),
        *("--max-parallel-provider", "claude:2", "--throttle-retries", "1"),
    )
    options = done.results["options"]
    assert {name: options[name] for name in ("max_cost_usd", "max_unit_cost_usd", "max_turns")} == {
        "max_cost_usd": 2.5,
        "max_unit_cost_usd": 0.75,
        "max_turns": 9,
    }
    assert options["provider_lanes"] == {"claude": 2}
    assert options["throttle_retries"] == 1


def test_a_resumed_batch_counts_what_it_had_cost_before(project: Project) -> None:
    """The cap is the batch's, however many lives it takes."""
    project.write_cases(*spending(3))
    first = project.run("--max-parallel", "1", "--max-cost-usd", "0.5")
    journal = first.artifacts / "journal.jsonl"
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    first_end = next(n for n, line in enumerate(lines) if line.startswith('{"unit_run_id"'))
    journal.write_text("".join(lines[: first_end + 1]), encoding="utf-8")
    again = project.call("run", "--resume", str(first.artifacts))
    assert again.column("outcome") == ["completed"] * 2 + ["not_run"]
    assert starts(project) == 2 + 1


def test_agents_that_tell_no_cost_are_named(project: Project) -> None:
    """The cap cannot hold for them, and nobody is to believe that it does."""
    script = shlex.join(["printf", "%s\\n", json.dumps({"type": "turn.completed"})])
    project.variables = {"AGENT_CODEX_TEMPLATE": f"{script} {{prompt}}"}
    project.write_cases(*spending(2))
    done = project.call("run", "--agents", "claude,codex", "--max-cost-usd", "5")
    assert "--max-cost-usd is not enforced for codex" in done.stderr
    assert "not reported, so not counted: codex" in done.stderr
    assert done.results["options"]["not_enforced"] == {"--max-cost-usd": ["codex"]}


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "much"])
@pytest.mark.parametrize("option", ["--max-cost-usd", "--max-unit-cost-usd"])
def test_a_cap_that_is_none_is_refused(project: Project, option: str, value: str) -> None:
    """Before anything is started."""
    project.write_cases(*spending(1))
    done = project.run(option, value)
    assert (done.code, starts(project)) == (2, 0)
    assert f"{option} {value!r}" in done.stderr


# ---- cost and turns of a unit


def spend(project: Project, *arguments: str) -> Finished:
    """One unit of the fake that tells its cost step by step."""
    words = [str(SPENDER), str(project.root / "starts.txt")]
    project.variables = {"AGENT_OPENCODE_TEMPLATE": f"{shlex.join(words)} {{prompt}}"}
    project.write_cases({"case_id": "a", "prompt": "p", "expected_skill": "foo"})
    return project.call("run", "--agents", "opencode", *arguments)


def test_p9_a_unit_is_ended_at_its_own_cap_where_the_stream_tells_the_cost(
    project: Project,
) -> None:
    """A unit that spends without end fails with `limit`, and what it cost is kept."""
    done = spend(project, "--max-unit-cost-usd", "0.5")
    (row,) = done.results["results"]
    assert (row["ended_by"], row["outcome"], row["status"]) == ("cost_limit", "limit", "fail")
    assert 0.5 <= row["cost_usd"] < 2.5
    assert "--max-unit-cost-usd" in row["error"]
    assert done.results["options"]["not_enforced"] == {}


@pytest.mark.slow
def test_a_unit_below_its_cap_is_left_alone(project: Project) -> None:
    """All ten steps were made and counted once."""
    (row,) = spend(project, "--max-unit-cost-usd", "3").results["results"]
    assert (row["ended_by"], row["cost_usd"]) == ("exit", 2.5)


def test_limits_that_a_cli_does_not_have_are_named(project: Project) -> None:
    """An option that cannot hold is said to, in the log and in results.json."""
    script = shlex.join(["printf", "%s\\n", json.dumps({"type": "turn.completed"})])
    project.variables = {"AGENT_CODEX_TEMPLATE": f"{script} {{prompt}}"}
    project.write_cases(*spending(1))
    done = project.call(
        "run", "--agents", "claude,codex", "--max-unit-cost-usd", "1", "--max-turns", "5"
    )
    both = ["claude", "codex"]  # a command of the user's own starts claude here
    assert done.results["options"]["not_enforced"] == {
        "--max-unit-cost-usd": both,
        "--max-turns": both,
    }
    assert "--max-turns is not enforced for claude, codex" in done.stderr


# ---- throttling


def test_a_throttled_unit_is_tried_again_and_its_record_says_so(project: Project) -> None:
    """The third attempt is measured; what all three used and cost is counted."""
    project.write_cases(loads("a", prompt="load:foo throttled:2 cost:0.25"))
    done = project.run()
    (row,) = done.results["results"]
    assert (row["status"], row["throttle_retries"], starts(project)) == ("pass", 2, 3)
    assert (row["cost_usd"], row["usage"]["output_tokens"]) == (0.75, 30)
    assert "tried again 2 times after: rate_limit, rate_limit" in row["notes"]
    assert "claude:a: rate_limit, again in 0.05 s (1 of 2)" in done.stderr


def test_a_unit_that_stays_throttled_is_an_infra_error(project: Project) -> None:
    """The retries are bounded."""
    project.write_cases(loads("a", prompt="load:foo throttled:9"))
    done = project.run("--throttle-retries", "1")
    assert done.column("failure_kind") == ["rate_limit"]
    assert done.column("throttle_retries") == [1]
    assert starts(project) == 2


@pytest.mark.parametrize("prompt", ["status:500", "status:401", "mention:foo", "status:402"])
def test_nothing_but_throttling_is_tried_again(project: Project, prompt: str) -> None:
    """A server's fault, a refused key, a failed case and a used-up quota are told at once."""
    project.write_cases(loads("a", prompt=prompt))
    done = project.run()
    assert (starts(project), done.column("throttle_retries")) == (1, [0])


def test_a_measured_verdict_is_kept_though_the_run_was_throttled_afterwards(
    project: Project,
) -> None:
    """The skill was loaded, then the API refused: a pass, and no second run."""
    project.write_cases(loads("a", prompt="load:foo status:429"))
    done = project.run()
    assert (starts(project), done.column("status")) == (1, ["pass"])


def test_retries_can_be_turned_off(project: Project) -> None:
    """--throttle-retries 0."""
    project.write_cases(loads("a", prompt="load:foo throttled:1"))
    project.run("--throttle-retries", "0")
    assert starts(project) == 1


def test_a_throttled_unit_is_not_tried_again_beyond_the_cap(project: Project) -> None:
    """A retry is a start like any other."""
    project.write_cases(loads("a", prompt="load:foo throttled:1 cost:0.25"))
    done = project.run("--max-cost-usd", "0.25")
    assert (starts(project), done.column("outcome")) == (1, ["rate_limit"])


@pytest.mark.parametrize(("after", "retries"), [("121", 0), ("0.01", 2)])
def test_a_wait_of_minutes_is_not_waited_for(project: Project, after: str, retries: int) -> None:
    """The unit is told as throttled at once."""
    project.write_cases(loads("a", prompt=f"throttled:9 after:{after}"))
    assert project.run().column("throttle_retries") == [retries]


@pytest.mark.slow
def test_a_unit_that_was_interrupted_in_its_pause_is_run_on_resume(project: Project) -> None:
    """Ctrl-C ends the wait at once; the unit counts as cancelled, not as measured."""
    project.write_cases(loads("a", prompt="load:foo throttled:1 after:60"))
    running = subprocess.Popen(
        project.command("run", "--agents", "claude"),
        cwd=project.root,
        env=project.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    stderr = ""
    while "again in 60 s" not in stderr:
        line = running.stderr.readline()
        assert line, stderr
        stderr += line
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 130
    folder = Path(stderr.splitlines()[0].removeprefix("ARTIFACT_DIR="))
    (row,) = json.loads((folder / "results.json").read_text("utf-8"))["results"]
    assert (row["outcome"], row["ended_by"]) == ("rate_limit", "cancelled")
    again = project.call("run", "--resume", str(folder))
    assert (again.code, again.column("status"), starts(project)) == (0, ["pass"], 2)


@pytest.mark.slow
def test_a_throttled_unit_is_not_tried_again_once_its_agent_was_stopped(project: Project) -> None:
    """The key was refused while it waited."""
    throttled = loads("a", prompt="throttled:9 after:1.2")
    project.write_cases(throttled, loads("b", prompt="sleep:0.3 status:401"))
    done = project.run()
    assert done.column("outcome") == ["rate_limit", "auth"]
    assert (starts(project), done.column("throttle_retries")) == (2, [0, 0])


# ---- lanes and stopped agents


def test_a_lane_bounds_one_agent_alone(project: Project) -> None:
    """The other slots stay free for other agents."""
    stamps = project.root / "stamps.txt"
    project.options = ("--stamps", str(stamps), "--sleep", "0.05")
    project.write_cases(*spending(3))
    done = project.run("--max-parallel", "4", "--max-parallel-provider", "claude:1")
    assert done.code == 0
    moments = sorted(
        tuple(map(float, line.split())) for line in stamps.read_text("utf-8").splitlines()
    )
    assert all(one[1] <= other[0] for one, other in pairwise(moments))
    assert "claude: 1 at once (as asked)" in done.stderr


@pytest.mark.parametrize("value", ["claude", "claude:0", "claude:many", "nobody:1", "claude:257"])
def test_a_lane_that_is_none_is_refused(project: Project, value: str) -> None:
    """The error names what was given."""
    project.write_cases(*spending(1))
    done = project.run("--max-parallel-provider", value)
    assert (done.code, starts(project)) == (2, 0)
    assert value.partition(":")[0] in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("status", ["401", "402"])
def test_units_that_wait_are_not_started_after_their_agent_was_stopped(
    project: Project, status: str
) -> None:
    """Two ran when the key or the quota failed; the other agent's units go on."""
    words = shlex.join([str(QUICK), str(project.root / "other.txt")])
    other = f"{words} {{prompt}}"
    project.variables = {"AGENT_OPENCODE_TEMPLATE": other}
    project.write_cases(*(loads(f"c{n}", prompt=f"sleep:0.1 status:{status}") for n in range(4)))
    done = project.call("run", "--agents", "claude,opencode", "--max-parallel-provider", "claude:2")
    outcomes = [row["outcome"] for row in done.results["results"] if row["agent"] == "claude"]
    assert outcomes.count("not_run") == 2
    assert starts(project) == 2
    assert len((project.root / "other.txt").read_text("utf-8").splitlines()) == 4


def test_a_unit_whose_agent_was_stopped_while_it_was_prepared_is_not_started(
    tmp_path: Path,
) -> None:
    """Its workspace is taken away again, and the CLI never ran."""
    brakes = Brakes()
    left: list[str] = []

    class Preparing(Launcher):
        """Another unit ends with a refused key just when this one is ready."""

        def prepare(self, unit: Unit, unit_run_id: str) -> Launch:
            brakes.judge(make_row(agent="claude", outcome=Outcome.AUTH, error="no key"))
            program = ("touch", str(tmp_path / "ran"))
            return Launch(program, tmp_path, {}, ReadContext(), close=lambda: left)

    ports = Ports(lambda: datetime.now(UTC), new_uuid, lambda _line: None)
    runner = UnitRunner(
        {"claude": all_providers()["claude"]},
        RunSettings(tmp_path, Outputs(tmp_path)),
        Parts(
            BatchFolder(tmp_path, new_uuid()),
            Preparing(),
            Redactor(()),
            ports,
            Stop(asyncio.Event(), asyncio.Event()),
        ),
        LifecycleLog(ports.write_error, ports.now, "b"),
        brakes,
    )
    left.append("taken away")
    row, _ = asyncio.run(runner.run(Unit(0, "claude", case_of()), new_uuid()))
    assert (row.outcome, row.notes) == (Outcome.NOT_RUN, ("taken away",))
    assert "stopped after auth (no key)" in (row.error or "")
    assert not (tmp_path / "ran").exists()
