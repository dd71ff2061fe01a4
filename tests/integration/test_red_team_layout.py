"""A change cannot have another case file or baseline used by moving links or removing files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.pull_request import BASELINE, CASES, FILES, STEAL, PullRequest
from tests.support.repositories import check_out

HERE, THERE = "cases.json", "provider-baseline.json"
FEWER: dict[str, str | None] = {
    "c2/cases.json": json.dumps([CASES[1]]),
    "c2/provider-baseline.json": json.dumps({"notes": BASELINE["notes"]}),
}


def linked(folder: Path, target: str | None = "../c1") -> PullRequest:
    """A repository whose folder of cases is a link (None: is itself), with another one beside."""
    place = "tests/agent-routing" if target is None else "c1"
    moved = {f"{place}/{name}": FILES[name] for name in (HERE, THERE)}
    skills = {name: text for name, text in FILES.items() if name.startswith(".claude")}
    change = PullRequest(folder, {**skills, **moved, **FEWER})
    if target is not None:
        point(change, target)
        change.origin.commit(day=0)
    return change


def point(change: PullRequest, target: str, path: str = "tests/agent-routing") -> None:
    """Have the folder of cases be a link to another one."""
    place = change.origin.path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_symlink():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)
    place.symlink_to(target)


def propose_as_is(change: PullRequest, target: str) -> None:
    """Propose the steal, with the link leading elsewhere."""
    change.origin.start("change")
    point(change, target)
    change.origin.commit(STEAL, day=1)
    change.origin.start("merge")
    change.origin.switch("main")
    change.checkout = check_out(change.origin, change.folder / "checkout", "refs/heads/merge")


@pytest.mark.parametrize("before", ["../c1", None])
def test_g1_a_folder_of_cases_that_leads_elsewhere_is_an_error(
    tmp_path: Path, before: str | None
) -> None:
    """It was a link to another folder, or a folder itself."""
    change = linked(tmp_path, before)
    propose_as_is(change, "../c2")
    found = change.check()
    assert found.is_red
    was = f"leads to {before}" if before else "is no link"
    assert "tests/agent-routing leads to ../c2, but at commit" in found.outputs["log"]
    assert f"it {was}" in found.outputs["log"]


def test_g1_a_link_behind_a_link_counts(tmp_path: Path) -> None:
    """The folder's own link is as it was; what it leads to is the link that moved."""
    change = linked(tmp_path, "../all")
    (change.origin.path / "all").symlink_to("c1")
    change.origin.commit(day=0)
    change.origin.start("change")
    point(change, "c2", "all")
    change.origin.commit(STEAL, day=1)
    change.origin.start("merge")
    change.origin.switch("main")
    change.checkout = check_out(change.origin, change.folder / "checkout", "refs/heads/merge")
    found = change.check()
    assert found.is_red
    assert "the folder all leads to c2, but at commit" in found.outputs["log"]


def test_g1_a_folder_link_that_stays_works(tmp_path: Path) -> None:
    """The honest change is green, the steal is red as ever."""
    honest, thief = linked(tmp_path / "honest"), linked(tmp_path / "thief")
    honest.propose({"README.md": "x"})
    assert honest.check().conclusion == "success"
    thief.propose(STEAL)
    assert thief.check().row("deploy")["kind"] == "REGRESSION"


LOWERED = json.dumps({**BASELINE, "deploy": {"claude": {"expected_status": "fail"}}})
SECOND = {f"tests/agent-routing/{name.partition('/')[2]}": text for name, text in FEWER.items()}


@pytest.mark.parametrize("gone", [(HERE, THERE), (THERE,)])
def test_g2_a_default_that_is_gone_gives_way_to_no_other(
    tmp_path: Path, gone: tuple[str, ...]
) -> None:
    """The second place held fewer cases all the time, and a lowered baseline."""
    lower = {"tests/agent-routing/provider-baseline.json": LOWERED}
    change = PullRequest(tmp_path, {**FILES, **SECOND, **lower})
    change.propose({**STEAL, **dict.fromkeys(gone)})
    found = change.check()
    assert found.is_red
    assert f"tests/agent-routing/{gone[0]} is used only because" in found.outputs["log"].replace(
        ":", ""
    )
    assert f"{gone[0]} back" in found.outputs["log"]


def test_g2_a_named_case_file_may_be_the_only_one(tmp_path: Path) -> None:
    """The remedy works; what is gone is named."""
    change = PullRequest(tmp_path, {**FILES, **SECOND})
    change.propose(dict.fromkeys((HERE, THERE)))
    named = "tests/agent-routing/cases.json"
    change.measure(cases=named)
    found = change.judge(cases=named)
    assert not found.is_red
    assert "`cases.json`" in found.text("comment.md")


def test_g2_a_second_corpus_that_nothing_reads_yet_is_named(tmp_path: Path) -> None:
    """The next change could have it used."""
    change = PullRequest(tmp_path)
    change.propose(SECOND)
    found = change.check()
    assert found.conclusion == "success"
    for path in SECOND:
        assert path in found.text("comment.md")


@pytest.mark.parametrize("place", ["tests/agent-routing", "evals"])
def test_a_corpus_that_only_moves_is_called_moved(tmp_path: Path, place: str) -> None:
    """No entry was edited, and no path of the runner is shown."""
    moved = {f"{place}/{name}": FILES[name] for name in (HERE, THERE)}
    change = PullRequest(tmp_path, {**FILES})
    change.propose({HERE: None, THERE: None, **moved})
    named = {"cases": f"{place}/cases.json"} if place == "evals" else {}
    change.measure("claude", attempt=1, **named)
    found = change.judge(1, **named)
    assert found.conclusion == "success"
    assert found.delta["baseline"]["path"] == THERE
    assert not found.delta["baseline"]["edited"]
    comment = found.text("comment.md")
    assert "before in `provider-baseline.json`" in comment
    assert "edits the baseline" not in comment
    assert str(tmp_path) not in comment
