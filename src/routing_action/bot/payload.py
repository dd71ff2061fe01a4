"""What is read of an `issue_comment` event; everything else of the payload is passed over."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Foreign(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(_Foreign):
    """An account; `type` is `User`, `Bot` or `Organization`."""

    login: str
    type: str = "User"

    @property
    def is_bot(self) -> bool:
        """True for what no person types with."""
        return self.type == "Bot" or self.login.endswith("[bot]")


class Issue(_Foreign):
    """An issue or a pull request, which alone has a `pull_request`."""

    number: int = Field(ge=1)
    state: str = "open"
    pull_request: dict[str, Any] | None = None


class Comment(_Foreign):
    """A comment; `user` is null where the account is gone."""

    id: int = Field(ge=1)
    body: str | None = None
    created_at: datetime
    user: User | None = None
    performed_via_github_app: dict[str, Any] | None = None


class Repository(_Foreign):
    """Where the comment stands."""

    full_name: str
    default_branch: str = ""


class CommentEvent(_Foreign):
    """GitHub's "Webhook events and payloads", issue_comment."""

    action: str
    issue: Issue
    comment: Comment
    repository: Repository


class WorkflowRun(_Foreign):
    """A run; `display_title` is its name."""

    id: int = Field(ge=1)
    event: str
    display_title: str = ""


class RunEvent(_Foreign):
    """GitHub's "Webhook events and payloads", workflow_run."""

    action: str
    workflow_run: WorkflowRun
    repository: Repository
