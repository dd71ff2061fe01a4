"""What comes from a fork is known by the names of both repositories, and is never believed."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from routing_action.action.publish import UNVERIFIED
from routing_action.gate.deltas import read_delta
from routing_action.github.context import Context
from routing_action.github.publication import RunLinks
from routing_action.report.render_all import write_reports
from tests.support.action_stages import Job
from tests.support.command_line import ROOT
from tests.support.pull_request import STEAL, PullRequest

OWN = "owner/name"


def pull_request(head: object, base: str = OWN) -> Context:
    """The run for a pull request between two repositories."""
    repo = {"full_name": head, "fork": True} if isinstance(head, str) else head
    base_repo = {"full_name": base, "fork": True}
    payload = {"pull_request": {"head": {"repo": repo}, "base": {"repo": base_repo}}}
    return Context(event_name="pull_request", event=payload, repository=base)


@pytest.mark.parametrize(
    ("head", "is_fork"),
    [
        pytest.param(OWN, False, id="the same repository, which is a fork itself"),
        pytest.param("Owner/Name", False, id="in other letters"),
        pytest.param("stranger/name", True, id="another owner"),
        pytest.param("owner/other", True, id="another repository of the owner"),
        pytest.param(None, True, id="a fork that was deleted"),
        pytest.param({}, True, id="a repository without a name"),
    ],
)
def test_g13_a_fork_is_told_by_the_names_of_both_repositories(head: object, is_fork: bool) -> None:
    """`fork` is true for each branch of a repository that is a fork itself."""
    assert pull_request(head).from_fork is is_fork


def test_g13_other_events_come_from_no_fork() -> None:
    """They have no pull request."""
    assert Context(event_name="push", event={}, repository=OWN).from_fork is False


def test_g13_workflows_and_pages_compare_names() -> None:
    """And ask for the event first: a push has no head repository, which differs from any name."""
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/workflows/*.yml"), ROOT / "README.md"]
    asked = 0
    for page in pages:
        text = page.read_text("utf-8")
        assert "repo.fork" not in text, page
        for match in re.finditer(r"pull_request\.head\.repo\.full_name != ", text):
            before = text[max(0, match.start() - 120) : match.start()]
            assert "github.event_name == 'pull_request'" in before, page
            asked += 1
    assert asked == 2


def run_of(head: object, **more: object) -> dict[str, Any]:
    """The payload of a workflow_run event."""
    repo = {"full_name": head} if isinstance(head, str) else head
    return {"workflow_run": {"id": 11, "head_sha": "a" * 40, "head_repository": repo, **more}}


def publish(change: PullRequest, event: dict[str, Any], **forged: object) -> Job:
    """The report of another run, taken and posted into a folder."""
    found = change.check()
    delta = found.delta | forged
    job = change.job("publisher")
    job.event_name, job.event = "workflow_run", event
    job.variables = {"GITHUB_REPOSITORY": OWN}
    given = {"command": "publish", "dry_run": "true"}
    job.stage("prepare", **given)
    legs = Path(job.outputs["legs-dir"])
    legs.mkdir(parents=True)
    (legs / "delta.json").write_text(json.dumps(delta), encoding="utf-8")
    job.stage("main", **given)
    job.stage("publish", **given)
    return job


def check_run(job: Job) -> dict[str, Any]:
    """The check run that was posted."""
    (file,) = Path(job.outputs["report-dir"], "dry-run").glob("*check-runs*.json")
    text = file.read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded.get("body", loaded) if "output" not in loaded else loaded


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(run_of("stranger/name"), id="a fork"),
        pytest.param(run_of("stranger/name", event="push"), id="its push"),
        pytest.param(run_of(None), id="a deleted fork"),
        pytest.param(run_of({}), id="no name"),
        pytest.param({"workflow_run": {"id": 1, "head_sha": "a" * 40}}, id="no repository"),
        pytest.param({}, id="no run at all"),
    ],
)
def test_g15_a_report_that_is_not_our_own_is_marked_and_neutral_at_best(
    change: PullRequest, event: dict[str, Any]
) -> None:
    """The fork's run could have written anything into it."""
    change.propose({"README.md": "x"})
    job = publish(change, event)
    assert job.outputs["conclusion"] == "neutral"
    assert f"**Routing is as expected, {UNVERIFIED}**" in job.summary
    assert "credential" not in job.summary
    if event and event["workflow_run"].get("head_sha"):
        posted = check_run(job)
        assert posted["conclusion"] == "neutral"
        assert UNVERIFIED in posted["output"]["title"]


def test_g15_red_stays_red(change: PullRequest) -> None:
    """With the mark."""
    change.propose(STEAL)
    posted = check_run(publish(change, run_of("stranger/name")))
    assert posted["conclusion"] == "failure"
    assert posted["output"]["title"].startswith(f"Routing gate failed, {UNVERIFIED}")


def test_g15_a_report_cannot_choose_its_own_mark(change: PullRequest) -> None:
    """Nor push it out of the title."""
    change.propose({"README.md": "x"})
    forged = {"unverified": "verified by the maintainers", "reasons": ["all is well " * 100]}
    posted = check_run(publish(change, run_of("stranger/name"), **forged))
    assert UNVERIFIED in posted["output"]["title"]
    assert "verified by the maintainers" not in json.dumps(posted)


@pytest.mark.parametrize("head", [OWN, "Owner/Name"])
def test_g15_a_report_of_our_own_branch_has_no_mark(change: PullRequest, head: str) -> None:
    """Whoever can push to it could post by itself."""
    change.propose({"README.md": "x"})
    posted = check_run(publish(change, run_of(head), unverified="x"))
    assert posted["conclusion"] == "success"
    assert posted["output"]["title"] == "Routing is as expected"


def test_g15_every_report_that_is_made_of_it_has_the_mark(
    change: PullRequest, tmp_path: Path
) -> None:
    """HTML and JUnit too."""
    change.propose({"README.md": "x"})
    job = publish(change, run_of("stranger/name"))
    delta = read_delta(Path(job.outputs["report-dir"], "delta.json"))
    write_reports(delta, tmp_path / "again", RunLinks())
    text = (tmp_path / "again" / "report.html").read_text("utf-8")
    assert UNVERIFIED in text.replace("&#39;", "'")
    suite = ET.parse(tmp_path / "again" / "junit.xml").find("testsuite[@name='claude']")  # noqa: S314
    assert suite is not None
    found = suite.find("properties/property[@name='unverified']")
    assert found is not None
    assert found.get("value") == UNVERIFIED
