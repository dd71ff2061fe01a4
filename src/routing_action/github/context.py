"""What a workflow run is about, from its variables and the event's payload."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from routing_action.errors import UsageError
from routing_action.github.documentation import find_docs_url
from routing_action.github.publication import RunLinks

MAX_EVENT_BYTES = 32 * 2**20
"""Above what GitHub sends: 25 MB."""

_PULL_REQUEST = ("pull_request", "pull_request_target", "pull_request_review")
_HEADS = {
    **dict.fromkeys(_PULL_REQUEST, ("pull_request", "head", "sha")),
    "merge_group": ("merge_group", "head_sha"),
    "workflow_run": ("workflow_run", "head_sha"),
}


@dataclass(frozen=True, slots=True)
class Context:
    """The run; empty texts are unknown. Addresses have no slash at their end."""

    event_name: str = ""
    event: Mapping[str, Any] = field(default_factory=dict)
    base_ref: str = ""
    ref_name: str = ""
    sha: str = ""
    repository: str = ""
    run_id: str = ""
    run_attempt: int = 1
    run_number: int = 0
    api_url: str = ""
    server_url: str = ""
    docs_url: str = ""

    @property
    def from_fork(self) -> bool:
        """True for a pull request whose head is in another repository, also a deleted one.

        The payload's `fork` does not tell: it is true for every branch of a repository that is
        itself a fork.
        """
        base = self.text("pull_request", "base", "repo", "full_name")
        head = self.text("pull_request", "head", "repo", "full_name")
        return bool(base) and head.casefold() != base.casefold()

    @property
    def is_of_own_run(self) -> bool:
        """True where the run that a workflow_run event is about was of this repository's branch."""
        head = self.text("workflow_run", "head_repository", "full_name")
        return bool(head) and head.casefold() == self.repository.casefold()

    @property
    def pull_request(self) -> int | None:
        """The number of the pull request that the event itself is about."""
        if self.event_name not in _PULL_REQUEST:
            return None
        number = self.value("pull_request", "number")
        return number if isinstance(number, int) else None

    @property
    def head_sha(self) -> str:
        """The commit that people see: the pull request's or the merge group's head.

        GITHUB_SHA is the merge commit in a run for a pull request, which no page shows. For a
        comment it is the default branch's, which nobody asked about.
        """
        if self.event_name == "issue_comment":
            return ""
        path = _HEADS.get(self.event_name)
        return self.text(*path) if path else self.sha

    def links(self, key: str, report_url: str = "") -> RunLinks:
        """The links to this run and its commit."""
        # What is told of another run is of that one's age: its comment must not hide a newer one.
        run_id, attempt, number = map(self._number_of_run, ("id", "run_attempt", "run_number"))
        return RunLinks(
            server_url=self.server_url,
            repository=self.repository,
            sha=self.head_sha,
            run_id=str(run_id or self.run_id),
            run_attempt=attempt or self.run_attempt,
            run_number=number or self.run_number,
            key=key,
            report_url=report_url,
            docs_url=self.docs_url,
        )

    def _number_of_run(self, name: str) -> int:
        """A number of the run that a workflow_run event is about; 0 where there is none."""
        value = self.value("workflow_run", name) if self.event_name == "workflow_run" else 0
        return value if isinstance(value, int) else 0

    def text(self, *path: str) -> str:
        """The text at a path of the payload; empty where there is none."""
        value = self.value(*path)
        return value if isinstance(value, str) else ""

    def value(self, *path: str) -> Any:  # noqa: ANN401 - foreign JSON
        """What the payload holds at a path; None where there is nothing."""
        value: Any = self.event
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value


def read_context(environ: Mapping[str, str]) -> Context:
    """The context of the step that this runs in."""
    path = environ.get("GITHUB_EVENT_PATH", "")
    server_url = environ.get("GITHUB_SERVER_URL", "").rstrip("/")
    return Context(
        event_name=environ.get("GITHUB_EVENT_NAME", ""),
        event=_read_event(Path(path)) if path else {},
        base_ref=environ.get("GITHUB_BASE_REF", ""),
        ref_name=environ.get("GITHUB_REF_NAME", ""),
        sha=environ.get("GITHUB_SHA", ""),
        repository=environ.get("GITHUB_REPOSITORY", ""),
        run_id=environ.get("GITHUB_RUN_ID", ""),
        run_attempt=_number(environ, "GITHUB_RUN_ATTEMPT", 1),
        run_number=_number(environ, "GITHUB_RUN_NUMBER", 0),
        api_url=environ.get("GITHUB_API_URL", "").rstrip("/"),
        server_url=server_url,
        docs_url=find_docs_url(environ),
    )


def _number(environ: Mapping[str, str], name: str, otherwise: int) -> int:
    text = environ.get(name, "")
    if text and not text.isdecimal():
        raise UsageError(f"{name} {text!r}: not a number", remedy="leave it as the runner sets it")
    return int(text) if text else otherwise


def _read_event(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            event = json.loads(file.read(MAX_EVENT_BYTES))
    except (OSError, ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise UsageError(
            f"the event's payload {path} cannot be read as a JSON object",
            remedy="leave GITHUB_EVENT_PATH as the runner sets it",
        )
    return event
