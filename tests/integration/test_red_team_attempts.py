"""A gate that is green at last says what earlier attempts of the run came to."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from routing_action.action.post import NO_NEWS, marker_for
from routing_action.gate.deltas import read_delta
from routing_action.github.publication import RunLinks
from tests.support.pull_request import ROUTER, STEAL, PullRequest, Verdict


@pytest.fixture
def change(tmp_path: Path) -> PullRequest:
    """A pull request that moves no prompt."""
    change = PullRequest(tmp_path)
    change.propose({"README.md": "x"})
    return change


def earlier(change: PullRequest, attempt: int, key: str = "claude", **words: str) -> Path:
    """Forges the results of an attempt, where an earlier one's artifact is downloaded to."""
    folder = change.gate.legs / f"routing-results-{key}-a{attempt}" / "batch"
    change.forge(folder, attempt, key, **words)
    return folder


def judge(change: PullRequest, attempt: int, **inputs: str) -> Verdict:
    """The gate of an attempt of the run, with all that was uploaded so far."""
    gate = change.job("gate", attempt=attempt)
    gate.files.parent.mkdir(exist_ok=True)
    if gate.files != change.gate.files:
        change.gate.files.rename(gate.files)
    needs = '{"measure": {"result": "success"}}'
    return Verdict(gate, gate.use("aggregate", agents="claude", needs=needs, **inputs))


def test_g11_a_rerun_that_is_green_at_last_names_the_red_attempts(change: PullRequest) -> None:
    """Attempts 1 and 2 failed, the third passed."""
    earlier(change, 1, deploy="fail", notes="pass")
    earlier(change, 2, deploy="fail", notes="pass")
    change.measure(attempt=3)
    found = judge(change, 3)
    assert found.conclusion == "success"
    comment = found.text("comment.md")
    assert (
        "green at attempt 3 of 3, but red at attempts 1, 2 of this run: deploy on claude" in comment
    )
    assert "<br>red before: at attempts 1, 2 of this run" in comment
    assert found.row("deploy")["red_before"] == [1, 2]
    assert found.row("notes")["red_before"] == []


def test_g11_that_it_was_red_before_is_news(change: PullRequest) -> None:
    """And stands in summary and HTML."""
    earlier(change, 1, deploy="fail", notes="pass")
    change.measure(attempt=2)
    found = judge(change, 2)
    delta = read_delta(Path(found.outputs["delta"]))
    assert marker_for(delta, RunLinks()).news != NO_NEWS
    assert "red at attempt 1" in found.text("summary.md")
    assert "red at attempt 1" in found.text("report.html")


@pytest.mark.parametrize("word", ["fail", "infra"])
def test_g11_what_could_not_be_measured_before_is_named_too(change: PullRequest, word: str) -> None:
    """It was red all the same."""
    earlier(change, 1, deploy="pass", notes=word)
    change.measure(attempt=2)
    found = judge(change, 2)
    assert "green at attempt 2 of 2, but red at attempt 1 of this run: notes on claude" in (
        found.text("comment.md")
    )


def test_g11_a_rerun_of_the_gate_alone_tells_which_attempt_it_was(change: PullRequest) -> None:
    """The leg was measured at attempt 2, the gate judges at attempt 3."""
    earlier(change, 1, deploy="fail", notes="pass")
    change.measure(attempt=2)
    assert "green at attempt 2 of 3" in judge(change, 3).text("comment.md")


def test_g11_a_rerun_of_green_attempts_says_nothing(change: PullRequest) -> None:
    """Nothing was red."""
    earlier(change, 1, deploy="pass", notes="pass")
    change.measure(attempt=2)
    found = judge(change, 2)
    assert found.conclusion == "success"
    assert "attempt 1" not in found.text("comment.md")
    assert marker_for(read_delta(Path(found.outputs["delta"])), RunLinks()).news == NO_NEWS


def test_g11_a_pair_that_is_still_red_is_simply_red(tmp_path: Path) -> None:
    """Its earlier attempts tell nothing new."""
    change = PullRequest(tmp_path)
    change.propose(STEAL)
    earlier(change, 1, deploy="fail", notes="pass")
    change.measure(attempt=2)
    found = judge(change, 2)
    assert found.is_red
    assert "green at attempt" not in found.text("comment.md")


def test_g11_a_red_pair_that_the_last_attempt_left_out_is_named(change: PullRequest) -> None:
    """The rerun was narrowed: the gate is neutral, and says what was red."""
    earlier(change, 1, deploy="fail", notes="pass")
    change.measure(attempt=2, case_ids="notes")
    found = judge(change, 2)
    assert found.conclusion == "neutral"
    assert (
        "not measured again at attempt 2, but red at attempt 1 of this run: deploy on claude"
        in found.text("comment.md")
    )


def test_g11_legs_have_attempts_of_their_own(change: PullRequest) -> None:
    """Only one of two was repeated."""
    earlier(change, 1, "second", notes="pass")
    earlier(change, 1, deploy="fail")
    change.measure(attempt=2, case_ids="deploy")
    found = judge(change, 2)
    assert found.conclusion == "success"
    assert "red at attempt 1 of this run: deploy on claude" in found.text("comment.md")


@pytest.mark.parametrize("content", ["{", "[]", '{"schema_version": 9}'])
def test_g11_a_broken_artifact_of_an_earlier_attempt_is_only_a_note(
    change: PullRequest, content: str
) -> None:
    """It decides nothing; the reports are complete."""
    folder = change.gate.legs / "routing-results-claude-a1"
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(content, encoding="utf-8")
    change.measure(attempt=2)
    found = judge(change, 2)
    assert found.conclusion == "success"
    notes: list[str] = found.delta["notes"]
    assert any("the results of an earlier attempt cannot be read" in note for note in notes)
    assert "deploy" in found.text("report.html")


def test_g11_a_broken_artifact_of_the_last_attempt_is_an_error(change: PullRequest) -> None:
    """An earlier one does not stand in for it."""
    earlier(change, 1, deploy="pass", notes="pass")
    folder = change.gate.legs / "routing-results-claude-a2"
    folder.mkdir(parents=True)
    (folder / "results.json").write_text("{", encoding="utf-8")
    assert judge(change, 2).is_red


def test_g11_totals_are_those_of_the_last_attempt(change: PullRequest) -> None:
    """Earlier ones cost money too, which is told apart."""
    add_costs(earlier(change, 1, deploy="fail", notes="pass"), 0.25)
    add_costs(earlier(change, 2, deploy="pass", notes="pass"), 0.5)
    found = judge(change, 2)
    totals: dict[str, Any] = found.delta["totals"]
    assert (totals["trials"], totals["cost_usd"], totals["superseded_cost_usd"]) == (2, 1.0, 0.5)
    assert "1.0000 USD (earlier attempts: 0.5000 USD more)" in (found.text("comment.md"))


def add_costs(folder: Path, usd: float) -> None:
    """Has each row cost this much."""
    file = folder / "results.json"
    text = file.read_text("utf-8")
    assert '"cost_usd":null' in text
    file.write_text(text.replace('"cost_usd":null', f'"cost_usd":{usd}'), encoding="utf-8")


WAVERING = """
import os, subprocess, sys
place, router, prompt = sys.argv[1:]
try:
    os.close(os.open(place, os.O_CREAT | os.O_EXCL))
    prompt = "x"
except FileExistsError:
    pass
sys.exit(subprocess.run([sys.executable, router, prompt]).returncode)
"""
"""Routes its first prompt to no skill, and then as the router does."""


def test_g11_retries_within_an_attempt_are_shown_as_flaky(change: PullRequest) -> None:
    """`--confirm` measures again what would be red; that it was red at first stays in view."""
    script = change.folder / "wavering.py"
    script.write_text(WAVERING, encoding="utf-8")
    words = [sys.executable, str(script), str(change.folder / "first"), str(ROUTER)]
    job = change.job("claude")
    job.variables = {"AGENT_CLAUDE_TEMPLATE": f"{shlex.join(words)} {{prompt}}"}
    given = {"agents": "claude", "matrix_key": "claude", "confirm": "2", "max_parallel": "1"}
    found = job.use("run", **given)
    shutil.copytree(found["folder"], change.gate.legs / found["artifact-name"])
    verdict = change.judge()
    assert verdict.conclusion == "success"
    assert "flaky: 2 of 3 passed" in verdict.text("comment.md")
