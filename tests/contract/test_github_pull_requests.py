"""Which pull request a run is about, proven by the id of its head."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.github.context import Context
from routing_action.github.failures import ApiError
from routing_action.github.pull_request import find_pull_request
from tests.fakes.github.repository import NAME, Fault, Repository
from tests.fakes.github.server import connect

SHA = "a" * 40


def pull(number: int, *, sha: str = SHA, state: str = "open", label: str = "fork:fix") -> Any:  # noqa: ANN401
    """A pull request as far as it matters here."""
    return {"number": number, "state": state, "head": {"sha": sha, "label": label}}


def run_of(*listed: int, branch: object = "fix", owner: object = "fork") -> Context:
    """A workflow_run event; for forks its own list is empty."""
    run = {
        "head_sha": SHA,
        "head_branch": branch,
        "head_repository": {"owner": {"login": owner}},
        "pull_requests": [{"number": number} for number in listed],
    }
    return Context(event_name="workflow_run", event={"workflow_run": run}, repository=NAME)


def find(repository: Repository, context: Context) -> int | None:
    """The answer of the chain."""
    return find_pull_request(connect(repository), context)


def test_r10_the_payloads_own_list_is_the_first_rung(repository: Repository) -> None:
    """For branches of the repository itself."""
    repository.pulls = {7: pull(7)}
    assert find(repository, run_of(7)) == 7


def test_r10_the_branch_of_a_fork_is_the_second_rung(repository: Repository) -> None:
    """The payload's list is empty for forks."""
    repository.pulls = {7: pull(7), 8: pull(8, label="fork:other")}
    assert find(repository, run_of()) == 7


def test_r10_the_commit_is_the_third_rung(repository: Repository) -> None:
    """The branch was renamed meanwhile."""
    repository.pulls = {7: pull(7, label="fork:renamed")}
    repository.known_commits = {SHA: [7]}
    assert find(repository, run_of()) == 7


@pytest.mark.parametrize(
    "pulls",
    [
        {},
        {7: pull(7, sha="b" * 40)},
        {7: pull(7, state="closed")},
    ],
)
def test_r10_no_rung_leads_to_no_pull_request(
    repository: Repository, pulls: dict[int, Any]
) -> None:
    """One that moved on, or was closed, was not what was measured."""
    repository.pulls = pulls
    assert find(repository, run_of(7)) is None


def test_r10_two_pull_requests_with_one_head_are_an_error(repository: Repository) -> None:
    """Nobody can tell which one was measured."""
    repository.pulls = {7: pull(7), 8: pull(8)}
    with pytest.raises(ApiError, match="#7, #8 have the same head"):
        find(repository, run_of())


def test_r11_a_forged_number_is_not_believed(repository: Repository) -> None:
    """The payload of a run names another pull request than the one that was measured."""
    repository.pulls = {1: pull(1, sha="b" * 40), 7: pull(7)}
    assert find(repository, run_of(1)) == 7


def test_r10_the_hint_of_the_artifact_is_the_last_rung(repository: Repository) -> None:
    """The fork's branch is gone, and GitHub does not know the commit; its head proves it still."""
    repository.pulls = {7: pull(7, label="renamed:fix")}
    assert find(repository, run_of(owner="nobody")) is None
    github = connect(repository)
    assert find_pull_request(github, run_of(owner="nobody"), 7) == 7


def test_r11_a_forged_hint_is_not_believed(repository: Repository) -> None:
    """Whoever wrote the artifact chose the number; only the measured head counts."""
    repository.pulls = {1: pull(1, sha="b" * 40), 2: pull(2, state="closed")}
    for forged in (1, 2, 3):
        assert find_pull_request(connect(repository), run_of(), forged) is None


@pytest.mark.parametrize(("branch", "owner"), [(None, "fork"), ("fix", None), ("", ""), (5, [])])
def test_a_payload_without_its_parts_is_survived(
    repository: Repository, branch: object, owner: object
) -> None:
    """The fork may be gone."""
    assert find(repository, run_of(branch=branch, owner=owner)) is None
    assert find(repository, Context(event_name="workflow_run", repository=NAME)) is None


def test_a_failure_on_the_way_is_told(repository: Repository) -> None:
    """No answer is not the same as no pull request."""
    repository.pulls = {7: pull(7)}
    repository.faults = [Fault("pulls/get", 406)]
    with pytest.raises(ApiError):
        find(repository, run_of(7))
    repository.faults = [Fault("repos/list-pull-requests-associated-with-commit", 409)]
    with pytest.raises(ApiError):
        find(repository, run_of(branch=""))


@pytest.mark.parametrize("name", ["push", "merge_group", "schedule", "workflow_dispatch"])
def test_r16_other_events_have_no_pull_request(repository: Repository, name: str) -> None:
    """There is nothing to comment on, and nothing is asked."""
    assert find(repository, Context(event_name=name, repository=NAME)) is None
    assert repository.requests == []
