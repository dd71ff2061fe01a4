"""Webhooks as GitHub sends them: signed bodies, and the examples of its own descriptions."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

EXAMPLES_FILE = Path(__file__).parents[1] / "fakes" / "github" / "webhooks.json"
SECRET = "the webhook's secret"


def sign(body: bytes, secret: str = SECRET) -> str:
    """The value of X-Hub-Signature-256."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers(
    body: bytes, number: str = "d-1", event: str = "issue_comment", **more: str
) -> dict[str, str]:
    """What GitHub sends with a body; `more` has `_` for `-`, and "" leaves a header out."""
    made = {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": number,
        "X-Hub-Signature-256": sign(body),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    return {name: value for name, value in made.items() if value}


def load_examples() -> list[tuple[str, dict[str, Any]]]:
    """Each example with the name of its event."""
    known = json.loads(EXAMPLES_FILE.read_text("utf-8"))
    return [(event, one) for event, listed in known.items() for one in listed]
