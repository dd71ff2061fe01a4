"""What PyGithub tries again by our rules, for how long, and what a failure means."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from routing_action.errors import UsageError
from routing_action.github.client import RETRIES, open_repository
from routing_action.github.comments import Bodies, CommentMode, Marker, StickyComment
from routing_action.github.failures import (
    PATIENCE_SECONDS,
    ApiError,
    PermissionMissingError,
    asking,
)
from routing_action.github.publication import RunLinks
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import connect

LIST = "issues/list-comments"
OURS = Marker("routing", "a" * 40, "11", number=5, attempt=1, conclusion="failure", news="abc")


def read(repository: Repository, *faults: Fault, token: str = "t") -> list[str]:  # noqa: S107
    """The comments, with faults before the answer."""
    repository.faults = list(faults)
    with asking("read the comments", "pull-requests: read"):
        return [one.body for one in connect(repository, token).get_issue(7).get_comments()]


def test_server_errors_and_lost_answers_are_waited_out(repository: Repository) -> None:
    """Each pause is longer than the one before."""
    assert read(repository, Fault(LIST, 500), Fault(LIST, 0), Fault(LIST, 502)) == []
    assert repository.waits == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("status", "headers", "message", "pause"),
    [
        (429, {"Retry-After": "7"}, "", 7.0),
        (429, {}, "", 60.0),
        (403, {"Retry-After": "3"}, "You have exceeded a secondary rate limit", 3.0),
        (403, {"retry-after": "7", "X-RateLimit-Remaining": "0"}, "", 7.0),
        (403, {}, "You have exceeded a secondary rate limit", 60.0),
        (503, {"Retry-After": "9"}, "", 9.0),
    ],
)
def test_rate_limits_are_waited_for_as_github_asks(
    repository: Repository, status: int, headers: dict[str, str], message: str, pause: float
) -> None:
    """By Retry-After, else for a minute at least."""
    read(repository, Fault(LIST, status, headers=headers, message=message))
    assert repository.waits == [pause]


def used_up(seconds: int) -> Fault:
    """The limit of an hour is used up, for so many seconds more."""
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + seconds)}
    return Fault(LIST, 403, headers=headers, message="API rate limit exceeded for installation.")


def test_a_limit_that_ends_soon_is_waited_for(repository: Repository) -> None:
    """Until a moment after its reset."""
    read(repository, used_up(30))
    (wait,) = repository.waits
    assert 28 < wait <= 31


@pytest.mark.parametrize(
    "fault",
    [used_up(3600), Fault(LIST, 429, headers={"Retry-After": "3600"})],
    ids=["reset", "retry-after"],
)
def test_a_limit_that_lasts_too_long_is_not_waited_for(
    repository: Repository, fault: Fault
) -> None:
    """A job that pays by the minute does not sleep through an hour."""
    with pytest.raises(ApiError, match="rate limit is used up"):
        read(repository, fault)
    assert repository.waits == []


@pytest.mark.parametrize(("status", "tries"), [(500, RETRIES + 1), (429, 2), (0, RETRIES + 1)])
def test_the_tries_come_to_an_end(repository: Repository, status: int, tries: int) -> None:
    """All waiting together stays within its bound."""
    with pytest.raises(ApiError):
        read(repository, Fault(LIST, status, times=99))
    assert len(repository.requests) == tries
    assert sum(repository.waits) <= PATIENCE_SECONDS


@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_a_failure_that_lasts_is_not_repeated(repository: Repository, status: int) -> None:
    """No further try would change it."""
    with pytest.raises(ApiError) as caught:
        read(repository, Fault(LIST, status, times=9))
    assert caught.value.status == status
    assert len(repository.requests) == 1


def post(repository: Repository) -> None:
    """Post a comment as a run does."""
    StickyComment(connect(repository), 7).publish(CommentMode.ALWAYS, OURS, Bodies(("red",), ""))


@pytest.mark.parametrize("status", [403, 429])
def test_a_comment_that_met_a_rate_limit_is_posted_after_it(
    repository: Repository, status: int
) -> None:
    """GitHub did nothing, so nothing has to be looked for."""
    headers = {"Retry-After": "5"}
    repository.faults = [Fault("issues/create-comment", status, headers=headers)]
    post(repository)
    assert (len(repository.bodies()), repository.waits) == (1, [5.0])


@pytest.mark.parametrize("operation", ["issues/create-comment", "issues/update-comment"])
def test_what_writes_is_tried_again_after_what_github_asks(
    repository: Repository, operation: str
) -> None:
    """A server that is busy says for how long."""
    if operation == "issues/update-comment":
        post(repository)
    repository.faults = [Fault(operation, 503, headers={"Retry-After": "9"}), Fault(operation, 502)]
    post(repository)
    assert (len(repository.bodies()), repository.waits) == (1, [9.0, 2.0])
    repository.faults = [Fault("issues/update-comment", 503, headers={"Retry-After": "3600"})]
    with pytest.raises(ApiError, match="503"):
        post(repository)


def update_check(repository: Repository) -> None:
    from routing_action.github.checks import publish_check  # noqa: PLC0415
    from routing_action.github.publication import CheckOutput  # noqa: PLC0415

    links = RunLinks(repository=NAME, sha="a" * 40)
    publish_check(connect(repository), links, CheckOutput("n", "neutral", "t", "s", ""))


def read_pull(repository: Repository) -> None:
    with asking("find the pull request", "pull-requests: read"):
        assert connect(repository).get_pull(7).state


@pytest.mark.parametrize(
    ("work", "rights", "permission"),
    [
        (read, {}, "pull-requests: read"),
        (post, {"pull-requests": "read"}, "pull-requests: write"),
        (update_check, {}, "checks: read"),
        (update_check, {"checks": "read"}, "checks: write"),
        (read_pull, {}, "pull-requests: read"),
    ],
)
def test_a_missing_permission_is_named(
    repository: Repository,
    work: Callable[[Repository], object],
    rights: dict[str, str],
    permission: str,
) -> None:
    """The line that a workflow needs."""
    repository.tokens = {"t": Token(rights=rights)}
    with pytest.raises(PermissionMissingError) as caught:
        work(repository)
    assert caught.value.permission == permission
    assert permission in caught.value.remedy


def test_a_bad_token_says_so(repository: Repository) -> None:
    """It is not the permissions."""
    with pytest.raises(ApiError, match="the token is not valid") as caught:
        read(repository, token="stolen")
    assert caught.value.status == 401


def test_a_server_that_is_not_there_is_an_error_without_the_token(repository: Repository) -> None:
    """Port 1 of this machine answers nothing; no text holds the token."""
    repository.api_url = "http://127.0.0.1:1"
    with pytest.raises(ApiError, match="no answer") as caught:
        read(repository, token="ghs_secret")
    assert caught.value.status == 0
    assert "ghs_secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["", "api.github.example", "file:///etc/passwd", "ftp://x"])
def test_an_address_that_is_none_is_a_usage_error(url: str) -> None:
    """The token goes nowhere."""
    with pytest.raises(UsageError, match="GITHUB_API_URL"):
        open_repository(url, NAME, "t")


def test_pages_are_read_to_the_last_one(repository: Repository) -> None:
    """Whatever number of entries GitHub puts on a page."""
    repository.page_limit = 1
    for number in range(3):
        repository.add_comment(7, f"comment {number}")
    assert read(repository) == ["comment 0", "comment 1", "comment 2"]


@pytest.mark.parametrize("page_url", ["http://127.0.0.2:1/x", "https://github.example/x"])
def test_r14_no_request_leaves_the_api_address(repository: Repository, page_url: str) -> None:
    """A page that links to another host does not lead there."""
    repository.page_limit = 1
    repository.page_url = page_url
    for number in range(3):
        repository.add_comment(7, f"comment {number}")
    with pytest.raises(ApiError, match="read the comments"):
        read(repository)
    assert len(repository.requests) == 1
