"""The stand-in as the client's door, without a network between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing_action.github.client import Client, Response
from tests.fakes.github.repository import DisconnectedError, Repository


class RepositoryDoor:
    """Hands each request to the stand-in."""

    def __init__(self, repository: Repository, token: str = "t") -> None:  # noqa: S107
        self._repository = repository
        self._token = token

    def send(self, verb: str, path: str, body: Mapping[str, Any] | None) -> Response:
        """The stand-in's answer."""
        try:
            answer = self._repository.send(verb, path, body, self._token)
        except DisconnectedError:
            raise ConnectionError("no answer") from None
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Response(answer.status, headers, answer.body)


def client_of(repository: Repository, token: str = "t", waits: list[float] | None = None) -> Client:  # noqa: S107
    """A client whose waiting takes no time; `waits` gets the seconds that it would have waited."""
    kept = waits if waits is not None else []
    return Client(RepositoryDoor(repository, token), sleep=kept.append, now=lambda: 1000.0)
