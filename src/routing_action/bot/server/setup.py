"""What the App must be allowed to do and hear, as a manifest for GitHub, and whether it is so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from routing_action.bot.server.app import GitHubApp, advise
from routing_action.bot.server.events import EVENTS, OF_INSTALLATION
from routing_action.bot.server.queue.open_queue import open_queue
from routing_action.bot.server.settings import ServerSettings
from routing_action.errors import RoutingActionError

PERMISSIONS: Mapping[str, str] = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "issues": "read",
    "metadata": "read",
    "pull_requests": "write",
}
"""actions starts and ends runs, and reads reports; checks puts buttons on; contents commits what is
accepted; GitHub sends issue_comment only to who may read issues; pull_requests replies."""

SUBSCRIBED = tuple(sorted(EVENTS.keys() - OF_INSTALLATION))
"""The events that the App has to ask for."""

_LEVELS = ("", "read", "write", "admin")
_WAIT_SECONDS = 10


def make_manifest(name: str, hook_url: str, url: str) -> dict[str, Any]:
    """The manifest of an App ("Registering a GitHub App from a manifest")."""
    return {
        "name": name,
        "url": url,
        "public": False,
        "hook_attributes": {"url": hook_url, "active": True},
        "default_permissions": dict(PERMISSIONS),
        "default_events": list(SUBSCRIBED),
    }


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked; `fault` is empty where it is right."""

    what: str
    fault: str = ""
    remedy: str = ""


def examine(settings: ServerSettings) -> Iterator[Finding]:
    """Check secrets, queue, App, webhook and whether it can be reached, each on its own."""
    yield _try("webhook secret", settings.read_webhook_secrets)
    yield _try("queue", lambda: open_queue(settings.read_queue()).close())
    try:
        app = GitHubApp(settings.api_url, settings.app_id, settings.read_private_key())
        found = app.identify()
        hook_url = app.read_hook_url()
    except RoutingActionError as error:
        yield Finding("key of the App", error.cause, advise(error))
        return
    yield Finding(f"key of the App {found.slug}")
    for name, level in PERMISSIONS.items():
        held = found.permissions.get(name, "")
        is_enough = _LEVELS.index(held) >= _LEVELS.index(level) if held in _LEVELS else False
        fault = "" if is_enough else f"the App has {held or 'none'}"
        yield Finding(f"permission {name}: {level}", fault, "set it on the App's settings page")
    for event in SUBSCRIBED:
        fault = "" if event in found.events else "the App does not subscribe to it"
        yield Finding(f"event {event}", fault, "tick it on the App's settings page")
    yield _reach(hook_url)


def _try(what: str, work: Callable[[], object]) -> Finding:
    try:
        work()
    except RoutingActionError as error:
        return Finding(what, error.cause, error.remedy)
    return Finding(what)


def _reach(hook_url: str) -> Finding:
    """A body that nobody signed is refused by our server with 401, and by no other thing."""
    what = f"webhook {hook_url}"
    if not hook_url.startswith(("https://", "http://")):
        return Finding("webhook", "the App has no webhook address", "set it, and tick Active")
    kind = {"Content-Type": "application/json", "User-Agent": "routing-action"}
    request = Request(hook_url, b"{}", kind, method="POST")  # noqa: S310 - judged above
    try:
        with urlopen(request, timeout=_WAIT_SECONDS) as answer:  # noqa: S310
            status = answer.status
    except HTTPError as error:
        status = error.code
        error.close()
    except (URLError, OSError, ValueError) as error:
        cause = getattr(error, "reason", error)
        return Finding(what, f"no answer: {cause}", "start the server, and check DNS and proxy")
    fault = "" if status == 401 else f"answered {status}, and our server would answer 401"
    return Finding(what, fault, "let the proxy pass POST /webhook to this server")
