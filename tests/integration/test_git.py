"""git is run with a fixed environment, and says in one sentence what went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.errors import HarnessError
from routing_action.git.command import find_work_tree, run_git
from tests.support.sandbox import repository


def test_the_output_is_given_as_text(tmp_path: Path) -> None:
    """What git prints on stdout, names of any bytes included."""
    repo = repository(tmp_path, {"a": "1"})
    assert run_git(["ls-files"], repo) == "a\n"


def test_a_failure_names_command_folder_and_reason(tmp_path: Path) -> None:
    """The error says what git complained about, and what to do."""
    with pytest.raises(HarnessError) as caught:
        run_git(["no-such-command"], tmp_path)
    assert "git no-such-command failed" in caught.value.cause
    assert "is not a git command" in caught.value.cause
    assert caught.value.remedy


def test_a_missing_git_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without git gets a remedy, no traceback."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HarnessError, match="git was not found"):
        run_git(["--version"], tmp_path)


def test_a_git_that_does_not_end_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock or a slow file system cannot stop a batch for ever."""
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(HarnessError, match="did not end within"):
        run_git(["status"], tmp_path, timeout_seconds=0.2)


def test_git_sees_neither_the_callers_variables_nor_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only PATH and fixed values reach git."""
    (tmp_path / "git").write_text("#!/bin/sh\nenv\ncat\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("GIT_DIR", "/somewhere")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'alias.x=!false'")
    monkeypatch.setenv("GITHUB_TOKEN", "gh-token")
    printed = run_git(["status"], tmp_path)
    assert "GIT_DIR" not in printed
    assert "GIT_CONFIG_PARAMETERS" not in printed
    assert "gh-token" not in printed
    assert "GIT_TERMINAL_PROMPT=0" in printed


def test_the_top_of_a_work_tree_is_found(tmp_path: Path) -> None:
    """A folder in a repository belongs to it; any other folder to none."""
    repo = repository(tmp_path / "repo", {"sub/a": "1"})
    (tmp_path / "plain").mkdir()
    assert find_work_tree(repo / "sub") == repo
    assert find_work_tree(repo / ".git") is None
    assert find_work_tree(tmp_path / "plain") is None


def test_a_damaged_repository_is_no_plain_folder(tmp_path: Path) -> None:
    """Walking it as a plain folder would copy what it ignores."""
    repo = repository(tmp_path / "repo", {"a": "1"})
    (repo / ".git/config").write_text("[core\n")
    with pytest.raises(HarnessError, match="could not read the repository"):
        find_work_tree(repo)


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    """It is not mistaken for a missing git."""
    with pytest.raises(HarnessError, match="missing is not a folder"):
        run_git(["status"], tmp_path / "missing")
