"""Where a gate runs again, or by hand for a pull request: what it takes over, and when not."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.github.artifacts import Upload
from tests.fakes.github.repository import NAME, Repository, Token
from tests.fakes.github.server import serve
from tests.support.action_stages import Job
from tests.support.pull_request import STEAL, SUCCESS, PullRequest
from tests.support.result_rows import write_results

RIGHTS = {"pull-requests": "write", "checks": "write", "actions": "read"}
MARKER = (
    "<!-- routing-action key=routing sha={sha} run=9 number={number} attempt=1 "
    "conclusion=success news=1 -->\ngreen"
)
LEG = "routing-results-claude-a1"


class Rerun:
    """A red pull request (run 7, number 3), and a run by a command (9) that measured it green."""

    def __init__(self, folder: Path, hub: Repository) -> None:
        self.hub = hub
        self.change = PullRequest(folder)
        self.change.propose(STEAL)
        self.head = self.change.origin.git("rev-parse", "change")
        base = self.change.origin.git("rev-parse", "main")
        own = {"full_name": NAME, "default_branch": "main"}
        self.pull: dict[str, Any] = {
            "number": 7, "state": "open", "user": {"login": "author"},
            "head": {"sha": self.head, "ref": "change", "label": "x", "repo": own},
            "base": {"sha": base, "ref": "main", "label": "x", "repo": own},
        }  # fmt: skip
        self.hub.pulls[7] = self.pull
        self.hub.add_run(7, self.head, head_repository=own)
        self.hub.add_run(9, base, head_repository=own, event="workflow_dispatch")
        self.change.measure()

    def comment(self, number: int = 4) -> None:
        """What the run by a command has posted."""
        self.hub.add_comment(7, MARKER.format(sha=self.head, number=number))

    def keep_run(self, delta: dict[str, Any], run: str = "9", got: str = "pass") -> None:
        """The artifacts of a run by command, which measured the stolen pair later than others."""
        place = self.change.folder / f"run{run}"
        corpus = hashlib.sha256((self.change.checkout.path / "cases.json").read_bytes()).hexdigest()
        file = write_results(
            place, {("deploy", "claude"): got}, commit=self.head, corpus_sha256=corpus
        )
        later = file.read_text("utf-8").replace("2026-01-01T00:00", f"29{run:0>2}-01-01T00:00")
        entry = {"run": run, "name": LEG, "sha256": hashlib.sha256(later.encode()).hexdigest()}
        own = [one for one in delta["results"] if one["run"] == "7"]
        told = {**delta, "commit": self.head, "results": [*own, entry], "errors": []}
        told |= {"conclusion": "failure", "reasons": ["made up"]}
        for number, (name, path, text) in enumerate(
            (("routing-report-routing-a1", "delta.json", json.dumps(told)),
             (LEG, "batch/results.json", later)), len(self.hub.storage.uploads) + 1
        ):  # fmt: skip
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w") as archive:
                archive.writestr(path, text)
            self.hub.storage.add(Upload(number, name, made.getvalue(), run_id=int(run)))

    def gate(self, attempt: int, event: str, payload: dict[str, Any], **inputs: str) -> Job:
        """The gate's job with all its stages but the upload."""
        self.hub.requests.clear()
        job = Job(self.change.checkout.path, self.change.runner("gate"), event, payload, attempt)
        repository = {"default_branch": "main", "full_name": NAME}
        job.event = {**payload, "repository": repository}
        job.variables = {
            "GITHUB_API_URL": self.hub.api_url, "GITHUB_REPOSITORY": NAME, "GITHUB_RUN_NUMBER": "3",
            "GITHUB_SHA": self.change.head, "GITHUB_SERVER_URL": "https://github.example",
        }  # fmt: skip
        asked = {
            "agents": "claude",
            "needs": json.dumps(SUCCESS),
            "token": "t",
            "key": "routing",
            **inputs,
        }
        assert job.stage("prepare", command="aggregate", **asked).code == 0
        for stage in ("fetch", "main", "publish"):
            done = job.stage(stage, **asked)
            assert done.code == 0, done.stdout + done.stderr
        return job

    def own_gate(self, attempt: int) -> Job:
        """That of the pull request's own run."""
        return self.gate(attempt, "pull_request", {"pull_request": self.pull})


@pytest.fixture
def rerun(tmp_path: Path) -> Iterator[Rerun]:
    """On a GitHub that is served."""
    hub = Repository(tokens={"t": Token(rights=RIGHTS)})
    kept = hub.storage
    with serve(Repository(), kept.routes()) as kept.url, serve(hub):
        yield Rerun(tmp_path, hub)
    assert hub.violations == []


def clear(job: Job) -> None:
    """A runner of its own for the next attempt."""
    report = Path(job.outputs["report-dir"])
    report.rename(report.with_name(f"earlier-{job.attempt}"))


def test_the_gate_of_the_own_run_follows_a_newer_run_where_it_runs_again(rerun: Rerun) -> None:
    """The required check turns green by *Re-run failed jobs*, and the comment tells of both."""
    first = rerun.own_gate(1)
    assert (first.outputs["conclusion"], rerun.hub.check_runs(rerun.head)[0]["conclusion"]) == (
        "failure", "failure",
    )  # fmt: skip
    delta = first.delta
    clear(first)
    rerun.hub.comments.clear()
    rerun.comment()
    rerun.keep_run(delta)
    again = rerun.own_gate(2)
    assert again.outputs["conclusion"] == "success"
    row = next(one for one in again.delta["rows"] if one["case_id"] == "deploy")
    assert (row["got"], row["red_before"]) == ("pass", [1])
    assert "red before" in (Path(again.outputs["report-dir"]) / "comment.md").read_text("utf-8")
    (comment,) = rerun.hub.bodies(7)
    assert "number=4 attempt=2 conclusion=success" in comment
    assert "red before" in comment
    assert rerun.hub.check_runs(rerun.head)[-1]["conclusion"] == "success"


def test_a_gate_brings_together_what_commands_have_measured_at_the_same_time(
    rerun: Rerun,
) -> None:
    """Run 10 judged beside run 9, whose comment is shown; a stranger's run proves nothing."""
    first = rerun.own_gate(1)
    delta = first.delta
    clear(first)
    rerun.hub.comments.clear()
    rerun.comment()
    own, title = (
        {"full_name": NAME, "default_branch": "main"},
        f"command 1/1 for #7 at {rerun.head}",
    )
    for run, got in (("9", "fail"), ("10", "pass"), ("11", "fail"), ("12", "fail"), ("13", "fail")):
        rerun.hub.add_run(int(run), "d" * 40, head_repository=own, event="workflow_dispatch",
                          display_title=title)  # fmt: skip
        rerun.keep_run(delta, run, got)
    rerun.hub.runs[11]["status"] = "in_progress"
    rerun.hub.runs[12]["display_title"] = f"command 1/1 for #17 at {rerun.head}"
    rerun.hub.runs[13]["head_repository"] = {"full_name": "stranger/demo"}
    again = rerun.own_gate(2)
    assert again.outputs["conclusion"] == "success"
    assert {one["run"] for one in again.delta["results"]} == {"7", "9", "10"}
    row = next(one for one in again.delta["rows"] if one["case_id"] == "deploy")
    assert sorted(row["red_in_runs"]) == ["9"]
    (comment,) = rerun.hub.bodies(7)
    assert "number=4 attempt=2 conclusion=success" in comment


@pytest.mark.parametrize("what", ["older", "none", "changed"])
def test_what_is_not_newer_or_not_proven_changes_nothing(rerun: Rerun, what: str) -> None:
    """The gate judges its own legs; what could not be taken over is told."""
    first = rerun.own_gate(1)
    delta = first.delta
    clear(first)
    rerun.hub.comments.clear()
    if what != "none":
        rerun.comment(2 if what == "older" else 4)
        rerun.keep_run(delta)
    if what == "changed":
        rerun.hub.runs[9]["head_repository"] = {"full_name": "stranger/demo"}
    again = rerun.own_gate(2)
    assert again.outputs["conclusion"] == "failure"
    told = [note for note in again.delta["notes"] if "could not be taken into account" in note]
    assert len(told) == (what == "changed")


@pytest.mark.parametrize(
    ("changes", "inputs", "told"),
    [
        ({"state": "closed"}, {}, "pull request #7 is closed"),
        ({}, {"head_sha": "b" * 40}, "a commit was pushed to pull request #7"),
        ({}, {"head_sha": "main"}, "name no pull request and commit"),
        ({}, {"pull_request": "seven"}, "name no pull request and commit"),
        ({}, {"pull_request": "8"}, "cannot read pull request #8"),
        ({}, {"earlier_run": "8"}, "cannot read run 8"),
        ({}, {"earlier_run": "x"}, "is no id of a run"),
    ],
)
def test_a_run_by_hand_that_cannot_be_for_its_pull_request_says_why(
    rerun: Rerun, changes: dict[str, str], inputs: dict[str, str], told: str
) -> None:
    """One sentence; nothing is posted on any commit."""
    rerun.pull.update(changes)
    asked = {"pull_request": "7", "head_sha": rerun.head, **inputs}
    job = rerun.gate(1, "workflow_dispatch", {}, **asked)
    assert job.outputs["status"] == "error"
    assert told in job.outputs["error"]
    assert told in job.summary
    assert [verb for verb, _ in rerun.hub.requests if verb != "GET"] == []
    is_githubs = told.startswith("cannot read")
    assert job.outputs["exit-code"] == ("5" if is_githubs else "2")


def test_the_answer_to_a_comment_fails_only_where_github_refuses_us(rerun: Rerun) -> None:
    """A refusal of ours is an answer; exit code 5 says that we could not give one."""
    comment = {
        "id": 5, "body": "/routing rerun", "created_at": "2026-11-29T12:00:00Z",
        "user": {"login": "stranger", "type": "User"},
    }  # fmt: skip
    issue = {"number": 7, "state": "open", "pull_request": {"url": "x"}}
    event = {"action": "created", "issue": issue, "comment": comment,
             "repository": {"full_name": NAME, "default_branch": "main"}}  # fmt: skip
    job = Job(rerun.change.checkout.path, rerun.change.runner("answer"), "issue_comment", event)
    job.variables = {"GITHUB_API_URL": rerun.hub.api_url, "GITHUB_REPOSITORY": NAME}
    assert job.stage("prepare", command="command").code == 0
    done = job.stage("answer", token="t")
    assert (done.code, "not done; the reply says why" in done.stdout) == (0, True), done.stdout
    rerun.hub.tokens["t"] = Token(rights={"pull-requests": "read"})
    comment["id"] = 6
    done = job.stage("answer", token="t")
    assert done.code == 5
    assert "::error" in done.stdout
    job.event = {"ref": "x"}
    assert job.stage("answer", token="t").code == 2
