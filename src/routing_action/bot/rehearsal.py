"""A repository that exists in memory alone: it answers for one comment, and keeps what is sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from github import Github
from github.Repository import Repository
from github.Requester import Requester

from routing_action.bot.payload import CommentEvent

_COMMIT = "0" * 40
_SHOWN = {
    r"POST .*/issues/comments/\d+/reactions": "reaction",
    r"POST .*/issues/\d+/comments": "reply",
    r"PATCH .*/issues/comments/\d+": "reply, edited",
    r"POST .*/dispatches": "workflow started",
    r"POST .*/cancel": "run cancelled",
    r"POST .*/rerun-failed-jobs": "failed jobs started again",
    r"PUT .*/contents/.*": "commit",
    r"POST .*/pulls/\d+/comments": "suggestion",
}


class Rehearsal:
    """What a bot would send about one comment, in order: a word, and the request's body."""

    def __init__(self, event: CommentEvent, head: str | None, permission: str) -> None:
        """A pull request whose head is `head`, by somebody with GitHub's word of permission."""
        self.sent: list[tuple[str, Any]] = []
        name = event.repository.full_name
        place = {"full_name": name, "default_branch": event.repository.default_branch or "main"}
        pull = {
            "number": event.issue.number,
            "state": event.issue.state,
            "user": {"login": "author"},
            "head": {"sha": head or _COMMIT, "ref": "topic", "repo": place},
            "base": {"ref": place["default_branch"], "repo": place},
        }
        answers: Mapping[str, Any] = {
            r".*/pulls/\d+": pull,
            r".*/collaborators/[^/]+/permission": {"permission": permission},
            r".*/actions/runs": {"total_count": 0, "workflow_runs": []},
            r".*/actions/runs/\d+": {"id": 1, "status": "completed", "url": "/run", "html_url": ""},
            r".*/actions/workflows/[^/]+": {"id": 1, "url": f"/repos/{name}/actions/workflows/1"},
        }
        self.repository = Repository(_Requester(answers, self._keep), url=f"/repos/{name}")

    def _keep(self, verb: str, path: str, body: object) -> object:
        """Keep a request; what it makes has an address of its own."""
        asked = f"{verb} {path}"
        word = next((word for form, word in _SHOWN.items() if re.fullmatch(form, asked)), asked)
        self.sent.append((word, body))
        number = len(self.sent)
        return {"id": number, "url": f"/issues/comments/{number}", "html_url": "",
                "workflow_run_id": number, "run_url": "/run", "commit": {"html_url": ""},
                "content": {}}  # fmt: skip


class _Requester(Requester):
    """Answers what is asked, and hands on what would change something."""

    def __init__(
        self, answers: Mapping[str, Any], keep: Callable[[str, str, object], object]
    ) -> None:
        super().__init__(**Github(lazy=True).requester.kwargs)
        self._answers = answers
        self._keep_sent = keep

    def requestJson(  # noqa: N802 - PyGithub's name
        self,
        verb: str,
        url: str,
        *_: Any,  # noqa: ANN401
        **__: Any,  # noqa: ANN401
    ) -> tuple[int, dict[str, Any], str]:
        """What PyGithub asks for without a body: cancel, and failed jobs again."""
        self._keep_sent(verb, url, None)
        return (202 if url.endswith("cancel") else 201), {}, "{}"

    def requestJsonAndCheck(  # noqa: N802 - PyGithub's name
        self,
        verb: str,
        url: str,
        *_: Any,  # noqa: ANN401
        input: Any = None,  # noqa: A002, ANN401
        **__: Any,  # noqa: ANN401
    ) -> tuple[dict[str, Any], Any]:
        """Every other request of PyGithub's objects."""
        if verb != "GET":
            return {}, self._keep_sent(verb, url, input)
        found = (one for form, one in self._answers.items() if re.fullmatch(form, url))
        return {}, next(found, [])
