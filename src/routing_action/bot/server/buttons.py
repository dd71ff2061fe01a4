"""The buttons of a check run: each writes the lines that a person would have written as a comment.

GitHub sends their clicks to the App that made the check run, and to no other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from routing_action.bot.last_report import LastReport
from routing_action.bot.server.events import Press
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


def write_lines(wish: str, report: LastReport, login: str) -> tuple[str, ...]:
    """The commands that a button stands for; empty for what is no button of ours."""
    rows = report.delta.rows if report.delta else ()
    if wish in ("rerun", "all"):
        return (f"/routing rerun {'all' if wish == 'all' else 'failed'}",)
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
    press: Press, delivery_id: str, number: int, lines: Sequence[str]
) -> dict[str, Any]:
    """The payload of the comment that a click stands for; it may be older than the click."""
    return {
        "action": "created",
        "issue": {"number": number, "pull_request": {}},
        "comment": {
            "id": key_of(delivery_id),
            "body": "\n".join(lines),
            "created_at": press.since,
            "user": press.sender.model_dump(),
        },
        "repository": press.repository.model_dump(),
    }
