"""`--changed-from` with a history: what a skill's body moves, and with `--neighbours` its text."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from routing_action.results.past.history import HistoryLine
from tests.support.command_line import Finished, run_command
from tests.support.past import write_history
from tests.support.pull_request import FILES, STEAL, SUCCESS, PullRequest, skill

DEPLOYING = ".claude/skills/deploying/SKILL.md"
REWORDED = skill("deploying", "Puts a service into production.")


@pytest.fixture
def change(tmp_path: Path) -> PullRequest:
    """With a history in which each case loads its own skill."""
    loaded = {"deploy": "deploying", "notes": "writing-notes"}
    lines = [
        HistoryLine(
            at="2026-01-01T00:00:00Z",
            commit="c" * 40,
            run="1",
            batch="b",
            case_id=case_id,
            agent="claude",
            passes=1,
            measured=1,
            trials=1,
            loaded=(name,),
        )
        for case_id, name in loaded.items()
    ]
    write_history(tmp_path / "history", lines)
    return PullRequest(tmp_path)


def planned(change: PullRequest, *options: str) -> list[str]:
    """The cases of the plan."""
    words = " ".join(("--history", str(change.folder / "history"), *options))
    found = change.job("plan").use(
        "plan", agents="claude", changed_from="origin/main", extra_arguments=words
    )
    legs = json.loads(found["matrix"])["include"]
    return sorted(one for leg in legs for one in leg["case_ids"].split(","))


def test_the_history_tells_which_cases_loaded_a_skill(change: PullRequest) -> None:
    """The body of a skill moves those that loaded it, and those that name it."""
    change.propose({DEPLOYING: f"{FILES[DEPLOYING]}\nMore.\n"})
    assert planned(change) == ["deploy"]


def test_a_case_that_no_agent_has_measured_is_never_left_out(change: PullRequest) -> None:
    """Nobody knows what it loads."""
    (change.folder / "history" / "2026-01.jsonl").unlink()
    change.propose({DEPLOYING: f"{FILES[DEPLOYING]}\nMore.\n"})
    assert planned(change, "--neighbours") == ["deploy", "notes"]


def test_a_description_moves_all_cases_unless_neighbours_are_asked_for(change: PullRequest) -> None:
    """The safe way is the default."""
    change.propose({DEPLOYING: REWORDED})
    assert planned(change) == ["deploy", "notes"]
    assert planned(change, "--neighbours") == ["deploy"]


def test_a_neighbour_that_takes_a_prompt_is_near_to_it(change: PullRequest) -> None:
    """Its new words are those of the other case's prompt."""
    change.propose(STEAL)
    assert planned(change, "--neighbours") == ["deploy", "notes"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(REWORDED.replace("---\n\n", "model: x\n---\n\n"), id="another field too"),
        pytest.param(None, id="removed"),
        pytest.param("no frontmatter", id="without frontmatter"),
    ],
)
def test_what_is_more_than_a_new_wording_moves_all(change: PullRequest, text: str | None) -> None:
    """Only the words of a description can be compared."""
    change.propose({DEPLOYING: text})
    assert planned(change, "--neighbours") == ["deploy", "notes"]


def call_plan(change: PullRequest, *options: str) -> Finished:
    """At a desk."""
    words = ("plan", "--agents", "claude", "--changed-from", "main", *options)
    return run_command(words, change.folder / "checkout", {"PATH": os.environ["PATH"]})


def test_what_was_left_out_is_said_as_it_is(change: PullRequest) -> None:
    """A reworded description can still move a case that is not near to it."""
    change.propose({DEPLOYING: REWORDED})
    history = ("--history", str(change.folder / "history"))
    done = call_plan(change, "--neighbours", *history)
    assert "left out: notes (not near to what changed)" in done.stderr
    assert "--history DIR" not in done.stderr
    without = call_plan(change, "--neighbours")
    assert "--neighbours leaves no case out without a history" in without.stderr
    assert "all 2 cases" in without.stderr


def test_a_history_that_is_not_there_is_refused(change: PullRequest) -> None:
    """Else every case would be selected without a word."""
    change.propose({DEPLOYING: REWORDED})
    done = call_plan(change, "--history", "nope")
    assert (done.code, "nope: is no folder" in done.stderr) == (2, True)
    with (change.folder / "history" / "2026-01.jsonl").open("a", encoding="utf-8") as file:
        file.write("{\n")
    done = call_plan(change, "--history", str(change.folder / "history"))
    assert (done.code, "1 line of the history cannot be read" in done.stderr) == (0, True)


def test_the_gate_is_neutral_where_a_description_left_cases_out(change: PullRequest) -> None:
    """It names what was left out, and why that matters."""
    change.propose({DEPLOYING: REWORDED})
    words = f"--history {change.folder / 'history'} --neighbours"
    plan = change.job("plan").use(
        "plan", agents="claude", changed_from="origin/main", extra_arguments=words
    )
    change.measure(case_ids="deploy")
    needs = {"plan": {"result": "success", "outputs": {"matrix": plan["matrix"]}}, **SUCCESS}
    found = change.judge(needs=json.dumps(needs))
    assert found.conclusion == "neutral"
    assert "notes, although" in found.delta["reasons"][0]
    assert "changed its description" in found.delta["reasons"][0]


def test_neighbours_without_a_commit_to_compare_with_is_a_mistake(change: PullRequest) -> None:
    """Nothing would be narrowed."""
    change.propose({"README.md": "x"})
    found = change.job("plan").use("plan", agents="claude", extra_arguments="--neighbours")
    assert "--changed-from" in found["stderr"]
