"""Opens a repository on GitHub by PyGithub, with our own rules of what may be repeated.

Nothing else here constructs a client; without a network the payloads go into a folder.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from github import Auth, Github
from github.GithubRetry import GithubRetry
from github.Repository import Repository
from github.Requester import Requester
from urllib3.exceptions import MaxRetryError, ResponseError

from routing_action.errors import HarnessError, UsageError
from routing_action.github.failures import PATIENCE_SECONDS

RETRIES = 3
TIMEOUT_SECONDS = 20
PAGE_SIZE = 100
_LIMITED = (403, 429)
_NO_NAME = re.compile(r"[^A-Za-z0-9]+")


class PatientRetry(GithubRetry):
    """Repeats reading and deleting; POST and PATCH only after a rate limit, when nothing was done.

    PyGithub's own repeats a POST on any server error, which makes duplicates, does not wait for
    429, and may wait for an hour. Here all waiting of a request stays within PATIENCE_SECONDS, of
    which `max_rate_limit_wait` holds what is left. For the rest see `failures.write_once`.
    """

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """True for rate limits of any request, and for server errors of those that only read."""
        return status_code in _LIMITED or super().is_retry(method, status_code, has_retry_after)

    def increment(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as in urllib3
        """The next try with its pause; gives up where the pause would be too long.

        The pause is Retry-After, else the limit's reset, else a minute, and soon for what is no
        limit. Source: GitHub's "Best practices for using the REST API", "Handle rate limit errors".
        """
        grown: Any = super().increment(*args, **kwargs)
        response = kwargs.get("response")
        pause = 2.0 ** (len(grown.history) - 1)
        if response is not None:
            # PyGithub's own has found out how long a 403 asks to wait.
            by_status = {403: max(1.0, grown.get_backoff_time()), 429: _until_reset(response)}
            asked = self.get_retry_after(response)
            pause = by_status.get(response.status, pause) if asked is None else asked
        if pause > grown.max_rate_limit_wait:
            reason = kwargs.get("error") or ResponseError("too long to wait")
            raise MaxRetryError(kwargs["_pool"], args[1], reason)
        grown.max_rate_limit_wait -= pause
        grown.get_backoff_time = lambda: pause
        return grown


def _until_reset(response: Any) -> float:  # noqa: ANN401 - as urllib3 has it
    """Seconds until the limit of a 429 is reset; a minute where GitHub does not say."""
    reset = response.headers.get("X-RateLimit-Reset", "")
    return max(1.0, int(reset) - time.time()) if reset.isdecimal() else 60.0


def open_repository(
    api_url: str, name: str, token: str, *, pause_seconds: float = 0.25, write_seconds: float = 1.0
) -> Repository:
    """`owner/name` at an API address, to which alone the token goes; asks for nothing yet.

    The pauses are between any two requests, and between those that write, in seconds.
    """
    if urlsplit(api_url).scheme not in ("https", "http") or not urlsplit(api_url).hostname:
        raise UsageError(
            f"GITHUB_API_URL {api_url!r} is no address", remedy="leave it as the runner sets it"
        )
    client = Github(
        base_url=api_url.rstrip("/"),
        auth=Auth.Token(token),
        timeout=TIMEOUT_SECONDS,
        retry=PatientRetry(
            secondary_rate_wait=60.0,
            max_rate_limit_wait=PATIENCE_SECONDS,
            total=RETRIES,
            allowed_methods=("GET", "DELETE"),
            raise_on_status=False,
        ),
        per_page=PAGE_SIZE,
        seconds_between_requests=pause_seconds,
        seconds_between_writes=write_seconds,
        user_agent="routing-action",
        lazy=True,
    )
    return Repository(_Requester(**client.requester.kwargs), url=f"/repos/{name}")


class _Requester(Requester):
    """Takes no redirect for a success, which PyGithub does; a download asks for one."""

    def requestJson(  # noqa: N802 - PyGithub's name
        self,
        verb: str,
        url: str,
        *args: Any,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> tuple[int, dict[str, Any], str]:
        """The answer; GithubException for a redirect that PyGithub has not followed."""
        status, headers, text = super().requestJson(verb, url, *args, **kwargs)
        if 300 <= status < 400 and not url.endswith("/zip"):
            raise self.createException(status, headers, {"message": "it has moved"})
        return status, headers, text


def open_dry_run(name: str, folder: Path) -> Repository:
    """An empty repository that keeps what would be sent in a folder, which is made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HarnessError(
            f"{folder} cannot be made: {error.strerror}", remedy="name another --dry-run folder"
        ) from None
    return Repository(_PayloadWriter(folder), url=f"/repos/{name}")


class _PayloadWriter(Requester):
    """Writes each request that changes something into a numbered JSON file; finds nothing."""

    def __init__(self, folder: Path) -> None:
        super().__init__(**Github(lazy=True).requester.kwargs)
        self._folder = folder
        self._count = 0

    def requestJsonAndCheck(  # noqa: N802 - PyGithub's name
        self,
        verb: str,
        url: str,
        *_: Any,  # noqa: ANN401
        input: Any = None,  # noqa: A002, ANN401
        **__: Any,  # noqa: ANN401
    ) -> tuple[dict[str, Any], Any]:
        """Every request of PyGithub's objects comes through here."""
        if verb == "GET":
            return {}, {"check_runs": []} if "check-runs" in url else []
        self._count += 1
        name = f"{self._count:02}-{verb.lower()}-{_NO_NAME.sub('-', url).strip('-')}.json"
        text = json.dumps({"method": verb, "path": url, "body": input}, indent=2) + "\n"
        (self._folder / name).write_text(text, encoding="utf-8")
        return {}, {"id": self._count, "url": f"{url}/{self._count}", "html_url": ""}
