"""`noise` and `noise measure` from the outside."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from routing_action.results.model import OfferedSkill
from tests.support.command_line import ROOT, Project, loads
from tests.support.result_rows import make_results, make_row

AGENT = ROOT / "tests" / "fakes" / "wavering_agent.py"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two steady pairs, one that wavers, and one that is known to fail."""
    project = Project(tmp_path)
    (tmp_path / "starts").mkdir()
    words = [sys.executable, str(AGENT), str(tmp_path / "starts")]
    project.variables["AGENT_CLAUDE_TEMPLATE"] = f"{shlex.join(words)} {{prompt}}"
    stories = {"one": "P", "two": "P", "weak": "PPF", "known": "F"}
    cases = (loads(name, prompt=f"{name} runs:{runs}") for name, runs in stories.items())
    project.write_cases(*cases)
    entries = {name: {"claude": {"expected_status": "pass"}} for name in stories}
    entries["known"] = {"claude": {"expected_status": "fail", "reason": "known"}}
    (tmp_path / "provider-baseline.json").write_text(json.dumps(entries), encoding="utf-8")
    return project


def write_batch(project: Project, name: str, commit: str, description: str = "") -> None:
    """A batch as another run left it."""
    results = make_results(make_row(case_id="one"))
    options = results.options.model_copy(update={"commit": commit})
    skill = OfferedSkill(name="a", description=description, path="a", agents=("claude",))
    changed = results.model_copy(update={"options": options, "skills": (skill,)})
    folder = project.root / name
    folder.mkdir()
    (folder / "results.json").write_text(changed.model_dump_json(by_alias=True), encoding="utf-8")


def write_history(project: Project) -> None:
    """Thirty trials of each pair but one."""
    folder = project.root / "history"
    folder.mkdir()
    told = {
        "at": "2026-11-01T00:00:00Z",
        "commit": "c",
        "run": "1",
        "batch": "b",
        "agent": "claude",
    }
    lines = (
        {**told, "case_id": name, "passes": passes, "measured": 30, "trials": 30, "cost_usd": 3.0}
        for name, passes in {"one": 30, "weak": 24, "known": 0}.items()
    )
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (folder / "2026-11.jsonl").write_text(text, encoding="utf-8")


def test_noise_says_what_each_setting_does_and_which_one_to_use(project: Project) -> None:
    """The pairs are those that should pass; the setting in use comes first."""
    write_history(project)
    done = project.call("noise", "--history", "history")
    assert done.code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "3 pairs expected to pass; 60 trials known, 30 of a pair at the median; nothing is known "
        "of 1 pair"
    )
    assert [re.split(r"  +", line)[0] for line in lines[1:6]] == [
        "setting",
        "--confirm auto (asked for)",
        "one trial",
        "--confirm 2",
        "--confirm auto --false-alarm 0.05",
    ]
    assert re.search(r"^one trial +2\d\.\d% .* 50% / 50% +90% / 90% +0\.0 +0\.00 USD$", lines[3])
    assert lines[-1] == "red without a cause in at most 1% of changes: use --confirm auto"
    assert "of the typical pair / of the worst one, claude:weak (24 of 30)" in done.stdout
    assert "of 200 draws of the pairs' rates (seed 1)" in done.stdout


def test_noise_as_json_holds_the_same(project: Project) -> None:
    """For a script, with all digits."""
    write_history(project)
    used = ("--confirm", "2", "--trials", "3", "--wanted", "0.000001")
    done = project.call("noise", "--history", "history", "--format", "json", *used)
    found = json.loads(done.stdout)
    assert (found["pairs"], found["trials"], found["recommended"]) == (3, 60, None)
    assert found["settings"][0]["options"] == "--trials 3 --confirm 2"
    assert found["settings"][0]["extra"] > 6
    assert {one["falls_to"] for one in found["settings"][0]["caught"]} == {0.5, 0.1}
    text = project.call("noise", "--history", "history", *used).stdout
    assert "none of these settings; lower --false-alarm" in text


def test_measuring_again_and_again_ends_as_asked_and_says_what_to_read(project: Project) -> None:
    """The same commit, one batch a run; `noise` reads them together."""
    done = project.call("noise", "measure", "--runs", "3", "--agents", "claude")
    assert done.code == 0, done.stderr
    first, following = done.stdout.splitlines()
    assert first == "ended after 3 runs, as asked"
    command = shlex.split(following.removeprefix("next: routing-action "))
    assert command == ["noise", "--results", "tests/agent-routing/artifacts"]
    assert "4 runs:" not in done.stderr
    shown = project.call(*command)
    assert shown.stdout.startswith("3 pairs expected to pass; 9 trials known, 3 of a pair at the")


def test_beside_other_batches_those_of_the_measuring_are_named(project: Project) -> None:
    """A batch of another day is not counted."""
    project.call("run", "--agents", "claude", "--case", "one")
    done = project.call("noise", "measure", "--runs", "2", "--agents", "claude", "--case", "one")
    command = done.stdout.splitlines()[-1].removeprefix("next: routing-action ")
    assert re.fullmatch(r"noise --results=tests/agent-routing/artifacts/\{[-\w]+,[-\w]+\}", command)
    expanded = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {command}"],
        capture_output=True,
        text=True,
        check=True,
    )
    shown = project.call(*expanded.stdout.splitlines())
    assert "2 trials known" in shown.stdout


def test_measuring_ends_where_more_is_of_no_use(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair whose rate is known well is not run again."""
    monkeypatch.setattr("routing_action.cli.noise_measure._KNOWN_WELL", 0.7)
    done = project.call(
        "noise", "measure", "--runs", "9", "--agents", "claude", "--case", "one,two"
    )
    assert done.stdout.splitlines()[0] == (
        "ended after 2 runs: more is of no use: every rate is known well"
    )


def test_measuring_ends_with_its_budget(project: Project) -> None:
    """What is known least is run first."""
    words = [sys.executable, str(ROOT / "tests" / "fakes" / "fake_claude.py")]
    project.variables["AGENT_CLAUDE_TEMPLATE"] = f"{shlex.join(words)} {{prompt}}"
    project.write_cases(*(loads(name, prompt="load:foo cost:0.4") for name in ("one", "two")))
    more = ("--agents", "claude", "--", "--max-parallel", "1")
    done = project.call("noise", "measure", "--runs", "9", "--max-cost-usd", "1.5", *more)
    assert done.stdout.splitlines()[0] == "ended after 2 runs: the budget is spent"
    assert done.stderr.count("run 2 of 9") == 1


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ((), "give --history DIR, or --results BATCH once or more"),
        (("--history", "x", "--results", "y"), "give one of --history and --results"),
        (("measure",), "--runs"),
        (("--detect", "1.5"), "--detect '1.5': must be between 0 and 1"),
        (("--detect", "1.5"), "such as 0.25"),
        (("--wanted", "2"), "such as 0.01"),
    ],
)
def test_a_question_that_names_nothing_is_an_error(
    project: Project, arguments: tuple[str, ...], cause: str
) -> None:
    """With what to give."""
    done = project.call("noise", *arguments)
    assert done.code == 2
    assert cause in done.stderr


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (("--case", "nope"), "nope"),
        (("--agents", "nope"), "nope"),
        (("stray",), "noise measure [OPTIONS]"),
        (("--", "--confirm", "auto"), "--confirm gives more trials to what failed"),
        (("--", "--confirm", "2"), "--confirm gives more trials to what failed"),
        (("--", "--trials", "x"), "noise measure [OPTIONS]"),
    ],
)
def test_what_cannot_be_measured_is_said_before_anything_runs(
    project: Project, given: tuple[str, ...], cause: str
) -> None:
    """A name that is not there, an argument too many, and what would bend the rates."""
    done = project.call("noise", "measure", "--runs", "2", *given)
    assert (done.code, cause in done.stderr, "run 1 of 2" in done.stderr) == (2, True, False)


@pytest.mark.parametrize("name", ["missing", "empty", "of-others"])
def test_a_folder_without_a_history_is_refused(project: Project, name: str) -> None:
    """It would look as if nothing were known."""
    (project.root / "empty").mkdir()
    (project.root / "of-others").mkdir()
    (project.root / "of-others" / "notes.txt").write_text("x", encoding="utf-8")
    done = project.call("noise", "--history", name)
    assert (done.code, f"{name}: " in done.stderr, "remedy: " in done.stderr) == (2, True, True)


def test_lines_of_a_history_that_cannot_be_read_are_told(project: Project) -> None:
    """They are left out, as in the other commands."""
    write_history(project)
    with (project.root / "history" / "2026-11.jsonl").open("a", encoding="utf-8") as file:
        file.write("{\n")
    done = project.call("noise", "--history", "history")
    assert "1 line of the history cannot be read" in done.stderr


def test_batches_that_are_not_alike_are_told(project: Project) -> None:
    """Of several commits, or with other skills: the change is no chance."""
    first, second = "a" * 40, "b" * 40
    write_batch(project, "one", first)
    write_batch(project, "again", first)
    write_batch(project, "later", second)
    write_batch(project, "reworded", first, "Does more.")
    same = project.call("noise", "--results", "one", "--results", "again")
    assert (same.code, same.stderr) == (0, "")
    later = project.call("noise", "--results", "one", "--results", "later").stderr
    assert f"the batches are of 2 commits ({first[:12]}, {second[:12]})" in later
    reworded = project.call("noise", "--results", "one", "--results", "reworded").stderr
    assert "in the batches claude had different skills or descriptions" in reworded
    assert "commits" not in reworded


def test_a_baseline_that_expects_no_pass_has_no_noise(project: Project) -> None:
    """Nothing is to be foreseen."""
    (project.root / "provider-baseline.json").write_text(
        '{"known": {"claude": {"expected_status": "fail", "reason": "x"}}}', encoding="utf-8"
    )
    write_history(project)
    assert project.call("noise", "--history", "history").code == 3
