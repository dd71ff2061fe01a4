"""What decides is the strictest base, and the results are of the cases that are under review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.pull_request import BASELINE, CASES, STEAL, PullRequest
from tests.support.repositories import check_out

LOWERED = json.dumps({**BASELINE, "deploy": {"claude": {"expected_status": "fail"}}})


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize("count", [2, 3])
def test_g14_of_several_merge_bases_the_strictest_decides(
    tmp_path: Path, count: int, renamed: bool
) -> None:
    """All but one are lowered, and younger; the base branch can have another name."""
    change = PullRequest(tmp_path)
    origin = change.origin
    bases = [origin.git("rev-parse", "HEAD")]
    tips = []
    for number in range(count):
        origin.start(f"base-{number}")
        lowered = {"provider-baseline.json": LOWERED if number else json.dumps(BASELINE, indent=1)}
        tips.append(origin.commit(lowered, day=2 + number))
        origin.git("checkout", "--quiet", "--force", bases[0])
    main = "trunk" if renamed else "main"
    for name in (main, "change"):
        merge_all(origin, name, tips)
    origin.commit(STEAL, day=40)
    origin.start("merge")
    origin.switch(main)
    change.checkout = check_out(origin, tmp_path / "checkout", "refs/heads/merge", depth=None)
    found_bases = change.checkout.git("merge-base", "--all", f"origin/{main}", "HEAD").split()
    assert len(found_bases) == count
    change.measure()
    gate = change.job("gate")
    gate.variables = {**gate.variables, "GITHUB_BASE_REF": main}
    needs = '{"measure": {"result": "success"}}'
    found = gate.use("aggregate", agents="claude", needs=needs)
    assert found["exit-code"] == "1", found["log"]
    row = next(one for one in gate.delta["rows"] if one["case_id"] == "deploy")
    assert (row["kind"], row["was"]) == ("REGRESSION", "pass")


def merge_all(origin: Any, name: str, tips: list[str]) -> None:  # noqa: ANN401 - a Repository
    """A branch that has all the tips, each once, with the lowered baseline."""
    origin.git("checkout", "--quiet", "--force", "-B", name, tips[-1])
    for tip in tips[:-1]:
        origin.git("merge", "--quiet", "--no-ff", "-s", "ours", "-m", f"{name} takes {tip}", tip)


@pytest.mark.parametrize(
    "easier",
    [
        pytest.param([{**case, "expected_skill": ""} for case in CASES], id="no requirement"),
        pytest.param([{**case, "prompt": "use deploying"} for case in CASES], id="prompt"),
        pytest.param([*CASES, {"case_id": "more", "prompt": "x"}], id="one more case"),
    ],
)
def test_g10_results_of_another_corpus_are_red(
    tmp_path: Path, easier: list[dict[str, Any]]
) -> None:
    """An earlier step of the leg changed the case file; the commit is the same."""
    change = PullRequest(tmp_path)
    change.propose(STEAL)
    change.checkout.write({"cases.json": json.dumps(easier)})
    change.measure()
    change.checkout.git("checkout", "--quiet", "--", "cases.json")
    found = change.judge()
    assert found.is_red
    assert "measured with another version of cases.json" in " ".join(found.delta["errors"])


def test_g10_the_same_corpus_in_another_folder_is_no_other_one(tmp_path: Path) -> None:
    """Its bytes count, not its path."""
    change = PullRequest(tmp_path)
    change.propose({"README.md": "x"})
    copy = change.folder / "copy.json"
    copy.write_bytes((change.checkout.path / "cases.json").read_bytes())
    change.measure(cases=str(copy))
    assert change.judge(cases="cases.json").conclusion == "success"
