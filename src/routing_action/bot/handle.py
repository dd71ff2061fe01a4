"""Obeys the commands of a comment: who asks, at which commit, and one reply for each command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from routing_action.bot.accept import accept
from routing_action.bot.commands import Command, Mistake, Verb, parse_comment
from routing_action.bot.explain import explain
from routing_action.bot.guide import show_help
from routing_action.bot.last_report import LastReport, fetch_last_report
from routing_action.bot.payload import CommentEvent
from routing_action.bot.rerun import rerun
from routing_action.bot.rights import find_refusal, find_role
from routing_action.bot.runs import cancel, show_status
from routing_action.bot.work import Answer, Handler, Settings, Work, refuse
from routing_action.errors import RoutingActionError
from routing_action.github.context import Context
from routing_action.github.failures import LATER, asking
from routing_action.github.people import fetch_permission
from routing_action.github.proposals import find_parent
from routing_action.github.pull_request import fetch_push_time
from routing_action.github.replies import Place, begin_reply, react
from routing_action.report.markdown import render_reply

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

_HANDLERS: Mapping[Verb, Handler] = {
    Verb.RERUN: rerun,
    Verb.EXPLAIN: explain,
    Verb.ACCEPT: accept,
    Verb.STATUS: show_status,
    Verb.CANCEL: cancel,
    Verb.HELP: show_help,
}
_PINNED = (Verb.RERUN, Verb.ACCEPT)
"""What works on the head: the author of the command has to have seen it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one line; `ok` is False for a mistake, a refusal and a failure.

    `has_started`: a run goes on for it, at whose end `follow.follow_run` says what it came to.
    """

    line: int
    what: str
    ok: bool
    has_started: bool = False


def handle_comment(
    event: CommentEvent,
    repository: Repository,
    settings: Settings,
    context: Context,
    find_report: Callable[[], LastReport] | None = None,
    *,
    worker: str,
) -> list[Outcome]:
    """Obey what a comment asks for, each line once, in order; empty where it asks for nothing.

    Only a new comment of a person on a pull request counts: edits, issues, bots and apps are
    passed over. `find_report` stands in for the report that GitHub has; `worker` is the delivery or
    the run that this is, the same whenever it is tried again. Raises ApiError where GitHub does not
    let us reply.
    """
    found = parse_comment(event.comment.body or "") if _is_addressed(event) else ()
    if not found:
        return []
    with asking("read the pull request", "pull-requests: read"):
        pull = repository.get_pull(event.issue.number)
        head = pull.head.sha
    issue = repository.get_issue(event.issue.number)
    react(issue, event.comment.id, "eyes")
    find = find_report or partial(
        fetch_last_report, repository, issue, settings.key, settings.authors
    )
    desk = _Desk(event, repository, pull, head, settings, context, cache(find), worker)
    outcomes = [outcome for one in found for outcome in desk.answer(one)]
    if any(not outcome.ok for outcome in outcomes):
        react(issue, event.comment.id, "confused")
    elif outcomes and not any(outcome.has_started for outcome in outcomes):
        react(issue, event.comment.id, "rocket")
    return outcomes


def _is_addressed(event: CommentEvent) -> bool:
    comment = event.comment
    is_person = comment.user is not None and not comment.user.is_bot
    is_new = event.action == "created" and event.issue.pull_request is not None
    return is_new and is_person and comment.performed_via_github_app is None


class _Desk:
    """Answers the lines of one comment."""

    def __init__(
        self,
        event: CommentEvent,
        repository: Repository,
        pull: PullRequest,
        head: str,
        settings: Settings,
        context: Context,
        find_report: Callable[[], LastReport],
        worker: str,
    ) -> None:
        self._event = event
        self._repository = repository
        self._pull = pull
        self._issue = repository.get_issue(event.issue.number)
        self._head = self._tip = head
        self._settings = settings
        self._context = context
        self._is_fork = _is_fork(pull)
        self._find_report = find_report
        self._worker = worker
        self._has_started = False

    def answer(self, found: Command | Mistake) -> Iterator[Outcome]:
        """Reply to one line, unless that was done before."""
        comment, name = self._event.comment, _name(found)
        reply = begin_reply(
            self._issue,
            Place(comment.id, found.line),
            comment.created_at,
            self._settings.authors,
            render_reply("begun", command=name),
            worker=self._worker,
        )
        if reply is None:
            return
        try:
            answer = self._find_answer(found, is_again=reply.is_again)
        except RoutingActionError as error:
            is_job = error.remedy == LATER  # a comment has none
            answer = refuse(error.cause, "write it again later" if is_job else error.remedy)
        self._tip = answer.tip or self._tip
        self._has_started |= answer.has_started
        reply.finish(render_reply(answer.template, answer.width, command=name, **answer.values))
        yield Outcome(found.line, name, answer.ok, answer.has_started)

    def _find_answer(self, found: Command | Mistake, *, is_again: bool) -> Answer:
        if isinstance(found, Mistake):
            shown = f"{found.text}\n{' ' * (found.column - 1)}^"
            values = {"mistake": found, "shown": shown}
            return Answer("mistake", values, ok=False)
        login = self._event.comment.user.login if self._event.comment.user else ""
        is_author = login.casefold() == (self._pull.user.login or "").casefold()
        forks_author = self._is_fork and is_author
        permission = fetch_permission(self._repository, login)
        role = find_role(permission, is_forks_author=forks_author)
        refusal = find_refusal(found.verb, role, is_forks_author=forks_author)
        refusal = refusal or (self._find_push(found) if found.verb in _PINNED else "")
        if refusal:
            return refuse(refusal)
        work = Work(
            command=found,
            repository=self._repository,
            pull=self._pull,
            head=self._head,
            tip=self._tip,
            is_fork=self._is_fork,
            settings=self._settings,
            context=self._context,
            find_report=self._find_report,
            mark=f"{self._event.comment.id}/{found.line}",
            is_again=is_again,
            has_started=self._has_started,
        )
        return _HANDLERS[found.verb](work)

    def _find_push(self, command: Command) -> str:
        """Why the head is not the one that the comment is about; "" where it is."""
        if self._pull.state != "open":
            return "this pull request is closed"
        if command.trust:
            return ""  # it names its commit itself
        if self._is_seen():
            return ""
        # What an earlier try of this comment has committed is no push of somebody else.
        self._head = find_parent(self._repository, self._head, self._event.comment.id)
        if self._head != self._tip and self._is_seen():
            return ""
        return (
            f"a commit was pushed after this command was written: the head is now "
            f"{self._tip[:12]}. Look at it, and write the command again"
        )

    def _is_seen(self) -> bool:
        """True where the head was pushed before the comment was written, or nobody knows when."""
        pushed = fetch_push_time(self._pull, self._head)
        return pushed is None or pushed <= self._event.comment.created_at


def _is_fork(pull: PullRequest) -> bool:
    head = getattr(pull.head.repo, "full_name", "")
    return head.casefold() != pull.base.repo.full_name.casefold()


def _name(found: Command | Mistake) -> str:
    return found.text if isinstance(found, Mistake) else f"/routing {found.verb.value}"
