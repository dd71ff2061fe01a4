"""The real PyGithub against the stand-in over HTTP: it does what the client's policy expects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from routing_action.errors import UsageError
from routing_action.github.client import Client
from routing_action.github.comments import (
    Bodies,
    CommentAction,
    CommentMode,
    Marker,
    StickyComment,
)
from routing_action.github.door import PyGithubDoor
from routing_action.github.failures import ApiError, PermissionMissingError
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import serve

OURS = Marker("routing", "a" * 40, "11", number=5, attempt=1, conclusion="failure", news="abc")
COMMENTS = f"/repos/{NAME}/issues/7/comments"


@pytest.fixture
def repository() -> Iterator[Repository]:
    """GitHub; whatever a test sent and got fits GitHub's description."""
    made = Repository()
    yield made
    assert made.violations == []


@pytest.fixture
def client(repository: Repository) -> Iterator[Client]:
    """A client through PyGithub, whose waiting takes no time."""
    with serve(repository) as url:
        yield Client(door(url), sleep=lambda _: None)


def door(url: str, token: str = "t") -> PyGithubDoor:  # noqa: S107
    """PyGithub without its own pauses."""
    return PyGithubDoor(url, token, pause_seconds=0, write_seconds=0)


def test_a_comment_is_made_found_and_updated(repository: Repository, client: Client) -> None:
    """The whole way over HTTP, with 120 other comments before it."""
    for number in range(120):
        repository.add_comment(7, f"comment {number}", "someone")
    sticky = StickyComment(client, NAME, 7)
    first = sticky.publish(CommentMode.ALWAYS, OURS, Bodies(("red",), ""))
    newer = replace(OURS, number=6)
    second = sticky.publish(CommentMode.ALWAYS, newer, Bodies(("grün 🟢",), ""))
    assert [first.action, second.action] == [CommentAction.CREATE, CommentAction.UPDATE]
    assert first.url == second.url != ""
    assert repository.bodies()[-1] == f"{newer.line}\ngrün 🟢"


@pytest.mark.parametrize("status", [500, 502, 0])
def test_pygithub_itself_repeats_nothing(
    repository: Repository, client: Client, status: int
) -> None:
    """Its own retry would post again before the marker is looked for."""
    repository.faults = [Fault("issues/create-comment", status, after=True)]
    StickyComment(client, NAME, 7).publish(CommentMode.ALWAYS, OURS, Bodies(("red",), ""))
    assert len(repository.bodies()) == 1
    assert [verb for verb, _ in repository.requests].count("POST") == 1


def test_refusals_keep_their_status(repository: Repository, client: Client) -> None:
    """403, 404 and 422 arrive as what they are."""
    for status in (404, 422):
        repository.faults = [Fault("issues/list-comments", status)]
        with pytest.raises(ApiError) as caught:
            client.get(COMMENTS)
        assert caught.value.status == status
    repository.tokens["t"] = Token(rights={})
    with pytest.raises(PermissionMissingError):
        client.get(COMMENTS)


def test_rate_limits_are_told_by_their_headers(repository: Repository) -> None:
    """Header names come in any case."""
    waits: list[float] = []
    headers = {"Retry-After": "7", "X-RateLimit-Remaining": "0"}
    repository.faults = [Fault("issues/list-comments", 403, headers=headers)]
    with serve(repository) as url:
        assert Client(door(url), sleep=waits.append).get(COMMENTS) == []
    assert waits == [7.0]


def test_a_server_that_is_not_there_is_an_error_without_the_token() -> None:
    """No token in any text; 203.0.113.0/24 is nobody's, port 1 of this machine answers nothing."""
    with pytest.raises(ConnectionError) as caught:
        door("http://127.0.0.1:1", "ghs_secret").send("GET", "/user", None)
    assert "ghs_secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["", "api.github.example", "file:///etc/passwd", "ftp://x"])
def test_an_address_that_is_none_is_a_usage_error(url: str) -> None:
    """The token goes nowhere."""
    with pytest.raises(UsageError, match="GITHUB_API_URL"):
        door(url)


def test_r14_no_request_leaves_the_api_address(repository: Repository) -> None:
    """A page that links to another host does not lead there."""
    repository.page_limit = 1
    for number in range(3):
        repository.add_comment(7, f"comment {number}")
    with serve(repository) as url:
        pages = list(Client(door(url)).pages(COMMENTS))
    assert [len(page) for page in pages] == [1, 1, 1]
