"""What a delivery comes to: the commands of a comment, or a button of a check run."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import ValidationError

from routing_action.bot.commands import PREFIX, parse_comment
from routing_action.bot.handle import handle_comment
from routing_action.bot.last_report import LastReport, fetch_last_report
from routing_action.bot.payload import CommentEvent
from routing_action.bot.server.app import GitHubApp
from routing_action.bot.server.buttons import (
    ACTIONS,
    CheckEvent,
    key_of,
    make_comment,
    write_lines,
)
from routing_action.bot.server.deliveries import Delivery, Kept
from routing_action.bot.server.repository_settings import fetch_settings
from routing_action.bot.work import Settings
from routing_action.errors import DocumentError
from routing_action.files.documents import Model, find_fault, name_field
from routing_action.github.checks import offer_actions
from routing_action.github.client import open_repository
from routing_action.github.context import Context
from routing_action.github.failures import ApiError, asking
from routing_action.github.replies import Place, begin_reply
from routing_action.report.markdown import render_reply

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

EVENTS = frozenset({"check_run", "issue_comment"})
"""What the App subscribes to; what else GitHub sends is answered, and not kept."""

_LOCAL = ("127.0.0.1", "localhost")
_MOST_OFFERED = 1000


class Handler:
    """Handles a delivery as its installation; called by any number of threads.

    `tell_budget` hears how many requests an installation has left.
    """

    def __init__(
        self,
        app: GitHubApp,
        api_url: str,
        server_url: str,
        tell_budget: Callable[[int, int], None],
    ) -> None:
        self._app = app
        self._api_url = api_url
        self._server_url = server_url
        self._tell_budget = tell_budget
        self._offered: OrderedDict[tuple[int, str], None] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, kept: Kept) -> None:
        """Do what a delivery asks for. Raises ApiError where GitHub does not let us for now."""
        delivery = kept.delivery
        if not (delivery.installation and delivery.repository):
            return  # a webhook of a repository, which no App is installed for
        try:
            if delivery.event == "issue_comment":
                self._answer_comment(delivery)
            elif delivery.event == "check_run":
                self._answer_check(delivery)
        except ApiError as error:
            if error.status == 401:
                self._app.forget_token(delivery.installation)
            raise

    def _answer_comment(self, delivery: Delivery) -> None:
        event = _parse(CommentEvent, delivery)
        body = event.comment.body or ""
        # Most comments are not for us: they cost no request, and hardly any time.
        if event.action == "created" and PREFIX in body.lower() and parse_comment(body):
            visit = _Visit(self, delivery, event.repository.default_branch)
            visit.obey(event)

    def _answer_check(self, delivery: Delivery) -> None:
        event = _parse(CheckEvent, delivery)
        run = event.check_run
        is_red = event.action == "completed" and run.conclusion == "failure"
        is_ours = run.app is not None and run.app.id == self.app_id()
        if not is_ours or not (is_red or (event.wish and not event.sender.is_bot)):
            return
        visit = _Visit(self, delivery, event.repository.default_branch)
        if event.wish:
            visit.press(event)
        elif run.is_of(self.app_id(), visit.settings.key) and self._is_first(event):
            offer_actions(visit.repository, run.id, ACTIONS)

    def _is_first(self, event: CheckEvent) -> bool:
        """False where the buttons were put there before, which may be why GitHub tells us again."""
        key = event.check_run.id, str(event.check_run.completed_at)
        with self._lock:
            is_first = key not in self._offered
            self._offered[key] = None
            while len(self._offered) > _MOST_OFFERED:
                self._offered.popitem(last=False)
        return is_first

    def open(self, delivery: Delivery) -> Repository:
        """The repository, as the App's installation there."""
        token = self._app.get_token(delivery.installation)
        is_local = urlsplit(self._api_url).hostname in _LOCAL
        pauses = {"pause_seconds": 0.0, "write_seconds": 0.0} if is_local else {}
        return open_repository(self._api_url, delivery.repository, token, **pauses)

    def app_id(self) -> int:
        """The App's number, which its check runs bear."""
        return self._app.identify().id

    def authors(self) -> tuple[str, ...]:
        """Who our comments are by: the workflow's token, and the App."""
        return ("github-actions[bot]", f"{self._app.identify().slug}[bot]")

    def context(self, delivery: Delivery) -> Context:
        """What replies say of where they stand."""
        return Context(
            event_name=delivery.event,
            repository=delivery.repository,
            api_url=self._api_url,
            server_url=self._server_url,
        )

    def tell_budget(self, installation: int, repository: Repository) -> None:
        """Pass on how many requests are left, as the last answer said."""
        remaining, limit = repository.requester.rate_limiting
        if limit > 0:
            self._tell_budget(installation, remaining)


class _Visit:
    """One delivery at its repository, with the settings there."""

    def __init__(self, handler: Handler, delivery: Delivery, default_branch: str) -> None:
        self._handler = handler
        self._delivery = delivery
        self.repository = handler.open(delivery)
        self._broken: DocumentError | None = None
        authors = handler.authors()
        self.settings = Settings(authors=authors)
        try:
            self.settings = fetch_settings(self.repository, default_branch, authors)
        except DocumentError as error:
            self._broken = error

    def obey(self, event: CommentEvent, find: Callable[[], LastReport] | None = None) -> None:
        """Answer each command, or say with each reply what is wrong with the settings."""
        if self._broken is not None:
            find = partial(_complain, self._broken)
        context = self._handler.context(self._delivery)
        try:
            handle_comment(
                event,
                self.repository,
                self.settings,
                context,
                find,
                worker=self._delivery.id,
            )
        finally:
            self._handler.tell_budget(self._delivery.installation, self.repository)

    def press(self, event: CheckEvent) -> None:
        """Obey a button, if the check run is of this gate and its commit is still the head."""
        run = event.check_run
        if self._broken is None and not run.is_of(self._handler.app_id(), self.settings.key):
            return
        pull = self._find_pull(event)
        if pull is None:
            return
        issue = self.repository.get_issue(pull.number)
        find = cache(
            partial(
                fetch_last_report,
                self.repository,
                issue,
                self.settings.key,
                self.settings.authors,
            )
        )
        report = LastReport() if self._broken else find()
        lines = write_lines(event.wish, report, event.sender.login)
        if not lines:
            return
        payload = make_comment(event, self._delivery.id, pull.number, lines)
        comment = CommentEvent.model_validate(payload)
        if pull.head.sha == run.head_sha:
            self.obey(comment, find)
        else:
            self._refuse(comment, pull)

    def _refuse(self, comment: CommentEvent, pull: PullRequest) -> None:
        """Say that the button is of a commit that is no longer the head."""
        name = " ".join((comment.comment.body or "").split()[:2])
        reply = begin_reply(
            self.repository.get_issue(pull.number),
            Place(key_of(self._delivery.id), 1),
            comment.comment.created_at,
            self.settings.authors,
            render_reply("begun", command=name),
            worker=self._delivery.id,
        )
        if reply is not None:
            cause = f"the button is of an earlier commit: the head is now {pull.head.sha[:12]}"
            remedy = "use the buttons of the newest check run"
            reply.finish(render_reply("refused", command=name, cause=cause, remedy=remedy))

    def _find_pull(self, event: CheckEvent) -> PullRequest | None:
        """The open pull request that a check run is shown on; GitHub names none of a fork."""
        run = event.check_run
        with asking("find the pull request", "pull-requests: read"):
            if run.pull_requests:
                pull = self.repository.get_pull(run.pull_requests[0].number)
                return pull if pull.state == "open" else None
            listed = self.repository.get_commit(run.head_sha).get_pulls()
            return next((one for one in listed if one.state == "open"), None)


def _complain(broken: DocumentError) -> LastReport:
    """Every command that needs the settings is answered with what is wrong with them."""
    raise broken


def _parse(model: type[Model], delivery: Delivery) -> Model:
    """The payload. Raises DocumentError, which shows nothing of what it holds."""
    try:
        return model.model_validate_json(delivery.body)
    except ValidationError as error:
        _, cause, where, _ = find_fault(error)
        file = f"payload of {delivery.event}"
        raise DocumentError(cause, file=file, field=name_field(where)) from None
