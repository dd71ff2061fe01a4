"""The printed rerun line, pasted: it measures as the batch did that printed it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import FAKE_CLAUDE, Finished, Project, loads
from tests.support.printed import find_commands

RED = {**loads("red"), "prompt": "mention:foo"}
SELECTION = frozenset(
    "agents categories case_ids selected_case_ids sample seed shard matrix_key attempt".split()
)
"""What is rerun, not how."""
NOT_MEASURED = frozenset("fail_on_infra provider_lanes provider_timeouts provider_models".split())
"""How it is judged and how fast it goes; the last two are compared for the agent."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A red case, with a folder of skills, recordings and another case file."""
    project = Project(tmp_path / "my project")
    project.root.mkdir()
    project.write_cases(RED, loads("green"))
    (project.root / "my cases.json").write_bytes((project.root / "cases.json").read_bytes())
    skill = project.root / "my skills" / "foo" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: foo\ndescription: Foo.\n---\n", encoding="utf-8")
    folder = project.root / "my recordings" / "claude"
    folder.mkdir(parents=True)
    for name in ("red", "green"):
        (folder / f"{name}.stdout").write_text("no record\n", encoding="utf-8")
    return project


def rerun(project: Project, done: Finished) -> Finished:
    """Paste the printed line of the red case."""
    (line,) = {one for one in find_commands(done.stdout, "rerun") if one.endswith(" red")}
    words = shlex.split(line)
    assert words[:2] == ["routing-action", "run"]
    return project.call(*words[1:])


def measured_how(done: Finished) -> dict[str, Any]:
    """The options, without those that say only what was selected."""
    options = done.results["options"]
    own = {
        "timeout": options["provider_timeouts"].get("claude", options["timeout_seconds"]),
        "model": options["provider_models"].get("claude"),
    }
    left_out = SELECTION | NOT_MEASURED | {"timeout_seconds"}
    return {name: value for name, value in options.items() if name not in left_out} | own


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--max-parallel 1",
        "--max-parallel 1 --disable-log-scan",
        "--max-parallel 7 --enable-log-scan",
        "--enable-log-scan",
        "--enable-log-scan --allow-log-fallback-pass",
        "--disable-log-scan --allow-log-fallback-pass",
        "--enable-log-scan --log-max-files 3 --log-max-bytes 4000",
        "--max-output-mb 1 --throttle-retries 0 --max-turns 7",
        "--max-cost-usd 5 --max-unit-cost-usd 0.125",
        "--timeout-seconds 41.5 --idle-timeout-seconds 33",
        "--provider-timeout claude:77,codex:9 --provider-model codex:x",
        "--subagent-loads ignore --stop-early --trials 2",
        "--skills 'my skills' --cases 'my cases.json'",
        "--workspace shared --max-parallel 2",
        "--replay='my recordings'",
        "--replay='my recordings' --max-parallel 1 --cases 'my cases.json'",
        "--replay='my recordings' --enable-log-scan --stop-early --subagent-loads ignore",
        "--fail-on-infra --matrix-key k --shard 1/2 --max-parallel-provider claude:1",
        "--sample 2 --seed 4 --max-parallel 3",
    ],
)
def test_the_printed_line_reproduces_the_measurement(project: Project, options: str) -> None:
    """Every option that changes what is measured is in it."""
    first = project.run(*shlex.split(options))
    again = rerun(project, first)
    assert measured_how(again) == measured_how(first)
    assert again.column("case_id") == ["red"] * (2 if "--trials" in options else 1)
    assert again.column("status")[0] == next(
        row["status"] for row in first.results["results"] if row["case_id"] == "red"
    )


def test_the_line_keeps_the_model_and_a_number_of_units_from_the_environment(
    project: Project,
) -> None:
    """The variable need not be set where the line is pasted."""
    words = shlex.join(["python3", str(FAKE_CLAUDE)])
    project.variables = {
        "AGENT_CLAUDE_TEMPLATE": f"env MODEL={{model}} {words} {{prompt}}",
        "MAX_CONCURRENCY": "1",
    }
    first = project.run("--provider-model", "claude:opus 9")
    project.variables["MAX_CONCURRENCY"] = ""
    again = rerun(project, first)
    assert measured_how(again) == measured_how(first)
    assert (measured_how(again)["max_parallel"], measured_how(again)["model"]) == (1, "opus 9")
