"""The merge base by GitHub's API, where a checkout has no history of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.errors import HarnessError
from routing_action.gate.histories import FallbackHistory, GitHistory
from routing_action.git.base_commit import BaseCommit
from routing_action.github.history import ApiHistory
from tests.fakes.github.repository import Fault, Repository
from tests.fakes.github.server import connect

HEAD, BASE, TIP = "a" * 40, "b" * 40, "c" * 40
DATE = "2026-01-02T03:04:05Z"
COMMIT = BaseCommit(BASE, DATE, "")


@pytest.fixture(autouse=True)
def contents(repository: Repository) -> None:
    """A branch `main` and a file."""
    repository.compared = {
        f"main...{HEAD}": {"base_commit": TIP, "merge_base_commit": BASE, "date": DATE},
        "main...main": {"base_commit": TIP, "merge_base_commit": TIP, "date": DATE},
    }
    repository.files = {
        ("data/base line.json", BASE): b"{}\n",
        ("folder", BASE): {"type": "submodule"},
    }


def history_of(repository: Repository, root: Path) -> ApiHistory:
    return ApiHistory(connect(repository), root, HEAD)


def test_the_merge_base_is_that_of_the_commit_that_is_checked_out(
    repository: Repository, tmp_path: Path
) -> None:
    """Never that of the base's tip; the report says how it was found."""
    found = history_of(repository, tmp_path).find_merge_base("origin/main")
    assert (found.sha, found.date) == (BASE, DATE)
    assert found.how == f"merge base of main and {HEAD[:12]}, by GitHub's API"


def test_a_ref_is_the_commit_that_it_names(repository: Repository, tmp_path: Path) -> None:
    """For a run by hand, which compares with the default branch."""
    assert history_of(repository, tmp_path).find_commit("refs/remotes/origin/main").sha == TIP


def test_files_are_read_as_they_were_at_the_commit(repository: Repository, tmp_path: Path) -> None:
    """What was not there is None; a name with a space is a name."""
    history = history_of(repository, tmp_path)
    assert history.read(COMMIT, Path("data/base line.json")) == b"{}\n"
    assert history.read(COMMIT, tmp_path / "data" / ".." / "data" / "base line.json") == b"{}\n"
    assert history.read(COMMIT, Path("other.json")) is None


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        ("folder", "folder at bbbbbbbbbbbb is no file"),
        ("large.json", "too large to be read through the API"),
        ("../secret", "is outside the checkout"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_a_remedy(
    repository: Repository, tmp_path: Path, path: str, cause: str
) -> None:
    """It is never taken for a baseline that is not there."""
    large = {"type": "file", "encoding": "none", "content": "", "size": 2_000_000}
    repository.files["large.json", BASE] = large
    with pytest.raises(HarnessError, match=cause) as caught:
        history_of(repository, tmp_path).read(COMMIT, Path(path))
    assert caught.value.remedy


def test_a_checkout_without_history_asks_github(repository: Repository, tmp_path: Path) -> None:
    """A folder that is no repository has no merge base; GitHub has."""
    git = GitHistory(tmp_path, {})
    history = FallbackHistory(git, lambda: history_of(repository, tmp_path))
    commit = history.find_merge_base("origin/main")
    assert commit.sha == BASE
    assert history.read(commit, Path("data/base line.json")) == b"{}\n"
    assert history.find_commit("main").sha == TIP


def test_without_a_second_way_the_first_error_stands(tmp_path: Path) -> None:
    """No token, no question."""
    with pytest.raises(HarnessError, match="repository"):
        FallbackHistory(GitHistory(tmp_path, {}), lambda: None).find_merge_base("origin/main")


@pytest.mark.parametrize("status", [403, 404])
def test_where_neither_knows_both_are_told(
    repository: Repository, tmp_path: Path, status: int
) -> None:
    """The remedy is that of the checkout, which is the usual way."""
    repository.faults = [Fault("repos/compare-commits-with-basehead", status)]
    history = FallbackHistory(GitHistory(tmp_path, {}), lambda: history_of(repository, tmp_path))
    with pytest.raises(HarnessError, match="; and ") as caught:
        history.find_commit("v1")
    assert caught.value.remedy
