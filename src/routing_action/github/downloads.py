"""The only door to aiohttp as a client: brings an artifact from where GitHub redirects to.

The token goes to the API's address alone; the signed address gets none, and is never told.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.github.client import Client, Response
from routing_action.github.failures import ApiError

TRIES = 3
_CHUNK = 2**18
_LATER = "run the job again later"
_ANSWER_BYTES = 2**16
_NO_ANSWER = (aiohttp.ClientError, TimeoutError, ValueError)
_TIMEOUT = aiohttp.ClientTimeout(total=600, sock_connect=20, sock_read=60)


class _LostError(Exception):
    """The download broke off, or its signed address no longer holds; another one may work."""


class ArtifactDownloads:
    """Downloads with one token from one API address; not for use inside a running event loop."""

    def __init__(
        self, api_url: str, token: str, *, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        """`sleep` takes seconds."""
        if urlsplit(api_url).scheme not in ("https", "http") or not urlsplit(api_url).hostname:
            raise UsageError(
                f"GITHUB_API_URL {api_url!r} is no address", remedy="leave it as the runner sets it"
            )
        self._api = api_url.rstrip("/")
        self._token = token
        self._sleep = sleep
        self._client = Client(self, sleep=sleep)

    def send(self, verb: str, path: str, body: Mapping[str, Any] | None) -> Response:
        """Ask the API, as a door of `Client`; a redirect's address is the answer's `location`."""
        if verb != "GET" or body is not None:
            raise AssertionError("downloads only read")
        try:
            return asyncio.run(self._ask(path))
        except (*_NO_ANSWER, OSError) as error:
            raise ConnectionError(f"no answer: {type(error).__name__}") from None

    def save(self, path: str, file: Path, limit: int) -> str:
        """Write what an API path redirects to into a file; its SHA-256 in hex.

        The size is what arrives, whatever the headers say. Raises DocumentError above `limit`
        bytes, ApiError where GitHub refuses or the download keeps breaking off.
        """
        for attempt in itertools.count(1):
            address = self._locate(path)
            try:
                return asyncio.run(self._save(address, file, limit))
            except _LostError as error:
                if attempt == TRIES:
                    raise ApiError(f"GET {path}: {error}", status=0, remedy=_LATER) from None
            except OSError as error:
                raise HarnessError(
                    f"{file} cannot be written: {error.strerror}", remedy="free space there"
                ) from None
            self._sleep(2.0 ** (attempt - 1))
        raise AssertionError("the last try returns or raises")  # pragma: no cover

    def _locate(self, path: str) -> str:
        answer = self._client.get(path)
        address = answer.get("location") if isinstance(answer, dict) else None
        scheme = urlsplit(address).scheme if isinstance(address, str) else ""
        if scheme not in {"https", urlsplit(self._api).scheme}:
            raise ApiError(f"GET {path}: GitHub did not say where it is", status=502)
        return str(address)

    async def _ask(self, path: str) -> Response:
        url = self._api + path
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
        }
        async with (
            _session() as session,
            session.get(url, headers=headers, allow_redirects=False, proxy=_proxy(url)) as answer,
        ):
            told = {name.lower(): value for name, value in answer.headers.items()}
            if 300 <= answer.status < 400:
                return Response(200, told, {"location": told.get("location")})
            return Response(answer.status, told, _decode(await answer.content.read(_ANSWER_BYTES)))

    async def _save(self, address: str, file: Path, limit: int) -> str:
        digest = hashlib.sha256()
        size = 0
        try:
            # Encoded as it is: quoting it again would break its signature.
            async with (
                _session() as session,
                session.get(
                    URL(address, encoded=True), allow_redirects=False, proxy=_proxy(address)
                ) as answer,
            ):
                if answer.status != 200:
                    raise _LostError(f"the storage answered {answer.status}")
                with file.open("wb") as target:
                    async for chunk in answer.content.iter_chunked(_CHUNK):
                        size += len(chunk)
                        if size > limit:
                            raise DocumentError(
                                f"has more than {limit} bytes",
                                file=file.name,
                                remedy="see which run uploaded it",
                            )
                        digest.update(chunk)
                        target.write(chunk)
        except _NO_ANSWER as error:
            raise _LostError(f"the download broke off: {type(error).__name__}") from None
        return digest.hexdigest()


def _session() -> aiohttp.ClientSession:
    """No cookies, no .netrc, and nothing decompressed: a bomb could hide in an encoding, too."""
    return aiohttp.ClientSession(
        timeout=_TIMEOUT,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        headers={"User-Agent": "routing-action", "Accept-Encoding": "identity"},
    )


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for an address."""
    parts = urlsplit(url)
    if parts.hostname is None or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def _decode(data: bytes) -> Any:  # noqa: ANN401 - foreign JSON
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
