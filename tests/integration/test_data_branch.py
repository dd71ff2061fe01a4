"""The branch of data at a remote: created, appended to by several at once, begun anew, denied."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from routing_action.errors import HarnessError
from routing_action.git.data_branch import (
    DATA_BRANCH,
    TRIES,
    DataBranch,
    DeniedError,
    Files,
    append,
    open_data_branch,
    with_token,
)
from tests.support.repositories import Repository, create

NOW = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.fixture
def origin(tmp_path: Path) -> Repository:
    """A bare repository that a clone in `clone` has as its origin."""
    bare = Repository(tmp_path / "origin.git")
    bare.path.mkdir()
    bare.git("init", "--quiet", "--bare", "--template=")
    create(tmp_path / "clone", {"a": "1"}).git("remote", "add", "origin", bare.path.as_uri())
    return bare


def open_branch(tmp_path: Path, name: str) -> DataBranch:
    """A copy of its own, as each run has one."""
    branch = open_data_branch(tmp_path / "clone", tmp_path / name, os.environ)
    assert branch is not None
    return branch


def add(
    branch: DataBranch, text: str, *, file: str = "2026-11.jsonl", pauses: list[float] | None = None
) -> bool:
    """Append a line to a month, with pauses that take no time."""

    def update(files: Files) -> Files:
        return {file: files.get(file, b"") + f"{text}\n".encode()}

    return append(branch, update, text, lambda: NOW, (pauses if pauses is not None else []).append)


def test_a_first_append_makes_the_branch_and_others_add_to_it(
    origin: Repository, tmp_path: Path
) -> None:
    """Where nothing changes, nothing is pushed; the clone itself stays as it is."""
    assert not open_branch(tmp_path, "none").fetch()
    assert add(open_branch(tmp_path, "one"), "first")
    assert add(open_branch(tmp_path, "two"), "second")
    assert origin.git("show", f"{DATA_BRANCH}:2026-11.jsonl") == "first\nsecond"
    branch = open_branch(tmp_path, "three")
    assert append(branch, lambda _: {}, "", lambda: NOW) is False
    assert branch.read() == {"2026-11.jsonl": b"first\nsecond\n"}
    assert origin.count(DATA_BRANCH) == 2
    clone = Repository(tmp_path / "clone")
    assert not clone.is_shallow
    assert clone.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_runs_that_append_at_once_lose_no_line(origin: Repository, tmp_path: Path) -> None:
    """Four of them, each with three lines; who is late fetches again."""

    def work(number: int) -> None:
        for place in range(3):
            branch = open_branch(tmp_path, f"run{number}-{place}")
            for _ in range(10):  # more of them at once than `TRIES` is made for
                try:
                    assert add(branch, f"{number}-{place}")
                    break
                except HarnessError:
                    continue

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    found = origin.git("show", f"{DATA_BRANCH}:2026-11.jsonl").splitlines()
    assert sorted(found) == sorted(f"{one}-{other}" for one in range(4) for other in range(3))
    assert origin.count(DATA_BRANCH) == 12


def test_a_new_month_begins_the_branch_anew_and_drops_what_is_too_old(
    origin: Repository, tmp_path: Path
) -> None:
    """One commit without a parent; other files stay."""
    add(open_branch(tmp_path, "one"), "old", file="2024-11.jsonl")
    add(open_branch(tmp_path, "two"), "kept", file="2024-12.jsonl")
    add(open_branch(tmp_path, "three"), "note", file="README.md")
    assert origin.count(DATA_BRANCH) == 2
    add(open_branch(tmp_path, "four"), "new")
    assert origin.count(DATA_BRANCH) == 1
    names = origin.git("ls-tree", "--name-only", DATA_BRANCH).split()
    assert names == ["2024-12.jsonl", "2026-11.jsonl", "README.md"]


def test_where_the_branch_may_not_begin_anew_it_grows(origin: Repository, tmp_path: Path) -> None:
    """A rule against forced pushes costs nothing but that."""
    add(open_branch(tmp_path, "one"), "old", file="2026-10.jsonl")
    origin.git("config", "receive.denyNonFastForwards", "true")
    add(open_branch(tmp_path, "two"), "new")
    assert origin.count(DATA_BRANCH) == 2
    assert origin.git("show", f"{DATA_BRANCH}:2026-10.jsonl") == "old"


def refuse(origin: Repository, text: str) -> None:
    """A remote that takes no push, and says why."""
    hook = origin.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)


def test_a_push_that_is_not_allowed_is_tried_once_and_shows_no_secret(
    origin: Repository, tmp_path: Path
) -> None:
    """The message is the remote's, without what its addresses carry."""
    refuse(origin, "denied for https://user:hunter22@example.org/x")
    pauses: list[float] = []
    with pytest.raises(DeniedError, match="denied for") as caught:
        add(open_branch(tmp_path, "one"), "line", pauses=pauses)
    assert "hunter22" not in str(caught.value)
    assert pauses == []


def test_a_remote_that_does_not_answer_is_tried_again_with_growing_pauses(
    origin: Repository, tmp_path: Path
) -> None:
    """At most five times."""
    pauses: list[float] = []
    branch = open_branch(tmp_path, "one")
    origin.path.rename(tmp_path / "gone")
    with pytest.raises(HarnessError, match="git fetch from"):
        add(branch, "line", pauses=pauses)
    assert len(pauses) == TRIES - 1
    assert all(2**place <= 2 * pause <= 3 * 2**place for place, pause in enumerate(pauses))


def test_without_a_remote_there_is_no_branch(tmp_path: Path) -> None:
    """A folder that is nobody's clone."""
    create(tmp_path / "alone", {"a": "1"})
    assert open_data_branch(tmp_path / "alone", tmp_path / "copy", os.environ) is None


def test_a_token_is_shown_to_the_server_alone_in_place_of_any_other() -> None:
    """Behind the settings that are there already; an empty value clears those of files."""
    found = with_token({"GIT_CONFIG_COUNT": "1"}, "https://github.example", "t0ken")
    assert found["GIT_CONFIG_COUNT"] == "3"
    key = "http.https://github.example/.extraheader"
    assert (found["GIT_CONFIG_KEY_1"], found["GIT_CONFIG_VALUE_1"]) == (key, "")
    assert found["GIT_CONFIG_KEY_2"] == key
    assert found["GIT_CONFIG_VALUE_2"].startswith("AUTHORIZATION: basic ")
    assert with_token({"A": "b"}, "https://github.example", "") == {"A": "b"}
