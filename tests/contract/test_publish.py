"""A delta as check run and comment: what is posted, and what a refusal changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from routing_action.action import post as posting
from routing_action.action.post import Publication, marker_for
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta
from routing_action.gate.rules import DeltaKind
from routing_action.github.comments import CommentMode, parse_marker
from routing_action.github.context import Context
from routing_action.github.publication import RunLinks
from routing_action.report.render_all import render_all, render_error
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import connect
from tests.support.report_values import SOURCE, make_delta, make_entry, make_regression

SHA = "a" * 40
REQUEST = {"pull_request": {"number": 7, "head": {"sha": SHA}}}
CONTEXT = Context(
    event_name="pull_request",
    event=REQUEST,
    repository=NAME,
    run_id="11",
    run_number=5,
    server_url="https://github.example",
)


CONCLUSIONS = {"REGRESSION": Conclusion.FAILURE, "UNMEASURED": Conclusion.NEUTRAL}


def delta_of(kind: str, *, edited: bool = False) -> Delta:
    """A delta of one row, with the conclusion that it comes to."""
    row = make_regression() if kind == "REGRESSION" else make_entry(kind=DeltaKind(kind))
    return make_delta(
        row,
        conclusion=CONCLUSIONS.get(kind, Conclusion.SUCCESS),
        baseline=SOURCE.model_copy(update={"edited": edited}),
    )


def post(
    repository: Repository,
    delta: Delta,
    context: Context = CONTEXT,
    mode: CommentMode = CommentMode.ALWAYS,
) -> Publication:
    """Publish as a job does."""
    links = context.links("routing")
    rendered, warnings = render_all(delta, links)
    assert warnings == ()
    return posting.post(
        rendered,
        marker_for(delta, links),
        repository=connect(repository),
        context=context,
        links=links,
        mode=mode,
    )


@pytest.mark.slow
def test_a_red_delta_is_a_comment_and_a_red_check_run(repository: Repository) -> None:
    """Both lead to the reader."""
    done = post(repository, delta_of("REGRESSION"))
    assert done.warnings == ()
    (body,) = repository.bodies()
    (run,) = repository.check_runs(SHA)
    assert parse_marker(body) == marker_for(delta_of("REGRESSION"), CONTEXT.links("routing"))
    assert "[!CAUTION]" in body
    assert run["conclusion"] == "failure"
    assert done.comment_url.endswith(str(next(iter(repository.comments))))
    assert done.check_url.endswith(str(run["id"]))


@pytest.mark.slow
def test_r15_a_red_run_is_posted(repository: Repository) -> None:
    """Publishing knows no exit code: red, green and neutral are posted alike."""
    for number, (kind, word) in enumerate(
        [("REGRESSION", "failure"), ("OK", "success"), ("UNMEASURED", "neutral")]
    ):
        context = replace(CONTEXT, run_id=str(20 + number), run_number=20 + number)
        post(repository, delta_of(kind), context)
        assert repository.check_runs(SHA)[-1]["conclusion"] == word
        (body,) = repository.bodies()
        assert f"conclusion={word}" in body


@pytest.mark.slow
def test_r9_a_forks_token_degrades_to_one_warning(repository: Repository) -> None:
    """It names both permissions, once."""
    repository.tokens["t"] = Token(rights={"pull-requests": "read", "checks": "read"})
    done = post(repository, delta_of("OK"))
    assert (done.comment_url, done.check_url) == ("", "")
    (warning,) = done.warnings
    assert "`checks: write, pull-requests: write`" in warning


@pytest.mark.slow
def test_one_failure_does_not_keep_the_other_view_back(repository: Repository) -> None:
    """The check run is refused, the comment is posted."""
    repository.faults = [Fault("checks/create", 422)]
    done = post(repository, delta_of("OK"))
    assert len(done.warnings) == 1
    assert "422" in done.warnings[0]
    assert done.comment_url
    assert done.check_url == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "event"),
    [("merge_group", {"merge_group": {"head_sha": SHA}}), ("push", {}), ("schedule", {})],
)
def test_r16_a_merge_group_gets_a_check_run_and_no_comment(
    repository: Repository, name: str, event: dict[str, Any]
) -> None:
    """There is no pull request to comment on."""
    context = replace(CONTEXT, event_name=name, event=event, sha=SHA)
    done = post(repository, delta_of("OK"), context)
    assert done.warnings == ()
    assert len(repository.check_runs(SHA)) == 1
    assert repository.comments == {}


@pytest.mark.slow
def test_the_pull_request_of_another_run_is_proven_by_its_head(repository: Repository) -> None:
    """The trusted half posts where the untrusted half measured."""
    head = {"sha": SHA, "label": "fork:fix"}
    repository.pulls = {9: {"number": 9, "state": "open", "head": head}}
    run = {
        "head_sha": SHA,
        "head_branch": "fix",
        "head_repository": {"owner": {"login": "fork"}},
        "pull_requests": [],
    }
    context = replace(CONTEXT, event_name="workflow_run", event={"workflow_run": run})
    post(repository, delta_of("REGRESSION"), context)
    assert len(repository.bodies(9)) == 1


@pytest.mark.slow
def test_news_are_new_only_where_rows_change() -> None:
    """A second red run with the same rows says nothing new; green says nothing at all."""
    place = RunLinks()
    red = marker_for(delta_of("REGRESSION"), place)
    assert red.news == marker_for(delta_of("REGRESSION"), replace(place, run_number=9)).news
    assert red.news != marker_for(delta_of("IMPROVEMENT"), place).news
    assert marker_for(delta_of("OK"), place).news == "-"
    edited = delta_of("OK", edited=True)
    assert marker_for(edited, place).news != "-"


@pytest.mark.slow
def test_a_gate_that_could_not_decide_is_told_as_an_error(repository: Repository) -> None:
    """Neither green nor a regression, and inert whatever the message holds."""
    place = CONTEXT.links("routing")
    rendered = render_error("cases.json:3: @octocat broke ```it```", place)
    assert "could not be judged" in rendered.comment[0]
    assert "````text\ncases.json:3: @octocat broke ```it```\n````" in rendered.comment[0]
    assert rendered.check.conclusion == "failure"
