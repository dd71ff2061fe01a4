"""What a workflow run is about, from its variables and the event's payload."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Context:
    """The run; empty texts are unknown."""

    event_name: str = ""
    event: Mapping[str, Any] = field(default_factory=dict)
    base_ref: str = ""
    ref_name: str = ""
    run_id: str = ""
    run_attempt: int = 1

    @property
    def from_fork(self) -> bool:
        """True for a pull request whose head is in another repository."""
        request = self.event.get("pull_request") or {}
        head = ((request.get("head") or {}).get("repo") or {}).get("full_name")
        base = ((request.get("base") or {}).get("repo") or {}).get("full_name")
        return bool(base) and head != base


def read_context(environ: Mapping[str, str]) -> Context:
    """The context of the step that this runs in."""
    path = environ.get("GITHUB_EVENT_PATH", "")
    event = json.loads(Path(path).read_text("utf-8")) if path else {}
    return Context(
        event_name=environ.get("GITHUB_EVENT_NAME", ""),
        event=event if isinstance(event, dict) else {},
        base_ref=environ.get("GITHUB_BASE_REF", ""),
        ref_name=environ.get("GITHUB_REF_NAME", ""),
        run_id=environ.get("GITHUB_RUN_ID", ""),
        run_attempt=int(environ.get("GITHUB_RUN_ATTEMPT") or 1),
    )
