"""The buttons of a check run: each writes the lines that a person would have written as a comment.

GitHub sends their clicks to the App that made the check run, and to no other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from routing_action.bot.last_report import LastReport
from routing_action.bot.payload import Repository, User
from routing_action.gate.model import DeltaEntry
from routing_action.report.steps import can_accept

ACTIONS: Sequence[dict[str, str]] = (
    {
        "label": "Rerun failed",
        "identifier": "rerun",
        "description": "Measure the red pairs again",
    },
    {
        "label": "Explain",
        "identifier": "explain",
        "description": "Reply with the evidence of red cases",
    },
    {
        "label": "Accept",
        "identifier": "accept",
        "description": "Propose the baseline that accepts this",
    },
)
"""GitHub's limits: 20 characters for label and identifier, 40 for the description."""

_CASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MOST_EXPLAINED = 5
_MOST_ACCEPTED = 100


class _Foreign(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _App(_Foreign):
    id: int


class _Pull(_Foreign):
    number: int = Field(ge=1)


class CheckRun(_Foreign):
    """A check run; `external_id` is `routing-action/<key>/<run>/<attempt>` where it is ours."""

    id: int = Field(ge=1)
    head_sha: str
    external_id: str | None = None
    conclusion: str | None = None
    started_at: datetime
    completed_at: datetime | None = None
    app: _App | None = None
    pull_requests: tuple[_Pull, ...] = ()

    def is_of(self, app_id: int, key: str) -> bool:
        """True where this App made it for the gate of a key."""
        is_own = self.app is not None and self.app.id == app_id
        return is_own and (self.external_id or "").startswith(f"routing-action/{key}/")


class _Action(_Foreign):
    identifier: str


class CheckEvent(_Foreign):
    """GitHub's "Webhook events and payloads", check_run."""

    action: str
    check_run: CheckRun
    requested_action: _Action | None = None
    repository: Repository
    sender: User

    @property
    def wish(self) -> str:
        """Which button was pressed; GitHub's own "Re-run" is that of `rerun`. Else ""."""
        if self.action == "rerequested":
            return "rerun"
        is_button = self.action == "requested_action" and self.requested_action is not None
        return self.requested_action.identifier if self.requested_action and is_button else ""


def write_lines(wish: str, report: LastReport, login: str) -> tuple[str, ...]:
    """The commands that a button stands for; empty for what is no button of ours."""
    rows = report.delta.rows if report.delta else ()
    if wish == "rerun":
        return ("/routing rerun failed",)
    if wish == "explain":
        red = _names(row for row in rows if row.gates)
        return tuple(f'/routing explain "{one}"' for one in red)[:_MOST_EXPLAINED] or (
            "/routing status",
        )
    if wish == "accept":
        names = ",".join(_names(row for row in rows if can_accept(row))[:_MOST_ACCEPTED])
        return (f'/routing accept "{names}" --reason "accepted by the button, by {login}"',)
    return ()


def _names(rows: Iterable[DeltaEntry]) -> list[str]:
    """The cases of rows, each once; no name from an artifact can end a line or a quoted text."""
    return [one for one in dict.fromkeys(row.case_id for row in rows) if _CASE.fullmatch(one)]


def key_of(delivery_id: str) -> int:
    """What stands for a comment's id in the marker of a reply: the same for one click alone."""
    return int(hashlib.sha256(delivery_id.encode()).hexdigest()[:15], 16)


def make_comment(
    event: CheckEvent, delivery_id: str, number: int, lines: Sequence[str]
) -> dict[str, Any]:
    """The payload of the comment that a click stands for.

    It was written when the check run ended: GitHub does not tell when the button was pressed.
    """
    run = event.check_run
    return {
        "action": "created",
        "issue": {"number": number, "pull_request": {}},
        "comment": {
            "id": key_of(delivery_id),
            "body": "\n".join(lines),
            "created_at": run.completed_at or run.started_at,
            "user": event.sender.model_dump(),
        },
        "repository": event.repository.model_dump(),
    }
