"""The door for webhooks: proves a delivery, keeps it on disk, and only then says so.

GitHub waits ten seconds for an answer; ours comes within one after the body has come.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientError, web

from routing_action.bot.server.queue.deliveries import Delivery
from routing_action.bot.server.queue.keeper import Keeper
from routing_action.bot.server.signature import Signature

MAX_BODY_BYTES = 25 * 2**20
"""GitHub sends no larger payload ("Webhook events and payloads", payload cap)."""
MAX_HELD_BYTES = 8 * MAX_BODY_BYTES
"""What all bodies that are coming in may take together: nobody has proven anything yet."""

_READ_SECONDS = 30.0
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
_EVENT = re.compile(r"[a-z_]{1,64}")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")

_log = logging.getLogger("routing_action.bot")


@dataclass(frozen=True, slots=True)
class _Answer:
    """A word for the metrics, GitHub's status, and what a person reads in the delivery log."""

    word: str
    status: int
    text: str


class _RefusedError(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.answer = _Answer("rejected", status, text)


class Intake:
    """Answers POST: 202 for what is kept or of no interest, else why it is not taken."""

    def __init__(
        self,
        keeper: Keeper,
        secrets: Sequence[str],
        events: Mapping[str, frozenset[str]],
        count: Callable[[str], None],
        *,
        max_held_bytes: float = MAX_HELD_BYTES,
        read_seconds: float = _READ_SECONDS,
    ) -> None:
        """`events` are the actions that are handled; `count` hears of each answer, by a word."""
        self._keeper = keeper
        self._secrets = secrets
        self._events = events
        self._count = count
        self._max_held_bytes = max_held_bytes
        self._read_seconds = read_seconds
        self._held_bytes = 0

    async def take(self, request: web.Request) -> web.Response:
        """Take one delivery."""
        try:
            answer = await self._judge(request)
        except _RefusedError as refusal:
            answer = refusal.answer
        self._count(answer.word)
        return web.json_response({"result": answer.text}, status=answer.status)

    async def _judge(self, request: web.Request) -> _Answer:
        if request.content_type != "application/json" or "Content-Encoding" in request.headers:
            text = "set the content type application/json in the webhook's settings"
            raise _RefusedError(415, text)
        signature = Signature(request.headers.get("X-Hub-Signature-256", ""), self._secrets)
        if not signature.is_claimed:
            cause = "X-Hub-Signature-256 is missing or malformed"
            text = f"{cause}: set a secret in the webhook's settings"
            raise _RefusedError(401, text)
        body = await self._receive(request, signature)
        if not signature.is_proven():
            text = "X-Hub-Signature-256 does not belong to this body and our secret"
            raise _RefusedError(401, text)
        return await self._keep(request, body)

    async def _receive(self, request: web.Request, signature: Signature) -> bytes:
        """The body, whose bytes the signature has seen."""
        if (request.content_length or 0) > MAX_BODY_BYTES:
            raise _RefusedError(413, "the body is larger than GitHub sends")
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._read_seconds):
                async for chunk in request.content.iter_chunked(2**16):
                    size += len(chunk)
                    self._held_bytes += len(chunk)
                    self._check_sizes(size)
                    signature.add(chunk)
                    parts.append(chunk)
        except TimeoutError:
            raise _RefusedError(408, "the body did not come in time") from None
        except (ClientError, ConnectionError):
            raise _RefusedError(400, "the body broke off") from None
        finally:
            self._held_bytes -= size
        return b"".join(parts)

    def _check_sizes(self, size: int) -> None:
        if size > MAX_BODY_BYTES:
            raise _RefusedError(413, "the body is larger than GitHub sends")
        if self._held_bytes > self._max_held_bytes:
            raise _RefusedError(503, "too many large bodies at once; send it again later")

    async def _keep(self, request: web.Request, body: bytes) -> _Answer:
        """Keep a body that is proven."""
        event = request.headers.get("X-GitHub-Event", "")
        number = request.headers.get("X-GitHub-Delivery", "")
        if not (_EVENT.fullmatch(event) and _ID.fullmatch(number)):
            raise _RefusedError(400, "X-GitHub-Event or X-GitHub-Delivery is missing or malformed")
        if event == "ping":
            return _Answer("ignored", 202, "pong")
        if event not in self._events:
            return _Answer("ignored", 202, f"{event} is not handled")
        payload = _decode(body)
        action = payload.get("action")
        if not (isinstance(action, str) and action in self._events[event]):
            return _Answer("ignored", 202, f"this action of {event} is not handled")
        delivery = Delivery(number, event, *_find_address(payload), body)
        try:
            await self._keeper.keep(delivery)
        except Exception as error:
            # A TimeoutError has no words.
            cause = str(error) or type(error).__name__
            _log.error("cannot keep a delivery: %s", cause, extra={"delivery": number})
            return _Answer("failed", 503, "it could not be kept; send it again later")
        return _Answer("kept", 202, "kept")


def _decode(body: bytes) -> dict[str, Any]:
    try:
        payload: Any = json.loads(body)
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise _RefusedError(400, "the body is no JSON object")
    return payload


def _find_address(payload: Mapping[str, Any]) -> tuple[int, str]:
    """The installation and repository that a payload is of; 0 and "" where it names none."""
    installation, repository = payload.get("installation"), payload.get("repository")
    number: Any = installation.get("id") if isinstance(installation, dict) else 0
    name: Any = repository.get("full_name") if isinstance(repository, dict) else ""
    is_number = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**63
    is_name = isinstance(name, str) and _NAME.fullmatch(name)
    return number if is_number else 0, name if is_name else ""
