"""A baseline that was broken at the commit that decides: nobody can edit that commit any more."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.command_line import Finished, run_command
from tests.support.repositories import Repository, check_out, create
from tests.support.result_rows import write_results

CASES = json.dumps([{"case_id": "one", "prompt": "p", "expected_skill": "foo"}])
WHOLE = '{\n  "one": {"claude": {"expected_status": "pass"}}\n}\n'
CONFLICT = (
    "{\n<<<<<<< HEAD\n" + WHOLE[2:-3] + ",\n=======\n" + '  "two": {}\n' + ">>>>>>> other\n}\n"
)
BROKEN = {
    "conflict": (CONFLICT, ":2: holds an unresolved merge conflict (<<<<<<< HEAD)"),
    "conflict of Windows": (CONFLICT.replace("\n", "\r\n"), ":2: holds an unresolved merge"),
    "three-way conflict": (
        CONFLICT.replace("=======", "||||||| base\n======="),
        ":2: holds an unresolved merge conflict",
    ),
    "cut": (WHOLE[:20], "no valid JSON"),
    "doubled": (WHOLE.replace("}\n}", '},\n  "one": {}\n}'), "is given twice"),
    "unknown status": (WHOLE.replace("pass", "green"), "unknown status 'green'"),
    "not UTF-8": ("\udcff" + WHOLE, "not UTF-8 text"),
}


def command(folder: Path, *words: str) -> Finished:
    """A command in a folder."""
    return run_command(words, folder, os.environ)


@pytest.fixture(params=list(BROKEN))
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Repository, str, str]:
    """A checkout of a change that repairs the baseline, its broken base commit, and the cause."""
    text, cause = BROKEN[request.param]
    origin = create(tmp_path / "origin", {"cases.json": CASES})
    (origin.path / "provider-baseline.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    sha = origin.commit(day=1)
    origin.start("change")
    origin.commit({"provider-baseline.json": WHOLE}, day=2)
    checkout = check_out(origin, tmp_path / "a checkout", "refs/heads/change", depth=None)
    write_results(checkout.path.parent / "batch", {("one", "claude"): "pass"})
    return checkout, sha, cause


def test_the_commit_is_named_with_the_flag_that_helps(broken: tuple[Repository, str, str]) -> None:
    """Not with advice about a comma in a file that is fine by now."""
    checkout, sha, cause = broken
    judge = ("compare", "--results", "../batch/results.json")
    done = command(checkout.path, *judge, "--merge-base-of", "origin/main")
    assert done.code == 2
    assert f"provider-baseline.json at {sha[:12]}" in done.stderr
    assert cause in done.stderr
    assert f"commit {sha[:12]} cannot be edited any more" in done.stderr
    assert "--baseline-ref HEAD" in done.stderr
    done = command(checkout.path, *judge, "--baseline-ref", "HEAD")
    assert done.code == 0, done.stderr


@pytest.mark.parametrize("name", ["provider-baseline.json", "cases.json"])
def test_a_conflict_in_the_tree_is_called_a_conflict(tmp_path: Path, name: str) -> None:
    """In each file that people merge; that one can be edited."""
    files: dict[str, str | None] = {"cases.json": CASES, "provider-baseline.json": WHOLE}
    root = create(tmp_path / "origin", {**files, name: CONFLICT}).path
    write_results(tmp_path / "batch", {("one", "claude"): "pass"})
    done = command(root, "compare", "--results", "../batch/results.json")
    assert done.code == 2
    assert f"{name}:2: holds an unresolved merge conflict (<<<<<<< HEAD)" in done.stderr
    assert "keep one side of each conflict" in done.stderr
    assert "cannot be edited" not in done.stderr


def test_a_row_of_equal_signs_alone_is_no_conflict(tmp_path: Path) -> None:
    """Inside of a text that JSON can read."""
    root = create(tmp_path / "origin", {"cases.json": CASES.replace('"p"', '"=======\\n"')}).path
    done = command(root, "cases", "check")
    assert done.code == 0, done.stderr
