"""A GitHub App as itself: who it is, tokens for its installations, and its log of deliveries."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from github import Auth, GithubIntegration

from routing_action.errors import RoutingActionError, UsageError
from routing_action.github.client import PAGE_SIZE, TIMEOUT_SECONDS
from routing_action.github.failures import LATER, ApiError, asking

_RENEW_SECONDS = 600.0
"""A token that ends sooner is not begun with: handling a delivery takes minutes at most."""
_MOST_PAGES = 20
_NEXT = re.compile(r'[?&]cursor=(?P<cursor>[^&>]+)[^>]*>;\s*rel="next"')
_KEY = "check the App's id and private key"


def advise(error: RoutingActionError, *, is_dead: bool = False) -> str:
    """The remedy of an error on a server, which has no job that could be run again.

    `is_dead`: the delivery that it is of is not tried again.
    """
    if error.remedy != LATER:
        return error.remedy
    check = "check DNS and proxy" if isinstance(error, ApiError) and not error.status else ""
    if is_dead:
        last = "let it be tried again with `routing-action bot deliveries retry ID`"
    else:
        last = "the server tries again by itself"
    return "; ".join(filter(None, (check, last)))


@dataclass(frozen=True, slots=True)
class AppIdentity:
    """The App as GitHub knows it; its comments are by `<slug>[bot]`."""

    id: int
    slug: str
    permissions: Mapping[str, str]
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SentDelivery:
    """One attempt of GitHub to deliver a webhook; `guid` is the same for all of a delivery.

    `is_first` is False for what was sent because somebody asked for it again.
    """

    id: int
    guid: str
    event: str
    sent: datetime
    ok: bool
    is_first: bool


class GitHubApp:
    """Asks GitHub as an App; of any number of threads."""

    def __init__(
        self,
        api_url: str,
        app_id: int,
        private_key: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Asks for nothing yet. Raises UsageError where the key is no key."""
        auth = Auth.AppAuth(app_id, private_key)
        try:
            auth.create_jwt()
        except Exception:  # of several libraries; what they say may hold parts of the key
            raise UsageError(
                "the App's private key cannot be read",
                remedy="make a new one on the App's settings page",
            ) from None
        self._requester = GithubIntegration(
            auth=auth,
            base_url=api_url,
            timeout=TIMEOUT_SECONDS,
            retry=None,
            per_page=PAGE_SIZE,
            user_agent="routing-action",
            seconds_between_requests=0,
            seconds_between_writes=0,
            lazy=True,
        ).requester
        self._clock = clock
        self._lock = threading.Lock()
        self._identity: AppIdentity | None = None
        self._tokens: dict[int, tuple[str, float]] = {}

    def identify(self) -> AppIdentity:
        """Who the App is, asked once. Raises ApiError where the key is not the App's."""
        if self._identity is None:
            found = self._ask("read the App", "GET", "/app")
            permissions = {str(k): str(v) for k, v in _dict(found.get("permissions")).items()}
            events = tuple(map(str, found.get("events") or ()))
            self._identity = AppIdentity(
                int(found["id"]), str(found["slug"]), permissions, tuple(sorted(events))
            )
        return self._identity

    def get_token(self, installation: int) -> str:
        """A token of an installation, kept while it holds for at least ten minutes more."""
        with self._lock:
            token, ends = self._tokens.get(installation, ("", 0.0))
        if ends - self._clock() >= _RENEW_SECONDS:
            return token
        address = f"/app/installations/{installation}/access_tokens"
        found = self._ask(f"get a token of installation {installation}", "POST", address, {})
        token, ends = str(found["token"]), _time(found["expires_at"]).timestamp()
        with self._lock:
            self._tokens[installation] = token, ends
        return token

    def forget_token(self, installation: int) -> None:
        """Ask for a new token next time: GitHub no longer takes the one there is."""
        with self._lock:
            self._tokens.pop(installation, None)

    def find_installation(self, repository: str) -> int:
        """The installation at `owner/name`. Raises ApiError where the App is not installed."""
        address = f"/repos/{repository}/installation"
        return int(self._ask(f"find the installation at {repository}", "GET", address)["id"])

    def read_hook_url(self) -> str:
        """Where GitHub sends this App's webhooks; "" where they are switched off."""
        found = self._ask("read the App's webhook", "GET", "/app/hook/config")
        return str(found.get("url") or "")

    def list_deliveries(self, since: float) -> Iterator[SentDelivery]:
        """GitHub's log of attempts, newest first, back to a time."""
        asked: dict[str, Any] = {"per_page": PAGE_SIZE}
        for _ in range(_MOST_PAGES):
            with asking("read the App's deliveries", _KEY):
                headers, listed = self._requester.requestJsonAndCheck(
                    "GET", "/app/hook/deliveries", parameters=asked
                )
            found = [_sent(one) for one in listed] if isinstance(listed, list) else []
            yield from (one for one in found if one.sent.timestamp() >= since)
            more = _NEXT.search(str(headers.get("link", "")))
            if more is None or not found or found[-1].sent.timestamp() < since:
                return
            asked["cursor"] = unquote(more["cursor"])

    def redeliver(self, delivery: SentDelivery) -> None:
        """Ask GitHub to send a delivery once more."""
        address = f"/app/hook/deliveries/{delivery.id}/attempts"
        self._ask("ask for a delivery again", "POST", address)

    def _ask(
        self, what: str, verb: str, address: str, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            with asking(what, _KEY):
                _, found = self._requester.requestJsonAndCheck(verb, address, input=body)
        except ApiError as error:
            if error.status == 401:
                cause = f"cannot {what}: GitHub does not take the App's key"
                raise ApiError(cause, status=401, remedy=_KEY) from None
            raise
        return _dict(found)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sent(one: dict[str, Any]) -> SentDelivery:
    code = one.get("status_code")
    is_ok = isinstance(code, int) and 200 <= code < 300
    return SentDelivery(
        int(one["id"]),
        str(one["guid"]),
        str(one["event"]),
        _time(one["delivered_at"]),
        is_ok,
        not one.get("redelivery"),
    )


def _time(text: object) -> datetime:
    found = datetime.fromisoformat(str(text))
    return found if found.tzinfo else found.replace(tzinfo=UTC)
