"""What the bot asks for: rights, pushes, workflow runs, reactions, suggestions and commits."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.github.answers import Answer
from tests.fakes.github.description import Operation

repository_name = "octo/demo"

NEEDS = {
    "actions/cancel-workflow-run": (("actions",), "write"),
    "actions/create-workflow-dispatch": (("actions",), "write"),
    "actions/get-workflow": (("actions",), "read"),
    "actions/get-workflow-run": (("actions",), "read"),
    "actions/list-jobs-for-workflow-run": (("actions",), "read"),
    "actions/list-workflow-runs-for-repo": (("actions",), "read"),
    "actions/re-run-workflow-failed-jobs": (("actions",), "write"),
    "pulls/create-review-comment": (("pull-requests",), "write"),
    "pulls/list-files": (("pull-requests",), "read"),
    "pulls/list-review-comments": (("pull-requests",), "read"),
    "reactions/create-for-issue-comment": (("issues", "pull-requests"), "write"),
    "repos/create-or-update-file-contents": (("contents",), "write"),
    "repos/get-commit": (("contents",), "read"),
    "repos/list-activities": (("contents",), "read"),
}


@dataclass
class BotState:
    """What the bot's operations read and change.

    `permissions` are GitHub's words by login; `activities` the pushes by branch, newest first;
    `workflows` the files that take a dispatch; `dispatched` what was started, `ended` the runs that
    were cancelled, `again` those whose failed jobs were started again; `made` are commits: message
    and parent. `is_older`: a GitHub Enterprise Server that does not say which run it started.
    """

    permissions: dict[str, str] = field(default_factory=dict)
    activities: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    workflows: set[str] = field(default_factory=lambda: {"agent-live-routing.yml"})
    runs: dict[int, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    diffs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    dispatched: list[dict[str, Any]] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    reactions: list[tuple[int, str]] = field(default_factory=list)
    suggestions: list[dict[str, Any]] = field(default_factory=list)
    commits: list[dict[str, Any]] = field(default_factory=list)
    made: dict[str, tuple[str, str]] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    is_older: bool = False

    def add_run(self: Any, run_id: int, sha: str, **more: Any) -> None:
        """A run of the workflow that measures; it has ended unless `status` says otherwise."""
        self.runs[run_id] = {
            "id": run_id,
            "head_sha": sha,
            "event": "pull_request",
            "status": "completed",
            "conclusion": "failure",
            "display_title": "A change",
            "run_attempt": 1,
            "created_at": "2026-11-29T12:00:10Z",
            "path": ".github/workflows/agent-live-routing.yml",
            "html_url": f"https://github.example/{repository_name}/actions/runs/{run_id}",
            **more,
        }

    def _repos_get_collaborator_permission_level(self, operation: Operation, *_: Any) -> Answer:
        word = self.permissions.get(operation.values["username"])
        if word is None:
            return Answer(404, {"message": "Not Found"})
        return Answer(200, {"permission": word, "role_name": word})

    def _repos_list_activities(self, _: Operation, query: Any, *__: Any) -> Answer:
        return Answer(200, self.activities.get(query["ref"], []))

    def _reactions_create_for_issue_comment(
        self, operation: Operation, _: Any, body: Any, *__: Any
    ) -> Answer:
        self.reactions.append((int(operation.values["comment_id"]), body["content"]))
        return Answer(201, {"id": len(self.reactions), "content": body["content"]})

    def _actions_get_workflow(self: Any, operation: Operation, *_: Any) -> Answer:
        name = operation.values["workflow_id"]
        if name not in self.workflows:
            return Answer(404, {"message": "Not Found"})
        url = f"{self.api_url}/repos/{repository_name}/actions/workflows/{name}"
        return Answer(200, {"id": 1, "path": f".github/workflows/{name}", "url": url})

    def _actions_create_workflow_dispatch(
        self: Any, operation: Operation, _: Any, body: Any, *__: Any
    ) -> Answer:
        name = operation.values["workflow_id"].rpartition("/")[2]
        if name not in self.workflows and name != "1":
            return Answer(404, {"message": "Not Found"})
        self.dispatched.append(body)
        run_id = 9000 + len(self.dispatched)
        given = body["inputs"]
        if "command" in given:
            title = "routing command {command} for #{pull_request} at {head_sha}".format(**given)
            self.add_run(run_id, "d" * 40, event="workflow_dispatch", status="queued",
                         conclusion=None, display_title=title)  # fmt: skip
        url = f"https://github.example/{repository_name}/actions/runs/{run_id}"
        address = f"{self.api_url}/repos/{repository_name}/actions/runs/{run_id}"
        if self.is_older or not body.get("return_run_details"):
            return Answer(204, None)
        return Answer(200, {"workflow_run_id": run_id, "run_url": address, "html_url": url})

    def _actions_list_workflow_runs_for_repo(
        self: Any, operation: Operation, query: Any, *_: Any
    ) -> Answer:
        listed = [
            self._shown_run(run)
            for _, run in sorted(self.runs.items(), reverse=True)
            if query.get("head_sha") in (None, run["head_sha"])
            and query.get("event") in (None, run["event"])
        ]
        page, headers = self._page(operation, query, listed)
        return Answer(200, {"total_count": len(listed), "workflow_runs": page}, headers)

    def _actions_get_workflow_run(self: Any, operation: Operation, *_: Any) -> Answer:
        run = self.runs.get(int(operation.values["run_id"]))
        return Answer(200, self._shown_run(run)) if run else Answer(404, {"message": "Not Found"})

    def _actions_list_jobs_for_workflow_run(
        self: Any, operation: Operation, query: Any, *_: Any
    ) -> Answer:
        listed = self.jobs.get(int(operation.values["run_id"]), [])
        page, headers = self._page(operation, query, listed)
        return Answer(200, {"total_count": len(listed), "jobs": page}, headers)

    def _actions_cancel_workflow_run(self, operation: Operation, *_: Any) -> Answer:
        run = self.runs[int(operation.values["run_id"])]
        if run["status"] == "completed":
            return Answer(409, {"message": "Cannot cancel a workflow run that is completed."})
        self.ended.append(run["id"])
        return Answer(202, {})

    def _actions_re_run_workflow_failed_jobs(self, operation: Operation, *_: Any) -> Answer:
        run = self.runs[int(operation.values["run_id"])]
        run |= {"run_attempt": run["run_attempt"] + 1, "status": "queued", "conclusion": None}
        self.again.append(run["id"])
        return Answer(201, {})

    def _pulls_list_files(self: Any, operation: Operation, query: Any, *_: Any) -> Answer:
        listed = self.diffs.get(int(operation.values["pull_number"]), [])
        page, headers = self._page(operation, query, listed)
        return Answer(200, page, headers)

    def _pulls_list_review_comments(self: Any, operation: Operation, query: Any, *_: Any) -> Answer:
        listed = [
            {"id": number, "body": one["body"], "path": one["path"], "line": one["line"],
             "html_url": self._suggestion_url(operation, number), "user": {"login": one["by"]}}
            for number, one in enumerate(self.suggestions, start=1)
        ]  # fmt: skip
        page, headers = self._page(operation, query, listed)
        return Answer(200, page, headers)

    def _pulls_create_review_comment(
        self, operation: Operation, _: Any, body: Any, who: Any
    ) -> Answer:
        self.suggestions.append({**body, "by": who.login})
        number = len(self.suggestions)
        url = self._suggestion_url(operation, number)
        return Answer(201, {"id": number, "html_url": url})

    def _repos_create_or_update_file_contents(
        self: Any, operation: Operation, _: Any, body: Any, *__: Any
    ) -> Answer:
        """A commit on a branch, upon the version that it names; `protected` branches take none."""
        if body.get("branch") in self.protected:
            return Answer(403, {"message": "Resource not accessible by integration"})
        path = operation.values["path"]
        heads = [
            one["head"]
            for one in self.pulls.values()
            if one["head"]["ref"] == body["branch"]
            and one["head"]["repo"]["full_name"] == repository_name
        ]
        parent = heads[0]["sha"] if heads else "0" * 40
        known = self.files.get((path, parent))
        if isinstance(known, dict) and known["sha"] != body["sha"]:
            return Answer(409, {"message": f"{path} does not match {body['sha']}"})
        self.commits.append({**body, "content": base64.b64decode(body["content"]), "path": path})
        number = len(self.commits)
        sha = f"{number:040x}"
        blob = f"{number + 2**32:040x}"
        self.made[sha] = body["message"], parent
        self.files[path, sha] = {
            "type": "file", "encoding": "base64", "content": body["content"],
            "size": len(body["content"]), "path": path, "sha": blob,
        }  # fmt: skip
        for head in heads:
            head["sha"] = sha
        pushed = {"after": sha, "before": parent, "ref": f"refs/heads/{body['branch']}",
                  "timestamp": "2026-11-29T12:00:20Z", "activity_type": "push"}  # fmt: skip
        self.activities.setdefault(pushed["ref"], []).insert(0, pushed)
        commit = {"sha": sha, "html_url": self._commit_url(sha)}
        return Answer(200, {"content": {"path": path, "sha": blob}, "commit": commit})

    def _repos_get_commit(self, operation: Operation, *_: Any) -> Answer:
        sha = operation.values["ref"]
        message, parent = self.made.get(sha, ("A change", "9" * 40))
        made = {
            "sha": sha,
            "html_url": self._commit_url(sha),
            "commit": {"message": message},
            "parents": [{"sha": parent}],
        }
        return Answer(200, made)

    @staticmethod
    def _commit_url(sha: str) -> str:
        return f"https://github.example/{repository_name}/commit/{sha}"

    @staticmethod
    def _suggestion_url(operation: Operation, number: int) -> str:
        pull = operation.values["pull_number"]
        return f"https://github.example/{repository_name}/pull/{pull}#discussion_r{number}"

    def _shown_run(self: Any, run: Mapping[str, Any]) -> dict[str, Any]:
        url = f"{self.api_url}/repos/{repository_name}/actions/runs/{run['id']}"
        return {**run, "url": url, "jobs_url": f"{url}/jobs", "cancel_url": f"{url}/cancel"}
