"""What GitHub sends that the server handles: the payloads of its events, in part.

Sources: GitHub's "Webhook events and payloads". Of each event only some actions ask for work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from routing_action.bot.payload import Repository, User

EVENTS: Mapping[str, frozenset[str]] = {
    "check_run": frozenset({"completed", "requested_action", "rerequested"}),
    "check_suite": frozenset({"rerequested"}),
    "installation": frozenset({"deleted", "new_permissions_accepted", "suspend", "unsuspend"}),
    "installation_repositories": frozenset({"added", "removed"}),
    "issue_comment": frozenset({"created"}),
    "pull_request": frozenset({"edited"}),
    "workflow_job": frozenset({"completed"}),
    "workflow_run": frozenset({"completed"}),
}
"""The actions of each event that are kept; what else GitHub sends is answered, and not kept.

`push` is not among them: settings of a repository are read anew for each delivery.
"""

OF_INSTALLATION = frozenset({"installation", "installation_repositories"})
"""Every App gets these, and none can subscribe to them."""


class _Foreign(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _App(_Foreign):
    id: int


class _Pull(_Foreign):
    number: int = Field(ge=1)


@dataclass(frozen=True, slots=True)
class Press:
    """A button that somebody pressed: which, at which commit, and when at the earliest.

    `numbers` are pull requests that show it; GitHub names none of a fork.
    """

    wish: str
    head: str
    since: datetime
    numbers: tuple[int, ...]
    sender: User
    repository: Repository


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
    """check_run; GitHub's own "Re-run" is our button `rerun`."""

    action: str
    check_run: CheckRun
    requested_action: _Action | None = None
    repository: Repository
    sender: User

    @property
    def press(self) -> Press | None:
        """The button; None where none was pressed."""
        run, wish = self.check_run, ""
        if self.action == "rerequested":
            wish = "rerun"
        elif self.action == "requested_action" and self.requested_action is not None:
            wish = self.requested_action.identifier
        numbers = tuple(one.number for one in run.pull_requests)
        # GitHub does not tell when it was pressed.
        since = run.completed_at or run.started_at
        pressed = Press(wish, run.head_sha, since, numbers, self.sender, self.repository)
        return pressed if wish else None


class _CheckSuite(_Foreign):
    head_sha: str
    updated_at: datetime
    app: _App | None = None
    pull_requests: tuple[_Pull, ...] = ()


class SuiteEvent(_Foreign):
    """check_suite; "Re-run all checks" measures every pair again."""

    action: str
    check_suite: _CheckSuite
    repository: Repository
    sender: User

    def is_of(self, app_id: int) -> bool:
        """True where the checks are this App's."""
        return self.check_suite.app is not None and self.check_suite.app.id == app_id

    @property
    def press(self) -> Press:
        """The button that stands for it."""
        suite = self.check_suite
        numbers = tuple(one.number for one in suite.pull_requests)
        return Press("all", suite.head_sha, suite.updated_at, numbers, self.sender, self.repository)


class _Job(_Foreign):
    run_id: int = Field(ge=1)
    head_branch: str | None = None


class JobEvent(_Foreign):
    """workflow_job."""

    action: str
    workflow_job: _Job
    repository: Repository


class _End(_Foreign):
    ref: str
    sha: str


class _ChangedPull(_Foreign):
    number: int = Field(ge=1)
    state: str
    head: _End
    base: _End
    updated_at: datetime


class _Old(_Foreign):
    old: str = Field(alias="from")


class _OldBase(_Foreign):
    ref: _Old | None = None


class _Changes(_Foreign):
    base: _OldBase | None = None


class PullEvent(_Foreign):
    """pull_request."""

    action: str
    pull_request: _ChangedPull
    changes: _Changes = _Changes()
    repository: Repository

    @property
    def old_base(self) -> str:
        """The branch that was the base until now; "" where the base is what it was."""
        base = self.changes.base
        return base.ref.old if base is not None and base.ref is not None else ""
