"""The only door to PyGithub: one request, one answer, without its retries and its waiting.

PyGithub repeats a POST on any server error, which makes duplicates, and a PATCH never
(GithubRetry of its release 2.x); `client.py` has the policy in its place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from github import Auth, Github
from github.GithubException import GithubException

from routing_action.errors import UsageError
from routing_action.github.client import Response

TIMEOUT_SECONDS = 20
MAX_ANSWER_BYTES = 32 * 2**20


class PyGithubDoor:
    """Requests to one API address with one token, which no error text repeats."""

    def __init__(
        self, api_url: str, token: str, *, pause_seconds: float = 0.25, write_seconds: float = 1.0
    ) -> None:
        """The pauses between requests, and between those that write, in seconds."""
        if urlsplit(api_url).scheme not in ("https", "http") or not urlsplit(api_url).hostname:
            raise UsageError(
                f"GITHUB_API_URL {api_url!r} is no address", remedy="leave it as the runner sets it"
            )
        self._token = token
        self._github = Github(
            base_url=api_url.rstrip("/"),
            auth=Auth.Token(token),
            timeout=TIMEOUT_SECONDS,
            retry=None,
            seconds_between_requests=pause_seconds,
            seconds_between_writes=write_seconds,
            user_agent="routing-action",
            lazy=True,
        )

    def send(self, verb: str, path: str, body: Mapping[str, Any] | None) -> Response:
        """The answer of any status; ConnectionError where none came."""
        try:
            status, headers, text = self._github.requester.requestJson(
                verb, path, input=dict(body) if body is not None else None
            )
        except (OSError, RuntimeError) as error:
            # RuntimeError: PyGithub refuses to follow a redirect to another host.
            raise ConnectionError(self._harmless(f"no answer: {error}")) from None
        except GithubException as error:
            return Response(error.status, _lower(error.headers or {}), error.data)
        return Response(status, _lower(headers), _decode(text))

    def _harmless(self, text: str) -> str:
        return text.replace(self._token, "***")[:300] if self._token else text[:300]


def _lower(headers: Mapping[str, Any]) -> dict[str, str]:
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _decode(text: str) -> Any:  # noqa: ANN401 - foreign JSON
    if not text or len(text) > MAX_ANSWER_BYTES:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return {"message": "the answer is no JSON"}
