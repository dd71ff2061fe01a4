"""Faults between two requests: another run, a person or GitHub itself changes what was found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from routing_action.errors import UsageError
from routing_action.github.checks import publish_check
from routing_action.github.comments import (
    Bodies,
    CommentAction,
    CommentMode,
    Marker,
    StickyComment,
)
from routing_action.github.context import Context
from routing_action.github.failures import ApiError, PermissionMissingError
from routing_action.github.publication import Annotation, CheckOutput, RunLinks
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import connect
from tests.support.command_line import run_command

OURS = Marker("routing", "a" * 40, "11", number=5, attempt=1, conclusion="failure", news="abc")
LINKS = RunLinks("https://github.example", NAME, "a" * 40, run_id="11", run_attempt=1)


def post(repository: Repository, marker: Marker = OURS) -> CommentAction:
    """Publish as a run does."""
    sticky = StickyComment(connect(repository), 7)
    return sticky.publish(CommentMode.ALWAYS, marker, Bodies(("ours",), "")).action


def output(annotations: int) -> CheckOutput:
    """A red check run."""
    remarks = tuple(
        Annotation("cases.json", n + 1, n + 1, "failure", f"case {n}", "it failed", "proof")
        for n in range(annotations)
    )
    return CheckOutput("routing gate", "failure", "1 regression", "summary", "text", remarks)


def lines(repository: Repository) -> list[int]:
    """The lines that the only check run remarks on."""
    (run,) = repository.check_runs()
    return [one["start_line"] for one in run["annotations"]]


def test_r3_a_newer_comment_with_a_higher_id_is_not_deleted(repository: Repository) -> None:
    """A third run made it a moment ago and has not yet tidied up."""
    repository.add_comment(7, f"{replace(OURS, number=4).line}\nolder")
    repository.add_comment(7, f"{replace(OURS, number=6).line}\nnewer")
    assert post(repository) is CommentAction.NOTHING
    assert repository.bodies()[-1].endswith("\nnewer")


def test_a_comment_that_is_deleted_meanwhile_is_made_anew(repository: Repository) -> None:
    """It is no missing permission."""
    known = repository.add_comment(7, f"{replace(OURS, number=4).line}\nolder")

    def meanwhile() -> None:
        del repository.comments[known]

    repository.before["issues/update-comment"] = meanwhile
    post(repository)
    assert repository.bodies() == [f"{OURS.line}\nours"]


def test_an_apps_own_token_finds_its_own_comment(repository: Repository) -> None:
    """It may not ask for its login either, and is not github-actions."""
    repository.tokens["t"] = Token(login="our-app[bot]")
    post(repository)
    post(repository, replace(OURS, number=6))
    assert len(repository.bodies()) == 1


def test_a_locked_conversation_is_not_a_missing_permission(repository: Repository) -> None:
    """GitHub says why."""
    message = "Unable to create comment because issue is locked."
    repository.faults = [Fault("issues/create-comment", 403, message=message)]
    with pytest.raises(ApiError, match="locked") as caught:
        post(repository)
    assert not isinstance(caught.value, PermissionMissingError)


@pytest.mark.parametrize("status", [301, 307, 308])
def test_a_repository_that_moved_is_no_success(repository: Repository, status: int) -> None:
    """GitHub redirects, and nothing was posted."""
    repository.faults = [Fault("issues/create-comment", status)]
    with pytest.raises(ApiError):
        post(repository)


@pytest.mark.parametrize("status", [301, 302, 307])
def test_r14_a_redirect_to_another_host_is_an_error_of_github(
    repository: Repository, status: int
) -> None:
    """Not a bug, and not followed with the token."""
    headers = {"Location": "http://127.0.0.2:1/x"}
    repository.faults = [Fault("issues/list-comments", status, times=9, headers=headers)]
    with pytest.raises(ApiError):
        post(repository)


@pytest.mark.parametrize("status", [500, 502, 0])
def test_r13_annotations_that_were_added_despite_the_failure_are_not_added_again(
    repository: Repository, status: int
) -> None:
    """PATCH appends, so repeating it is not harmless."""
    repository.faults = [Fault("checks/update", status, after=True)]
    publish_check(connect(repository), LINKS, output(120))
    assert lines(repository) == list(range(1, 121))


def test_r13_annotations_that_are_missing_are_added_by_the_next_try(
    repository: Repository,
) -> None:
    """The first try of this attempt broke off after 50."""
    repository.faults = [Fault("checks/update", 409)]
    with pytest.raises(ApiError):
        publish_check(connect(repository), LINKS, output(120))
    publish_check(connect(repository), LINKS, output(120))
    assert lines(repository) == list(range(1, 121))


def test_a_run_for_a_comment_has_no_head() -> None:
    """GITHUB_SHA is the default branch's, and nothing belongs there."""
    assert Context(event_name="issue_comment", sha="a" * 40).head_sha == ""


@pytest.mark.parametrize("key", ["", "a b", "x --> **y**", "k" * 81, "key\n"])
def test_r4_a_key_that_no_marker_can_hold_is_refused(key: str, tmp_path: Path) -> None:
    """Its comment would never be found again, and each run would make one more."""
    done = run_command(["publish", "--key", key], tmp_path, {})
    assert done.code == UsageError.exit_code
    assert "--key" in done.stderr
