"""A regression cannot be merged by an agent that helps itself, or by an edit out of sight."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from tests.support.pull_request import CASES, FILES, STEAL, PullRequest, stolen
from tests.support.repositories import check_out


def test_a_steal_is_red(change: PullRequest) -> None:
    """The ground of all that follows: the description of one skill takes the other's prompt."""
    change.propose(STEAL)
    found = change.check()
    assert (found.conclusion, found.is_red) == ("failure", True)
    assert found.row("deploy")["kind"] == "REGRESSION"
    assert found.row("notes")["kind"] == "OK"


def test_no_change_is_green(change: PullRequest) -> None:
    """And so is a change that moves no prompt."""
    change.propose({"README.md": "more words"})
    assert change.check().conclusion == "success"


def test_g1_an_agent_writes_an_artifact_of_a_later_attempt(change: PullRequest) -> None:
    """It lies in the folder that is uploaded, and claims attempt 9 of the same leg."""
    forged = change.folder / "forged"
    leg = change.leg_folder()
    inner = leg / "routing-results-claude-a9"
    change.propose(stolen(f"mkdir -p '{inner}'", f"cp '{forged}/results.json' '{inner}/'"))
    change.forge(forged, 9, deploy="pass", notes="pass")
    found = change.check()
    assert found.row("deploy")["kind"] == "REGRESSION"
    assert list(change.gate.legs.rglob("*-a9")) == []


def test_g1_an_artifact_speaks_for_another_leg(change: PullRequest) -> None:
    """The leg of one agent writes what the leg of another is to have measured."""
    change.propose(STEAL)
    change.measure("codex-leg")
    honest = change.gate.legs / "routing-results-codex-leg-a1"
    assert honest.is_dir()
    change.measure("other")
    forged = change.gate.legs / "routing-results-other-a1" / "routing-results-codex-leg-a9"
    change.forge(forged, 9, "codex-leg", deploy="pass", notes="pass")
    assert change.judge().is_red


LATE = """
import glob, json, os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for number in range(3): os.close(number)
end = time.time() + 15
while time.time() < end:
    for path in glob.glob(LEG + '/**/results.json', recursive=True):
        try: batch = json.load(open(path))
        except ValueError: continue
        if not batch['complete']: continue
        for row in batch['results']:
            row.update(status='pass', failure_kind=None, failure_category=None)
            row.update(missing_evidence=[])
        for pair in batch['pairs']: pair.update(status='pass')
        total = len(batch['results'])
        batch['summary'].update({'pass': total, 'fail': 0})
        json.dump(batch, open(path, 'w'))
        os._exit(0)
    time.sleep(0.01)
"""
"""Leaves session and environment behind, waits for the results, and has every row pass."""


def test_g2_a_child_that_hides_rewrites_the_results(change: PullRequest) -> None:
    """It leaves its session and its environment, and waits for the file."""
    leg = change.runner("claude")
    script = change.folder / "late.py"
    script.write_text(LATE.replace("LEG", repr(str(leg))), encoding="utf-8")
    change.propose(stolen(f"env -i '{sys.executable}' '{script}' </dev/null >/dev/null 2>&1"))
    job = change.job("claude")
    found = job.use("run", agents="claude", matrix_key="claude")
    time.sleep(1)
    change.gate.legs.mkdir(parents=True)
    Path(found["folder"]).rename(change.gate.legs / found["artifact-name"])
    assert change.judge().is_red


ELSEWHERE: dict[str, str | None] = {
    **{name: text for name, text in FILES.items() if name.startswith(".claude")},
    "evals/cases.json": FILES["cases.json"],
    "evals/provider-baseline.json": FILES["provider-baseline.json"],
}


@pytest.mark.parametrize("folder", ["", "tests/agent-routing/"])
def test_g4_a_baseline_that_is_moved_away_still_decides(tmp_path: Path, folder: str) -> None:
    """The workflow names the cases alone; the base commit had its baseline beside them."""
    change = PullRequest(tmp_path, ELSEWHERE)
    lowered = json.loads(FILES["provider-baseline.json"] or "")
    lowered["deploy"]["claude"]["expected_status"] = "fail"
    place = f"{folder}provider-baseline.json"
    change.propose({**STEAL, "evals/provider-baseline.json": None, place: json.dumps(lowered)})
    change.measure(cases="evals/cases.json")
    found = change.judge(cases="evals/cases.json")
    assert found.is_red
    assert found.row("deploy")["kind"] == "REGRESSION"
    assert "evals/provider-baseline.json" in found.text("comment.md")


def test_g8_an_agent_of_the_base_that_nobody_measured_is_red(tmp_path: Path) -> None:
    """Its leg was taken out of the workflow."""
    both = {
        case["case_id"]: {one: {"expected_status": "pass"} for one in ("claude", "codex")}
        for case in CASES
    }
    change = PullRequest(tmp_path, {**FILES, "provider-baseline.json": json.dumps(both)})
    change.propose({"README.md": "x"})
    change.measure()
    found = change.judge(agents="")
    assert found.is_red
    assert "codex" in found.text("comment.md")


def test_g10_results_of_another_corpus_are_red(change: PullRequest) -> None:
    """They name the same commit."""
    change.propose(STEAL)
    easy = change.folder / "easy.json"
    cases = [{**case, "expected_skill": ""} for case in CASES]
    easy.write_text(json.dumps(cases), encoding="utf-8")
    change.measure(cases=str(easy))
    assert change.judge(cases="cases.json").is_red


def test_g14_of_two_merge_bases_the_strictest_decides(tmp_path: Path) -> None:
    """A criss-cross history has two; the younger one was lowered, and dates can be forged."""
    change = PullRequest(tmp_path)
    origin = change.origin
    lowered = json.loads(FILES["provider-baseline.json"] or "")
    lowered["deploy"]["claude"]["expected_status"] = "fail"
    origin.start("change")
    weak = origin.commit({"provider-baseline.json": json.dumps(lowered)}, day=30)
    origin.switch("main")
    strict = origin.commit({"other.txt": "x"}, day=2)
    origin.merge(weak, day=31)
    origin.git("checkout", "--quiet", strict, "--", "provider-baseline.json")
    origin.commit(day=32)
    origin.switch("change")
    origin.merge(strict, day=33)
    origin.commit(STEAL, day=34)
    origin.start("merge")
    origin.switch("main")
    change.checkout = check_out(origin, tmp_path / "checkout", "refs/heads/merge", depth=None)
    assert len(change.checkout.git("merge-base", "--all", "origin/main", "HEAD").split()) == 2
    found = change.check()
    assert found.is_red
    assert found.row("deploy")["kind"] == "REGRESSION"
