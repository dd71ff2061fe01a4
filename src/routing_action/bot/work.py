"""What a command works with, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from routing_action.bot.commands import Command
from routing_action.bot.last_report import LastReport
from routing_action.github.context import Context
from routing_action.github.people import WORKFLOW_AUTHOR

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository


DEFAULT_WORKFLOW = "agent-live-routing.yml"


@dataclass(frozen=True, slots=True)
class Settings:
    """How this repository uses the bot.

    `key` names the gate, `workflow` the file that measures and gates, which takes the inputs of a
    rerun; `authors` are the logins that our comments can bear, and `find_page` gives the page of a
    pull request's report, where there are pages, else "".
    """

    key: str = "routing"
    workflow: str = DEFAULT_WORKFLOW
    authors: tuple[str, ...] = (WORKFLOW_AUTHOR,)
    find_page: Callable[[int], str] = lambda _: ""


@dataclass(frozen=True, slots=True)
class Work:
    """One command on one pull request; `head` is the commit that was its head when it was read.

    `tip` is the head by now: later where a command before this one has committed, `mark` names the
    command in what it starts and makes. `is_again`: an earlier try may have done it all.
    `has_started`: a command before this one has started a run that measures the head.
    """

    command: Command
    repository: Repository
    pull: PullRequest
    head: str
    tip: str
    is_fork: bool
    settings: Settings
    context: Context
    find_report: Callable[[], LastReport]
    mark: str
    is_again: bool = False
    has_started: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What the reply shows: a template of templates/bot and its values; `ok` where it was done.

    `width` is the longest text from outside that it shows, in characters; `tip` the commit that was
    made, and `has_started` that a run was started, which ends later.
    """

    template: str
    values: Mapping[str, object] = field(default_factory=dict)
    ok: bool = True
    width: int = 400
    tip: str = ""
    has_started: bool = False


Handler: TypeAlias = Callable[[Work], Answer]


def refuse(cause: str, remedy: str = "") -> Answer:
    """A command that is not obeyed: sentences without a full stop."""
    return Answer("refused", {"cause": cause, "remedy": remedy}, ok=False)


def refuse_old(work: Work, sha: str) -> Answer:
    """A command on a report of `sha`, which is not the head."""
    return refuse(
        f"the report is of {sha[:12]}, and the head is {work.head[:12]}",
        "wait for the run of the head to report; `/routing status` shows it",
    )
