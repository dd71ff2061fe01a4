"""What a workflow run is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from routing_action.errors import UsageError
from routing_action.github.context import read_context

REQUEST = {
    "pull_request": {
        "number": 7,
        "head": {"sha": "b" * 40, "repo": {"full_name": "octo/demo"}},
        "base": {"repo": {"full_name": "octo/demo"}},
    }
}


def environ(tmp_path: Path, name: str, event: Any, **more: str) -> dict[str, str]:  # noqa: ANN401
    """The variables of a step."""
    file = tmp_path / "event.json"
    file.write_text(event if isinstance(event, str) else json.dumps(event), encoding="utf-8")
    return {
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_SHA": "a" * 40,
        "GITHUB_REPOSITORY": "octo/demo",
        "GITHUB_API_URL": "https://api.github.example/",
        "GITHUB_SERVER_URL": "https://github.example/",
        "GITHUB_RUN_ID": "11",
        "GITHUB_RUN_NUMBER": "5",
        "GITHUB_RUN_ATTEMPT": "2",
        **more,
    }


@pytest.mark.parametrize(
    ("name", "event", "sha", "number"),
    [
        ("pull_request", REQUEST, "b", 7),
        ("merge_group", {"merge_group": {"head_sha": "c" * 40}}, "c", None),
        ("workflow_run", {"workflow_run": {"head_sha": "d" * 40}}, "d", None),
        ("push", {}, "a", None),
        ("schedule", {}, "a", None),
    ],
)
def test_the_commit_that_people_see_is_the_events_head(
    name: str,
    event: Any,  # noqa: ANN401
    sha: str,
    number: int | None,
    tmp_path: Path,
) -> None:
    """GITHUB_SHA is a merge commit for pull requests, which no page shows."""
    context = read_context(environ(tmp_path, name, event))
    assert context.head_sha == sha * 40
    assert context.pull_request == number


def test_the_links_have_every_address(tmp_path: Path) -> None:
    """Links go to the server that the runner names."""
    links = read_context(environ(tmp_path, "pull_request", REQUEST)).links("k", "https://x/report")
    assert links.run_url == "https://github.example/octo/demo/actions/runs/11/attempts/2"
    assert (links.key, links.run_number, links.report_url) == ("k", 5, "https://x/report")


def test_the_documents_are_those_of_the_version_in_use(tmp_path: Path) -> None:
    """A step with `uses: ./` names no version, and leads to none."""
    used = {"GITHUB_ACTION_REPOSITORY": "octo/routing", "GITHUB_ACTION_REF": "v1 x"}
    found = read_context(environ(tmp_path, "push", {}, **used)).links("k")
    assert found.docs_page("a.md") == "https://github.example/octo/routing/blob/v1%20x/docs/a.md"
    assert read_context(environ(tmp_path, "push", {})).links("k").docs_page("a.md") == ""


def test_a_fork_is_told_by_its_repository(tmp_path: Path) -> None:
    """Also one that is gone."""
    assert not read_context(environ(tmp_path, "pull_request", REQUEST)).from_fork
    for repo in ({"full_name": "other/demo"}, None):
        event = {"pull_request": {**REQUEST["pull_request"], "head": {"sha": "b", "repo": repo}}}
        assert read_context(environ(tmp_path, "pull_request", event)).from_fork


@pytest.mark.parametrize("event", ["", "[]", "{", "1", "[" * 100_000])
def test_a_payload_that_is_no_object_is_a_usage_error(event: str, tmp_path: Path) -> None:
    """It names the file and the remedy."""
    with pytest.raises(UsageError, match=r"event\.json cannot be read"):
        read_context(environ(tmp_path, "push", event))


def test_what_is_told_of_another_run_has_that_one_s_age(tmp_path: Path) -> None:
    """So a comment about a fork's run hides none of a later run of the same workflow."""
    run = {"workflow_run": {"id": 4, "run_number": 2, "run_attempt": 3, "head_sha": "d" * 40}}
    links = read_context(environ(tmp_path, "workflow_run", run)).links("k")
    assert (links.run_id, links.run_number, links.run_attempt) == ("4", 2, 3)
    odd = {"workflow_run": {"id": "4", "run_number": None}}
    links = read_context(environ(tmp_path, "workflow_run", odd)).links("k")
    assert (links.run_id, links.run_number, links.run_attempt) == ("11", 5, 2)


@pytest.mark.parametrize("name", ["GITHUB_RUN_ATTEMPT", "GITHUB_RUN_NUMBER"])
def test_a_number_that_is_none_is_a_usage_error(name: str, tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(UsageError, match=name):
        read_context(environ(tmp_path, "push", {}, **{name: "two"}))


def test_a_desk_has_no_context() -> None:
    """Outside a workflow everything is unknown."""
    context = read_context({})
    assert (context.repository, context.head_sha, context.from_fork) == ("", "", False)


@pytest.mark.parametrize("request_part", [None, [], "x", {"head": 1}, {"number": "7"}])
def test_a_strange_payload_is_survived(request_part: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """Fields of another type count as unknown."""
    event = {"pull_request": request_part}
    context = read_context(environ(tmp_path, "pull_request", event))
    assert (context.head_sha, context.pull_request, context.from_fork) == ("", None, False)
