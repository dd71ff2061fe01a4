"""Sends requests by our own policy: what may be repeated, how long to wait, what a failure means.

The policy knows no library; `door.py` holds PyGithub, `dry_run.py` writes payloads to a folder.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlencode

from routing_action.github.failures import ApiError, describe_failure, is_rate_limited

TRIES = 4
PATIENCE_SECONDS = 90.0
"""The longest time that all waiting of one request may take together."""

PAGE_SIZE = 100
MAX_PAGES = 100
_NEXT = re.compile(r'<[^>]*[?&]page=(\d+)[^>]*>;\s*rel="next"')


@dataclass(frozen=True, slots=True)
class Response:
    """An answer; header names are in lower case, `data` is the decoded JSON."""

    status: int
    headers: Mapping[str, str]
    data: Any

    @property
    def message(self) -> str:
        """What GitHub says about a failure; empty where it says nothing."""
        text = self.data.get("message") if isinstance(self.data, dict) else None
        return text if isinstance(text, str) else ""


class Door(Protocol):
    """One request, one answer; raises ConnectionError where none came."""

    def send(self, verb: str, path: str, body: Mapping[str, Any] | None) -> Response:
        """`path` begins with a slash, below the API's address."""
        ...


class Client:
    """Requests with retries.

    Reading, replacing and deleting can be repeated. A POST that failed without an answer that
    tells is looked for first: GitHub may have done it before it failed.
    """

    def __init__(
        self,
        door: Door,
        *,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`now` gives seconds since the epoch, as the rate limit's reset does."""
        self._door = door
        self._sleep = sleep
        self._now = now

    def get(self, path: str, **query: str | int) -> Any:  # noqa: ANN401 - foreign JSON
        """The decoded answer."""
        return self._repeat("GET", _with_query(path, query), None).data

    def pages(self, path: str, **query: str | int) -> Iterator[Any]:
        """The answers of all pages, for as long as GitHub links to a next one."""
        page = 1
        for _ in range(MAX_PAGES):
            asked = _with_query(path, {**query, "per_page": PAGE_SIZE, "page": page})
            response = self._repeat("GET", asked, None)
            yield response.data
            link = _NEXT.search(response.headers.get("link", ""))
            if link is None or int(link[1]) <= page:
                return
            page = int(link[1])

    def patch(
        self, path: str, body: Mapping[str, Any], find: Callable[[], Any | None] | None = None
    ) -> Any:  # noqa: ANN401
        """Replace fields; the decoded answer. `find` as for `post`, where this adds something."""
        return self._repeat("PATCH", path, body, find).data

    def delete(self, path: str) -> None:
        """Delete; what is gone already counts as deleted."""
        try:
            self._repeat("DELETE", path, None)
        except ApiError as error:
            if error.status != 404:
                raise

    def post(self, path: str, body: Mapping[str, Any], find: Callable[[], Any | None]) -> Any:  # noqa: ANN401
        """Make something; `find` looks for it where a failure does not tell whether it was made."""
        return self._repeat("POST", path, body, find).data

    def _repeat(
        self,
        verb: str,
        path: str,
        body: Mapping[str, Any] | None,
        find: Callable[[], Any | None] | None = None,
    ) -> Response:
        patience = PATIENCE_SECONDS
        for attempt in itertools.count(1):
            response = self._try(verb, path, body)
            # PyGithub follows what may be followed; a redirect that is left did nothing.
            if 200 <= response.status < 300:
                return response
            limited = is_rate_limited(response.status, response.headers, response.message)
            unclear = response.status == 0 or response.status >= 500
            pause = self._pause(response, limited, attempt)
            is_last = attempt == TRIES or pause > patience or not (limited or unclear)
            if not is_last:
                patience -= pause
                self._sleep(pause)
            made = find() if unclear and find is not None else None
            if made is not None:
                return Response(200, {}, made)
            if is_last:
                raise _failure(verb, path, response)
        raise AssertionError("the last try returns or raises")  # pragma: no cover

    def _try(self, verb: str, path: str, body: Mapping[str, Any] | None) -> Response:
        try:
            return self._door.send(verb, path, body)
        except ConnectionError as error:
            return Response(0, {}, {"message": str(error)})

    def _pause(self, response: Response, limited: bool, attempt: int) -> float:
        """Retry-After, else the limit's reset, else a minute for each try so far; in seconds.

        Source: GitHub's "Best practices for using the REST API", "Handle rate limit errors".
        A failure that is no limit is tried again soon.
        """
        after = response.headers.get("retry-after", "")
        if after.isdecimal():
            return float(after)
        if not limited:
            return 2.0 ** (attempt - 1)
        reset = response.headers.get("x-ratelimit-reset", "")
        if response.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
            return max(1.0, float(reset) - self._now() + 1)
        return 60.0 * attempt


def _with_query(path: str, query: Mapping[str, str | int]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _failure(verb: str, path: str, response: Response) -> ApiError:
    call = f"{verb} {path.partition('?')[0]}"
    if response.status == 0:
        return ApiError(f"{call}: {response.message}", status=0, remedy="run the job again later")
    if is_rate_limited(response.status, response.headers, response.message):
        cause = f"{call}: the rate limit is used up"
        return ApiError(cause, status=response.status, remedy="run the job again later")
    return describe_failure(verb, path, response.status, response.message)
