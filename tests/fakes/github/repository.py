"""The state of one repository on GitHub, and the rules that its description does not tell.

Rights, pages, sizes and authors are as in GitHub's documentation of the REST API. What is not
there raises, so that a test ends with what is missing in place of a default answer.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.fakes.github.answers import Answer
from tests.fakes.github.apps import AppState
from tests.fakes.github.artifacts import Storage
from tests.fakes.github.description import Operation, load_description
from tests.fakes.github.operations import NEEDS, BotState, repository_name

COMMENT_LIMIT = 65_536
CHECK_BYTES = 65_535
ANNOTATIONS = 50
NAME = repository_name


@dataclass(frozen=True)
class Token:
    """Whose a token is and what it may do; a personal one makes no check runs."""

    login: str = "github-actions[bot]"
    rights: Mapping[str, str] = field(
        default_factory=lambda: {"pull-requests": "write", "checks": "write"}
    )
    personal: bool = False


@dataclass
class Fault:
    """Answers so many requests of an operation in another way.

    `status` 0 ends the connection without an answer. `after` does the work first.
    """

    operation: str
    status: int
    times: int = 1
    after: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "made up"


class DisconnectedError(Exception):
    """The connection ends without an answer."""


_COMMENTS = ("issues", "pull-requests")
_NEEDS = {
    "issues/create-comment": (_COMMENTS, "write"),
    "issues/update-comment": (_COMMENTS, "write"),
    "issues/delete-comment": (_COMMENTS, "write"),
    "issues/list-comments": (_COMMENTS, "read"),
    "checks/create": (("checks",), "write"),
    "checks/update": (("checks",), "write"),
    "checks/list-for-ref": (("checks",), "read"),
    "checks/list-annotations": (("checks",), "read"),
    "actions/list-workflow-run-artifacts": (("actions",), "read"),
    "actions/download-artifact": (("actions",), "read"),
    "pulls/list": (("pull-requests",), "read"),
    "pulls/get": (("pull-requests",), "read"),
    "repos/list-pull-requests-associated-with-commit": (("pull-requests",), "read"),
    **NEEDS,
}


@dataclass
class Repository(BotState, AppState):
    """One repository; `requests` are all that came, `violations` what GitHub would not know.

    `api_url` is set where it is served; `waits` is for the seconds that a client would have waited.
    `guards_comments`: a token edits what it has written alone.
    """

    tokens: dict[str, Token] = field(default_factory=lambda: {"t": Token()})
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    checks: dict[int, dict[str, Any]] = field(default_factory=dict)
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    known_commits: dict[str, list[int]] = field(default_factory=dict)
    compared: dict[str, dict[str, str]] = field(default_factory=dict)
    files: dict[tuple[str, str], Any] = field(default_factory=dict)
    storage: Storage = field(default_factory=Storage)
    faults: list[Fault] = field(default_factory=list)
    before: dict[str, Callable[[], None]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    page_limit: int = 100
    guards_comments: bool = False
    api_url: str = "https://api.github.example"
    page_url: str = ""
    waits: list[float] = field(default_factory=list)
    _next: int = 100

    def add_comment(self, issue: int, body: str, login: str = "github-actions[bot]") -> int:
        """A comment that was there before; its id."""
        self._next += 1
        kind = "Bot" if login.endswith("[bot]") else "User"
        self.comments[self._next] = {
            "id": self._next,
            "issue": issue,
            "body": body,
            "user": {"login": login, "type": kind},
        }
        return self._next

    def bodies(self, issue: int = 7) -> list[str]:
        """The comments of an issue, oldest first."""
        return [one["body"] for _, one in sorted(self.comments.items()) if one["issue"] == issue]

    def check_runs(self, sha: str = "a" * 40) -> list[dict[str, Any]]:
        """The check runs of a commit, oldest first."""
        return [one for one in self.checks.values() if one["head_sha"] == sha]

    def send(self, verb: str, target: str, body: Any, token: str) -> Answer:
        """Answer a request; raises DisconnectedError where none comes."""
        url = urlsplit(target)
        query = dict(parse_qsl(url.query))
        self.requests.append((verb, target))
        operation = load_description().find(verb, url.path)
        if operation is None:
            self.violations.append(f"{verb} {url.path}: no such operation")
            return Answer(404, {"message": "Not Found"})
        found = load_description().judge_request(operation, query, body)
        self.violations += [f"{operation.id}: {one}" for one in found]
        if (hook := self.before.pop(operation.id, None)) is not None:
            hook()
        answer = self._answer(operation, query, body, token)
        found = load_description().judge_answer(operation, answer.status, answer.body)
        self.violations += [f"{operation.id}: {one}" for one in found]
        return answer

    def _answer(
        self,
        operation: Operation,
        query: Mapping[str, str],
        body: Any,
        token: str,
    ) -> Answer:
        fault = next((one for one in self.faults if one.operation == operation.id), None)
        if fault is not None:
            fault.times -= 1
            self.faults = [one for one in self.faults if one.times > 0]
            if fault.after:
                self._do(operation, query, body, token)
            if fault.status == 0:
                raise DisconnectedError
            return Answer(fault.status, {"message": fault.message}, fault.headers)
        return self._do(operation, query, body, token)

    def _do(
        self,
        operation: Operation,
        query: Mapping[str, str],
        body: Any,
        token: str,
    ) -> Answer:
        is_apps = operation.id.startswith("apps/")
        who = Token() if is_apps and self.is_app(token) else self.tokens.get(token)
        if who is None or (is_apps and not self.is_app(token)):
            return Answer(401, {"message": "Bad credentials"})
        if not _may(who, operation.id):
            return Answer(403, {"message": "Resource not accessible by integration"})
        values = operation.values
        if "owner" in values and f"{values['owner']}/{values['repo']}" != NAME:
            return Answer(404, {"message": "Not Found"})
        name = "_" + re.sub(r"\W", "_", operation.id)
        answer: Answer = getattr(self, name)(operation, query, body, who)
        schema = load_description().answer_schema(operation, answer.status)
        if schema is None:
            return answer
        filled = load_description().fill(schema, answer.body)
        return Answer(answer.status, filled, answer.headers)

    # --- operations ---------------------------------------------------------------------------

    def _users_get_authenticated(self, *call: Any) -> Answer:
        who = call[3]
        if not who.personal:
            return Answer(403, {"message": "Resource not accessible by integration"})
        return Answer(200, {"login": who.login, "type": "User"})

    def _issues_list_comments(self, operation: Operation, query: Any, *_: Any) -> Answer:
        number = int(operation.values["issue_number"])
        since = query.get("since", "")
        listed = [
            one
            for _, one in sorted(self.comments.items())
            if one["issue"] == number and one.get("updated_at", "9") >= since
        ]
        page, headers = self._page(operation, query, listed)
        return Answer(200, [self._shown(one) for one in page], headers)

    def _issues_create_comment(self, operation: Operation, _: Any, body: Any, who: Token) -> Answer:
        if len(body["body"]) > COMMENT_LIMIT:
            return Answer(422, {"message": "Validation Failed: body is too long"})
        made = self.add_comment(int(operation.values["issue_number"]), body["body"], who.login)
        return Answer(201, self._shown(self.comments[made]))

    def _issues_update_comment(self, operation: Operation, _: Any, body: Any, who: Token) -> Answer:
        known = self.comments.get(int(operation.values["comment_id"]))
        if known is None:
            return Answer(404, {"message": "Not Found"})
        if self.guards_comments and known["user"]["login"] != who.login:
            return Answer(403, {"message": "Must have admin rights to Repository."})
        if len(body["body"]) > COMMENT_LIMIT:
            return Answer(422, {"message": "Validation Failed: body is too long"})
        known["body"] = body["body"]
        return Answer(200, self._shown(known))

    def _issues_delete_comment(self, operation: Operation, *_: Any) -> Answer:
        gone = self.comments.pop(int(operation.values["comment_id"]), None)
        return Answer(204, None) if gone else Answer(404, {"message": "Not Found"})

    def _checks_create(self, _: Operation, __: Any, body: Any, who: Token) -> Answer:
        if who.personal:
            message = "You must authenticate via a GitHub App."
            return Answer(403, {"message": message})
        self._next += 1
        made = {"id": self._next, "annotations": [], **body}
        if (wrong := self._describe(made, body.get("output"))) is not None:
            return wrong
        self.checks[self._next] = made
        return Answer(201, self._run(made))

    def _checks_update(self, operation: Operation, _: Any, body: Any, __: Token) -> Answer:
        known = self.checks.get(int(operation.values["check_run_id"]))
        if known is None:
            return Answer(404, {"message": "Not Found"})
        if (wrong := self._describe(known, body.get("output"))) is not None:
            return wrong
        known.update({name: value for name, value in body.items() if name != "output"})
        return Answer(200, self._run(known))

    @staticmethod
    def _describe(run: dict[str, Any], output: Any) -> Answer | None:
        """Take the output over; annotations are only ever added."""
        if output is None:
            return None
        sizes = [len((output.get(name) or "").encode()) for name in ("summary", "text")]
        added = output.get("annotations", [])
        if max(sizes) > CHECK_BYTES or len(added) > ANNOTATIONS:
            return Answer(422, {"message": "Invalid request."})
        run["annotations"] = [*run["annotations"], *added]
        run["output"] = {name: output.get(name) for name in ("title", "summary", "text")}
        return None

    def _checks_list_for_ref(self, operation: Operation, query: Any, *_: Any) -> Answer:
        runs = self.check_runs(operation.values["ref"])
        named = [one for one in runs if query.get("check_name") in (None, one["name"])]
        page, headers = self._page(operation, query, named)
        listed = [self._run(one) for one in page]
        return Answer(200, {"total_count": len(named), "check_runs": listed}, headers)

    def _actions_list_workflow_run_artifacts(
        self, operation: Operation, query: Any, *_: Any
    ) -> Answer:
        listed = self.storage.of_run(operation, query)
        page, headers = self._page(operation, query, listed)
        return Answer(200, {"total_count": len(listed), "artifacts": page}, headers)

    def _actions_download_artifact(self, operation: Operation, *_: Any) -> Answer:
        upload = self.storage.uploads.get(int(operation.values["artifact_id"]))
        if upload is None:
            return Answer(404, {"message": "Not Found"})
        if upload.expired:
            return Answer(410, {"message": "Artifact has expired"})
        return Answer(302, None, {"Location": self.storage.sign(upload.id)})

    def _pulls_get(self, operation: Operation, *_: Any) -> Answer:
        known = self.pulls.get(int(operation.values["pull_number"]))
        if known is None:
            return Answer(404, {"message": "Not Found"})
        url = f"{self.api_url}/repos/{NAME}/pulls/{known['number']}"
        return Answer(200, {"url": url, **known})

    def _pulls_list(self, operation: Operation, query: Any, *_: Any) -> Answer:
        listed = [
            one
            for one in self.pulls.values()
            if one["head"]["label"] == query["head"] and one["state"] == query["state"]
        ]
        page, headers = self._page(operation, query, listed)
        return Answer(200, page, headers)

    def _repos_list_pull_requests_associated_with_commit(
        self,
        operation: Operation,
        *_: Any,
    ) -> Answer:
        numbers = self.known_commits.get(operation.values["commit_sha"])
        if numbers is None:
            return Answer(422, {"message": "No commit found for SHA"})
        return Answer(200, [self.pulls[number] for number in numbers])

    def _repos_compare_commits_with_basehead(self, operation: Operation, *_: Any) -> Answer:
        """`compared` holds, for each BASE...HEAD, the ids of both commits and a date."""
        known = self.compared.get(operation.values["basehead"])
        if known is None:
            return Answer(404, {"message": "Not Found"})
        dated = {"committer": {"date": known["date"]}}
        names = ("base_commit", "merge_base_commit")
        return Answer(200, {name: {"sha": known[name], "commit": dated} for name in names})

    def _repos_get_content(self, operation: Operation, query: Any, *_: Any) -> Answer:
        """`files` holds, for each path and commit, bytes, or the fields of another answer."""
        found = self.files.get((operation.values["path"], query["ref"]))
        if found is None:
            return Answer(404, {"message": "Not Found"})
        if isinstance(found, bytes):
            text = base64.encodebytes(found).decode("ascii")
            found = {"type": "file", "encoding": "base64", "content": text, "size": len(found)}
        return Answer(200, found)

    def _page(
        self, operation: Operation, query: Mapping[str, str], listed: list[Any]
    ) -> tuple[list[Any], dict[str, str]]:
        size = min(int(query.get("per_page", 30)), self.page_limit)
        page = int(query.get("page", 1))
        start = (page - 1) * size
        more = start + size < len(listed)
        address = self.page_url or f"{self.api_url}{operation.path}"
        link = f'<{address}?{urlencode({**query, "page": page + 1})}>; rel="next"'
        return listed[start : start + size], {"Link": link} if more else {}

    def _shown(self, comment: Mapping[str, Any]) -> dict[str, Any]:
        url = f"https://github.example/{NAME}/pull/{comment['issue']}#issuecomment-{comment['id']}"
        return {
            **{name: comment[name] for name in ("id", "body", "user")},
            "url": f"{self.api_url}/repos/{NAME}/issues/comments/{comment['id']}",
            "html_url": url,
        }

    def _run(self, run: Mapping[str, Any]) -> dict[str, Any]:
        shown = {name: value for name, value in run.items() if name != "annotations"}
        output = {**(run.get("output") or {}), "annotations_count": len(run["annotations"])}
        url = f"https://github.example/{NAME}/runs/{run['id']}"
        address = f"{self.api_url}/repos/{NAME}/check-runs/{run['id']}"
        return {**shown, "url": address, "html_url": url, "output": output}


def _may(who: Token, operation: str) -> bool:
    areas, level = _NEEDS.get(operation, ((), "read"))
    held = {who.rights.get(area) for area in areas}
    return not areas or "write" in held or level in held
