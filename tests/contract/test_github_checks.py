"""The check run against a stand-in that is held to GitHub's own description."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_action.github.checks import publish_check
from routing_action.github.failures import PermissionMissingError
from routing_action.github.publication import Annotation, CheckOutput, RunLinks
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import connect

LINKS = RunLinks("https://github.example", NAME, "a" * 40, run_id="11", run_attempt=1)


def output(annotations: int = 0) -> CheckOutput:
    """A red check run."""
    remarks = tuple(
        Annotation("cases.json", n + 1, n + 1, "failure", f"case {n}", "it failed", "proof")
        for n in range(annotations)
    )
    return CheckOutput("routing gate", "failure", "1 regression", "summary", "text", remarks)


@pytest.mark.parametrize("number", [0, 1, 49, 50, 51, 100, 120])
def test_r13_no_annotation_is_lost_at_51(repository: Repository, number: int) -> None:
    """Batches of 50, in order, none twice."""
    url = publish_check(connect(repository), LINKS, output(number))
    (run,) = repository.check_runs()
    assert [one["start_line"] for one in run["annotations"]] == list(range(1, number + 1))
    assert url.endswith(f"/runs/{run['id']}")
    assert (run["conclusion"], run["status"]) == ("failure", "completed")
    assert run["details_url"].endswith("/octo/demo/actions/runs/11/attempts/1")


def test_publishing_twice_updates_the_run_and_repeats_no_annotation(
    repository: Repository,
) -> None:
    """A job that is repeated within an attempt leaves one check run."""
    publish_check(connect(repository), LINKS, output(60))
    green = replace(output(60), conclusion="success")
    publish_check(connect(repository), LINKS, green)
    (run,) = repository.check_runs()
    assert (run["conclusion"], len(run["annotations"])) == ("success", 60)


def test_a_later_attempt_makes_a_check_run_of_its_own(repository: Repository) -> None:
    """GitHub shows the latest of a name, and it has the annotations of that attempt alone."""
    publish_check(connect(repository), LINKS, output(3))
    publish_check(connect(repository), replace(LINKS, run_attempt=2), output(1))
    assert [len(run["annotations"]) for run in repository.check_runs()] == [3, 1]


def test_r6_a_check_run_that_was_made_despite_the_failure_is_not_made_again(
    repository: Repository,
) -> None:
    """After a failure that does not tell, it is looked for first."""
    repository.faults = [Fault("checks/create", 502, after=True)]
    publish_check(connect(repository), LINKS, output(70))
    (run,) = repository.check_runs()
    assert len(run["annotations"]) == 70


def test_r7_texts_beyond_githubs_limits_are_cut_at_a_character(repository: Repository) -> None:
    """Bytes count, not characters."""
    long = "é" * 40_000
    big = replace(output(1), title="t" * 300, summary=long, text=long)
    publish_check(connect(repository), LINKS, big)
    (run,) = repository.check_runs()
    assert len(run["output"]["title"]) == 255
    assert len(run["output"]["summary"].encode()) == 65_534


@pytest.mark.parametrize("token", [Token(rights={"checks": "read"}), Token("me", personal=True)])
def test_r9_a_token_that_makes_no_check_runs_names_the_permission(
    repository: Repository, token: Token
) -> None:
    """A fork's token, and a personal one."""
    repository.tokens["t"] = token
    with pytest.raises(PermissionMissingError) as caught:
        publish_check(connect(repository), LINKS, output())
    assert caught.value.permission == "checks: write"
