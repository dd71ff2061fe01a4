"""The report of a pull request as a page, for whoever has a signed link that has not ended.

The page is rendered here from the report's data; no HTML of an artifact, which a pull request can
make, is ever shown.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import html
import io
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from aiohttp import web

from routing_action.bot.last_report import LastReport
from routing_action.errors import RoutingActionError
from routing_action.github.publication import RunLinks
from routing_action.report.html.write import write_html

PAGE_PATH = "/r/{owner:[A-Za-z0-9-]{1,39}}/{name:[A-Za-z0-9._-]{1,100}}/PR/{number:[1-9][0-9]{0,8}}"
LINK_SECONDS = 7 * 86_400
MAX_PAGE_BYTES = 32 * 2**20

_KEPT_SECONDS = 60.0
"""How often a link that is opened again and again costs requests to GitHub."""
_MOST_KEPT = 8
_AT_ONCE = 2
_MOST_WAITING = 20
_SIGNED = re.compile(r"[0-9a-f]{64}")
_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
_HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_log = logging.getLogger("routing_action.bot")


class Links:
    """Makes and checks the links; `secrets` are the webhook's, of which each makes another key."""

    def __init__(
        self,
        address: str,
        secrets: Sequence[str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`address` is where people reach the server, without a slash at its end; "" is nowhere."""
        self._address = address.rstrip("/")
        self._keys = [
            hmac.digest(one.encode(), b"routing-action: links to pages", "sha256")
            for one in secrets
        ]
        self._clock = clock

    def make(self, repository: str, number: int) -> str:
        """A link that holds for seven days; "" where there are no pages."""
        if not self._address:
            return ""
        until = str(int(self._clock()) + LINK_SECONDS)
        sign = self._sign(self._keys[0], repository, number, until)
        return f"{self._address}/r/{repository}/PR/{number}?until={until}&sign={sign}"

    def holds(self, repository: str, number: int, until: str, sign: str) -> bool:
        """True for a link of ours that has not ended; in constant time."""
        is_formal = until.isascii() and until.isdecimal() and len(until) <= 12
        if not is_formal or not _SIGNED.fullmatch(sign):
            return False
        signs = [self._sign(key, repository, number, until) for key in self._keys]
        # Each one is looked at, so that the time tells nothing.
        is_ours = sum(hmac.compare_digest(one, sign) for one in signs) > 0
        return is_ours and self._clock() < int(until)

    @staticmethod
    def _sign(key: bytes, repository: str, number: int, until: str) -> str:
        text = f"{repository.lower()}\n{number}\n{until}"
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class _Page:
    status: int
    body: bytes
    policy: str = "default-src 'none'"
    kind: str = "text/plain"


class Pages:
    """Answers GET for pages; `find` brings the newest report and where it stands, in a thread."""

    def __init__(
        self, links: Links, find: Callable[[str, int], tuple[LastReport, RunLinks]]
    ) -> None:
        self._links = links
        self._find = find
        self._kept: OrderedDict[tuple[str, int], tuple[float, _Page]] = OrderedDict()
        self._threads = ThreadPoolExecutor(_AT_ONCE, "page")
        self._turn = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0

    async def show(self, request: web.Request) -> web.Response:
        """The page, or in a sentence why there is none."""
        named, query = request.match_info, request.query
        repository, number = f"{named['owner']}/{named['name']}", int(named["number"])
        if not self._links.holds(repository, number, query.get("until", ""), query.get("sign", "")):
            page = _say(403, "this link is not right or has ended: `/routing status` gives one")
        elif self._waiting >= _MOST_WAITING:
            page = _say(503, "too many pages at once; open the link again later")
        else:
            page = await self._bring(repository.lower(), number)
        policy = f"{page.policy}; frame-ancestors 'none'"
        return web.Response(
            status=page.status,
            body=page.body,
            headers={**_HEADERS, "Content-Security-Policy": policy},
            content_type=page.kind,
            charset="utf-8",
        )

    async def _bring(self, repository: str, number: int) -> _Page:
        key = repository, number
        self._waiting += 1
        try:
            async with self._turn:
                made, page = self._kept.get(key, (-_KEPT_SECONDS, None))
                if page is not None and time.monotonic() - made < _KEPT_SECONDS:
                    return page
                loop = asyncio.get_running_loop()
                page = await loop.run_in_executor(self._threads, self._make, repository, number)
                self._kept[key] = time.monotonic(), page
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
                return page
        finally:
            self._waiting -= 1

    def _make(self, repository: str, number: int) -> _Page:
        try:
            report, place = self._find(repository, number)
            if report.delta is None or report.marker is None:
                return _say(404, report.problem)
            marker, out = report.marker, io.StringIO()
            place = replace(place, sha=marker.sha, run_id=marker.run, run_attempt=marker.attempt)
            write_html(out, report.delta, (), place)
        except RoutingActionError as error:
            _log.warning("no page: %s", error.cause)
            return _say(502, "the report cannot be read now; open the link again later")
        except Exception:
            _log.exception("no page")
            return _say(500, "the report cannot be shown")
        text = out.getvalue()
        body = text.encode("utf-8", "replace")
        policy = _POLICY.search(text)
        if len(body) > MAX_PAGE_BYTES or policy is None:
            return _say(413, "the report is too large for a page: open its artifact")
        return _Page(200, body, html.unescape(policy[1]), "text/html")


def _say(status: int, text: str) -> _Page:
    return _Page(status, f"{text}\n".encode())
