"""One delivery at its repository, with the settings there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

from routing_action.bot.follow import follow_run
from routing_action.bot.handle import handle_comment
from routing_action.bot.last_report import LastReport, fetch_last_report, find_marker
from routing_action.bot.payload import CommentEvent
from routing_action.bot.server.buttons import key_of, make_comment, write_lines
from routing_action.bot.server.events import Press, PullEvent
from routing_action.bot.server.repository_settings import fetch_settings
from routing_action.bot.work import Settings
from routing_action.errors import DocumentError
from routing_action.github.context import Context
from routing_action.github.failures import asking
from routing_action.github.replies import Place, begin_reply
from routing_action.github.runs import find_runs, name_change
from routing_action.report.markdown import render_reply

if TYPE_CHECKING:
    from datetime import datetime

    from github.PullRequest import PullRequest
    from github.Repository import Repository

_JUST_BEFORE = timedelta(seconds=10)


class Visit:
    """What is done at a repository for a delivery, whose id each reply bears."""

    def __init__(
        self,
        repository: Repository,
        context: Context,
        delivery_id: str,
        default_branch: str,
        settings: Settings,
    ) -> None:
        """Read the settings there; `settings` are those that a repository does not choose."""
        self.repository = repository
        self._context = context
        self._id = delivery_id
        self._broken: DocumentError | None = None
        self.settings = settings
        try:
            self.settings = fetch_settings(repository, default_branch, settings)
        except DocumentError as error:
            self._broken = error

    @property
    def is_broken(self) -> bool:
        """True where the settings cannot be read, which each reply to a command says."""
        return self._broken is not None

    def obey(self, event: CommentEvent, find: Callable[[], LastReport] | None = None) -> None:
        """Answer each command, or say with each reply what is wrong with the settings."""
        if self._broken is not None:
            find = partial(_complain, self._broken)
        handle_comment(event, self.repository, self.settings, self._context, find, worker=self._id)

    def find_report(self, number: int) -> LastReport:
        """The newest report of a pull request."""
        issue, settings = self.repository.get_issue(number), self.settings
        return fetch_last_report(self.repository, issue, settings.key, settings.authors)

    def press(self, press: Press) -> None:
        """Obey a button, if its commit is still the head."""
        pull = self._find_pull(press)
        if pull is None:
            return
        find = cache(partial(self.find_report, pull.number))
        report = LastReport() if self._broken else find()
        lines = write_lines(press.wish, report, press.sender.login)
        if not lines:
            return
        if pull.head.sha == press.head:
            comment = make_comment(press, self._id, pull.number, lines)
            self.obey(CommentEvent.model_validate(comment), find)
            return
        name = " ".join(lines[0].split()[:2])
        cause = f"the button is of an earlier commit: the head is now {pull.head.sha[:12]}"
        remedy = "use the buttons of the newest check run"
        text = render_reply("refused", command=name, cause=cause, remedy=remedy)
        self._say(pull.number, press.since, text)

    def follow(self, run_id: int) -> bool:
        """Tell what a run comes to below its command; False where no command started it."""
        return follow_run(self.repository, run_id, self.settings)

    def tell_base(self, event: PullEvent) -> None:
        """Say that the report judges by a base that the pull request no longer has.

        Nothing is said where there is no report, or where a run that judges again has begun: the
        workflow itself can be started by a change of base.
        """
        pull, settings = event.pull_request, self.settings
        issue = self.repository.get_issue(pull.number)
        marker, url = find_marker(issue, settings.key, settings.authors)
        if marker is None or pull.state != "open":
            return
        title = name_change(pull.number, pull.head.sha)
        runs = find_runs(self.repository, settings.workflow, pull.head.sha, title)
        since = pull.updated_at - _JUST_BEFORE
        if any(run.status != "completed" or run.created_at >= since for run in runs):
            return
        text = render_reply("base", url=url, old=event.old_base, new=pull.base.ref)
        self._say(pull.number, pull.updated_at, text)

    def _say(self, number: int, since: datetime, text: str) -> None:
        """Write a comment, once for this delivery."""
        issue = self.repository.get_issue(number)
        place, authors = Place(key_of(self._id), 1), self.settings.authors
        reply = begin_reply(issue, place, since, authors, text, worker=self._id)
        if reply is not None:
            reply.finish(text)

    def _find_pull(self, press: Press) -> PullRequest | None:
        """The open pull request that a check is shown on; GitHub names none of a fork."""
        with asking("find the pull request", "pull-requests: read"):
            if press.numbers:
                pull = self.repository.get_pull(press.numbers[0])
                return pull if pull.state == "open" else None
            listed = self.repository.get_commit(press.head).get_pulls()
            return next((one for one in listed if one.state == "open"), None)


def _complain(broken: DocumentError) -> LastReport:
    """Every command that needs the settings is answered with what is wrong with them."""
    raise broken
