"""What a delivery comes to: which of the server's deeds its event asks for, as its installation."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import ValidationError

from routing_action.bot.commands import PREFIX, parse_comment
from routing_action.bot.last_report import LastReport
from routing_action.bot.payload import CommentEvent, RunEvent
from routing_action.bot.payload import Repository as Place
from routing_action.bot.server.app import GitHubApp
from routing_action.bot.server.buttons import ACTIONS
from routing_action.bot.server.events import (
    OF_INSTALLATION,
    CheckEvent,
    JobEvent,
    PullEvent,
    SuiteEvent,
)
from routing_action.bot.server.queue.deliveries import Delivery, Kept
from routing_action.bot.server.visit import Visit
from routing_action.bot.work import Settings
from routing_action.errors import DocumentError
from routing_action.files.documents import Model, find_fault, name_field
from routing_action.github.checks import offer_actions
from routing_action.github.client import open_repository
from routing_action.github.context import Context
from routing_action.github.failures import ApiError, asking
from routing_action.github.people import name_authors
from routing_action.github.publication import RunLinks
from routing_action.github.runs import parse_run_name

if TYPE_CHECKING:
    from github.Repository import Repository

_LOCAL = ("127.0.0.1", "localhost")
_MOST_KNOWN = 10_000

_log = logging.getLogger("routing_action.bot")


class _Known:
    """The newest things that were seen, for any number of threads."""

    def __init__(self) -> None:
        self._seen: OrderedDict[Hashable, None] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, one: Hashable) -> bool:
        with self._lock:
            return one in self._seen

    def add(self, one: Hashable) -> bool:
        """True where it was not seen before."""
        with self._lock:
            is_new = one not in self._seen
            self._seen[one] = None
            while len(self._seen) > _MOST_KNOWN:
                self._seen.popitem(last=False)
        return is_new


class Handler:
    """Handles a delivery as its installation; called by any number of threads.

    `tell_budget` hears how many requests an installation has left; `link` gives the page of a
    pull request's report, or "".
    """

    def __init__(
        self,
        app: GitHubApp,
        api_url: str,
        server_url: str,
        tell_budget: Callable[[int, int], None],
        link: Callable[[str, int], str] = lambda _, __: "",
    ) -> None:
        self._app = app
        self._api_url = api_url
        self._server_url = server_url
        self._tell_budget = tell_budget
        self._link = link
        self._offered = _Known()
        self._strangers = _Known()
        self._deeds = {
            "issue_comment": self._answer_comment,
            "check_run": self._answer_check,
            "check_suite": self._answer_suite,
            "pull_request": self._answer_pull,
            "workflow_job": self._answer_job,
            "workflow_run": self._answer_run,
        }

    def __call__(self, kept: Kept) -> None:
        """Do what a delivery asks for. Raises ApiError where GitHub does not let us for now."""
        delivery = kept.delivery
        if delivery.event in OF_INSTALLATION:
            # Its permissions or repositories are others now, and so are those of its next token.
            self._app.forget_token(delivery.installation)
            _log.info("an installation has changed", extra={"delivery": delivery.id})
            return
        deed = self._deeds.get(delivery.event)
        if deed is None or not (delivery.installation and delivery.repository):
            return  # a webhook of a repository, which no App is installed for
        try:
            deed(delivery)
        except ApiError as error:
            if error.status == 401:
                self._app.forget_token(delivery.installation)
            raise

    def _answer_comment(self, delivery: Delivery) -> None:
        event = _parse(CommentEvent, delivery)
        body = event.comment.body or ""
        # Most comments are not for us: they cost no request, and hardly any time.
        if event.action == "created" and PREFIX in body.lower() and parse_comment(body):
            visit = self._visit(delivery, event.repository)
            try:
                visit.obey(event)
            finally:
                self._count_budget(delivery, visit)

    def _answer_check(self, delivery: Delivery) -> None:
        event = _parse(CheckEvent, delivery)
        run, press, own = event.check_run, event.press, self._app.identify().id
        is_red = event.action == "completed" and run.conclusion == "failure"
        is_ours = run.app is not None and run.app.id == own
        if not is_ours or not (is_red or (press and not event.sender.is_bot)):
            return
        visit = self._visit(delivery, event.repository)
        is_of_gate = run.is_of(own, visit.settings.key)
        if press is not None and (is_of_gate or visit.is_broken):
            visit.press(press)
        elif is_of_gate and self._offered.add((run.id, run.completed_at)):
            # GitHub tells us of the change that we make here, too.
            offer_actions(visit.repository, run.id, ACTIONS)

    def _answer_suite(self, delivery: Delivery) -> None:
        event = _parse(SuiteEvent, delivery)
        is_ours = event.is_of(self._app.identify().id) and not event.sender.is_bot
        if event.action == "rerequested" and is_ours:
            self._visit(delivery, event.repository).press(event.press)

    def _answer_pull(self, delivery: Delivery) -> None:
        event = _parse(PullEvent, delivery)
        if event.action == "edited" and event.old_base:
            self._visit(delivery, event.repository).tell_base(event)

    def _answer_run(self, delivery: Delivery) -> None:
        event = _parse(RunEvent, delivery)
        run = event.workflow_run
        is_by_command = run.event == "workflow_dispatch" and parse_run_name(run.display_title)
        if event.action == "completed" and is_by_command:
            self._visit(delivery, event.repository).follow(run.id)

    def _answer_job(self, delivery: Delivery) -> None:
        event = _parse(JobEvent, delivery)
        job = event.workflow_job
        # Runs by command are of the default branch; a job does not tell more of its run.
        is_near = job.head_branch == event.repository.default_branch
        known = delivery.repository, job.run_id
        if event.action != "completed" or not is_near or known in self._strangers:
            return
        if not self._visit(delivery, event.repository).follow(job.run_id):
            self._strangers.add(known)

    def find_report(self, name: str, number: int) -> tuple[LastReport, RunLinks]:
        """The newest report of a pull request, and where it stands, for a page."""
        repository = self._open(self._app.find_installation(name), name)
        with asking(f"read pull request #{number}", "pull-requests: read"):
            branch = repository.get_pull(number).base.repo.default_branch
        visit = self._make_visit(repository, self._context(name), "", branch)
        return visit.find_report(number), self._context(name).links(visit.settings.key)

    def _visit(self, delivery: Delivery, place: Place) -> Visit:
        repository = self._open(delivery.installation, delivery.repository)
        context = self._context(delivery.repository, delivery.event)
        return self._make_visit(repository, context, delivery.id, place.default_branch)

    def _make_visit(
        self, repository: Repository, context: Context, delivery_id: str, branch: str
    ) -> Visit:
        settings = Settings(
            authors=name_authors(self._app.identify().slug),
            find_page=partial(self._link, context.repository),
        )
        return Visit(repository, context, delivery_id, branch, settings)

    def _context(self, repository: str, event: str = "") -> Context:
        return Context(
            event_name=event,
            repository=repository,
            api_url=self._api_url,
            server_url=self._server_url,
        )

    def _open(self, installation: int, name: str) -> Repository:
        """The repository, as the App's installation there."""
        token = self._app.get_token(installation)
        is_local = urlsplit(self._api_url).hostname in _LOCAL
        pauses = {"pause_seconds": 0.0, "write_seconds": 0.0} if is_local else {}
        return open_repository(self._api_url, name, token, **pauses)

    def _count_budget(self, delivery: Delivery, visit: Visit) -> None:
        """Pass on how many requests are left, as the last answer said."""
        remaining, limit = visit.repository.requester.rate_limiting
        if limit > 0:
            self._tell_budget(delivery.installation, remaining)


def _parse(model: type[Model], delivery: Delivery) -> Model:
    """The payload. Raises DocumentError, which shows nothing of what it holds."""
    try:
        return model.model_validate_json(delivery.body)
    except ValidationError as error:
        _, cause, where, _ = find_fault(error)
        file = f"payload of {delivery.event}"
        raise DocumentError(cause, file=file, field=name_field(where)) from None
