"""A GitHub App: its key, its installations' tokens, and the log of its webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.fakes.github.answers import Answer
from tests.fakes.github.description import Operation

APP_ID = 4711
SLUG = "routing-bot"


@cache
def make_key() -> tuple[str, str]:
    """A private key and its public one, as PEM."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = made.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = made.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()


@dataclass
class AppState:
    """What an App's operations read and change.

    `app_tokens` are those that an installation gets, by its number, and `app_token_ends` when they
    end; `tokens_made` counts them. `log` holds attempts, newest first; `asked_again` their ids.
    """

    app_tokens: dict[int, str] = field(default_factory=lambda: {7: "installed"})
    app_token_ends: str = "2099-01-01T00:00:00Z"
    app_rights: dict[str, str] = field(default_factory=dict)
    app_events: list[str] = field(default_factory=list)
    hook_url: str = "https://bot.example/webhook"
    tokens_made: list[int] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    log_page: int = 100
    asked_again: list[int] = field(default_factory=list)

    def is_app(self, token: str) -> bool:
        """True where a token is signed with the App's key, for at most ten minutes."""
        try:
            claims = jwt.decode(token, make_key()[1], algorithms=["RS256"])
        except jwt.InvalidTokenError:
            return False
        return bool(claims["iss"] == str(APP_ID) and claims["exp"] - claims["iat"] <= 660)

    def add_attempt(self, number: int, guid: str, at: str, status: int, event: str) -> None:
        """Log an attempt that is older than those before."""
        self.log.append(
            {
                "id": number,
                "guid": guid,
                "delivered_at": at,
                "status_code": status,
                "event": event,
                "redelivery": False,
                "status": "OK" if status == 202 else "failed",
                "action": "created",
                "installation_id": 7,
                "repository_id": 1,
                "duration": 0.1,
            }
        )

    def _apps_get_authenticated(self, *_: Any) -> Answer:
        app = {
            "id": APP_ID,
            "slug": SLUG,
            "permissions": self.app_rights,
            "events": self.app_events,
            "owner": {"login": "octo", "id": 1},
        }
        return Answer(200, app)

    def _apps_create_installation_access_token(self, operation: Operation, *_: Any) -> Answer:
        number = int(operation.values["installation_id"])
        if number not in self.app_tokens:
            return Answer(404, {"message": "Not Found"})
        self.tokens_made.append(number)
        made = {"token": self.app_tokens[number], "expires_at": self.app_token_ends}
        return Answer(201, made)

    def _apps_get_repo_installation(self, *_: Any) -> Answer:
        return Answer(200, {"id": next(iter(self.app_tokens))})

    def _apps_get_webhook_config_for_app(self, *_: Any) -> Answer:
        return Answer(200, {"url": self.hook_url, "content_type": "json"})

    def _apps_list_webhook_deliveries(
        self: Any, operation: Operation, query: Mapping[str, str], *_: Any
    ) -> Answer:
        start = int(query.get("cursor", "v1_0").removeprefix("v1_"))
        end = start + self.log_page
        address = f"{self.api_url}{operation.path}?per_page=100&cursor=v1_{end}"
        more = {"Link": f'<{address}>; rel="next"'} if end < len(self.log) else {}
        return Answer(200, self.log[start:end], more)

    def _apps_redeliver_webhook_delivery(self, operation: Operation, *_: Any) -> Answer:
        self.asked_again.append(int(operation.values["delivery_id"]))
        return Answer(202, {})
