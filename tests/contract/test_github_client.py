"""What is tried again, for how long, and what a refusal means."""

from __future__ import annotations

import pytest

from routing_action.github.client import PATIENCE_SECONDS, TRIES
from routing_action.github.failures import ApiError, PermissionMissingError
from tests.fakes.github.doors import client_of
from tests.fakes.github.repository import NAME, Fault, Repository, Token

COMMENTS = f"/repos/{NAME}/issues/7/comments"
LIST = "issues/list-comments"


def read(*faults: Fault) -> tuple[list[float], Repository]:
    """Read the comments with faults before the answer; the seconds that were waited."""
    repository = Repository(faults=list(faults))
    waits: list[float] = []
    assert client_of(repository, waits=waits).get(COMMENTS) == []
    assert repository.violations == []
    return waits, repository


def test_server_errors_and_lost_answers_are_waited_out() -> None:
    """Each pause is longer than the one before."""
    waits, _ = read(Fault(LIST, 500), Fault(LIST, 0), Fault(LIST, 502))
    assert waits == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("status", "headers", "message", "pause"),
    [
        (429, {"Retry-After": "7"}, "", 7.0),
        (429, {}, "", 60.0),
        (403, {"Retry-After": "3"}, "You have exceeded a secondary rate limit", 3.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1030"}, "API limit", 31.0),
        (403, {}, "You have exceeded a secondary rate limit", 60.0),
        (503, {"Retry-After": "9"}, "", 9.0),
    ],
)
def test_rate_limits_are_waited_for_as_github_asks(
    status: int, headers: dict[str, str], message: str, pause: float
) -> None:
    """By Retry-After, else by the limit's reset, else for a minute at least."""
    waits, _ = read(Fault(LIST, status, headers=headers, message=message))
    assert waits == [pause]


def test_a_limit_that_lasts_too_long_is_not_waited_for() -> None:
    """A job that pays by the minute does not sleep through an hour."""
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4600"}
    repository = Repository(faults=[Fault(LIST, 403, headers=headers)])
    waits: list[float] = []
    with pytest.raises(ApiError, match="rate limit is used up"):
        client_of(repository, waits=waits).get(COMMENTS)
    assert waits == []


@pytest.mark.parametrize(("status", "tries"), [(500, TRIES), (429, 2), (0, TRIES)])
def test_the_tries_come_to_an_end(status: int, tries: int) -> None:
    """All waiting together stays within its bound."""
    repository = Repository(faults=[Fault(LIST, status, times=99)])
    waits: list[float] = []
    with pytest.raises(ApiError):
        client_of(repository, waits=waits).get(COMMENTS)
    assert len(repository.requests) == tries
    assert sum(waits) <= PATIENCE_SECONDS


@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_a_refusal_is_not_repeated(status: int) -> None:
    """No further try would change it."""
    repository = Repository(faults=[Fault(LIST, status, times=9)])
    with pytest.raises(ApiError) as caught:
        client_of(repository).get(COMMENTS)
    assert caught.value.status == status
    assert len(repository.requests) == 1


@pytest.mark.parametrize(
    ("verb", "path", "permission"),
    [
        ("GET", COMMENTS, "pull-requests: read"),
        ("PATCH", f"/repos/{NAME}/issues/comments/1", "pull-requests: write"),
        ("PATCH", f"/repos/{NAME}/check-runs/1", "checks: write"),
        ("GET", f"/repos/{NAME}/pulls/7", "pull-requests: read"),
    ],
)
def test_a_missing_permission_is_named(verb: str, path: str, permission: str) -> None:
    """The line that a workflow needs."""
    client = client_of(Repository(tokens={"t": Token(rights={})}))
    with pytest.raises(PermissionMissingError) as caught:
        client.get(path) if verb == "GET" else client.patch(path, {"body": "x"})
    assert caught.value.permission == permission
    assert permission in caught.value.remedy


def test_a_bad_token_says_so() -> None:
    """It is not the permissions."""
    with pytest.raises(ApiError, match="the token is not valid") as caught:
        client_of(Repository(), "stolen").get(COMMENTS)
    assert caught.value.status == 401


def test_deleting_what_is_gone_is_done() -> None:
    """Another run was faster."""
    repository = Repository()
    client_of(repository).delete(f"/repos/{NAME}/issues/comments/1")
    repository.faults = [Fault("issues/delete-comment", 422)]
    with pytest.raises(ApiError):
        client_of(repository).delete(f"/repos/{NAME}/issues/comments/1")
