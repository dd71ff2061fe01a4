"""The files that tell what is expected are known by their paths."""

from __future__ import annotations

import pytest

from routing_action.run.workspace.answer_keys import AnswerKeys, without_results

UUID = "0b9b4a8e-93f4-4c2e-9a53-6f1f6f1d7a10"
KEYS = AnswerKeys("/repo", frozenset({"/repo/cases.json", "/repo/tests/recordings", "/out/x"}))


@pytest.mark.parametrize(
    ("path", "is_hidden"),
    [
        ("cases.json", True),
        ("tests/recordings", True),
        ("tests/recordings/a/b.txt", True),
        ("tests/recordings-of-mine/a", False),
        ("sub/cases.json", False),
        ("cases.json.bak", False),
        ("tests", False),
    ],
)
def test_a_path_is_hidden_with_all_below_it(path: str, is_hidden: bool) -> None:
    """At component boundaries; a like name is another file."""
    assert KEYS.hide(path) is is_hidden


def test_paths_outside_the_repository_can_be_hidden() -> None:
    """Skills are staged from anywhere."""
    assert KEYS.hide_absolute("/out/x/y")
    assert not KEYS.hide_absolute("/out/xy")
    assert not KEYS.hide_absolute("/")


def test_a_repository_at_the_root_of_the_file_system_works() -> None:
    """A container may mount the repository there."""
    assert AnswerKeys("/", frozenset({"/cases.json"})).hide("cases.json")


@pytest.mark.parametrize(
    "path",
    [
        f"{UUID}/results.json",
        f"any/where/{UUID}/transcripts/u.stdout",
        "routing-results-claude-a1/deep/file",
        "x/routing-results-codex-linux-a12/results.json",
        "tool-use-proof.log",
        "results.json",
        "transcripts/u.stdout",
        "named/results.json",
        "named/transcripts/u.stderr",
    ],
)
def test_files_of_earlier_batches_are_left_out(path: str) -> None:
    """Wherever a batch or a downloaded artifact was put."""
    beside = [f"any/where/{UUID}/results.json", "tool-use-proof.log", "named/tool-use-proof.log"]
    assert path not in without_results([path, *beside])


@pytest.mark.parametrize(
    "path",
    [
        "data/results.json",
        "docs/transcripts/talk.txt",
        f"{UUID}/photo.png",
        "0b9b4a8e-93f4-1c2e-9a53-6f1f6f1d7a10/results.json",
        "routing-results-a1",
        "routing-results-claude/x",
        "my-tool-use-proof.log",
    ],
)
def test_files_that_only_look_alike_stay(path: str) -> None:
    """A repository may have results and transcripts of its own."""
    assert without_results([path]) == [path]
