"""`baseline update --from-run`: what a workflow run measured, asked of GitHub over HTTP."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from routing_action.errors import UsageError
from routing_action.github.access import find_repository, find_token
from tests.fakes.github.artifacts import Storage, Upload
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import serve
from tests.support.command_line import Finished, loads, run_command
from tests.support.repositories import create
from tests.support.result_rows import write_results

PASS = {"expected_status": "pass"}
NO_GH = {"PATH": "/nowhere"}


@dataclass(frozen=True)
class Person:
    """Somebody at a checkout, with a token in the environment, and GitHub's storage."""

    root: Path
    storage: Storage
    github: Repository

    def upload(self, number: int, name: str, words: Mapping[tuple[str, str], str]) -> None:
        """What a leg of run 11 uploaded."""
        file = write_results(self.root.parent / name, dict(words))
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.write(file, "00000000-0000-4000-8000-000000000001/results.json")
        self.storage.add(Upload(number, name, data.getvalue()))

    def update(self, *arguments: str, **variables: str) -> Finished:
        """`baseline update --from-run 11`."""
        given = {"GITHUB_API_URL": self.github.api_url, "GH_TOKEN": "t", "NO_PROXY": "127.0.0.1"}
        kept = {name: text for name, text in os.environ.items() if "GITHUB" not in name}
        command = ("baseline", "update", "--from-run", "11", *arguments)
        return run_command(command, self.root, {**kept, **given, **variables})

    def entries(self) -> dict[str, dict[str, str]]:
        """The expected statuses in the file."""
        written = json.loads((self.root / "provider-baseline.json").read_text("utf-8"))
        return {
            case_id: {agent: one["expected_status"] for agent, one in agents.items()}
            for case_id, agents in written.items()
        }


@pytest.fixture
def person(repository: Repository, tmp_path: Path) -> Iterator[Person]:
    """Two cases, a baseline of two agents, and a remote at GitHub."""
    repository.tokens = {"t": Token(rights={"actions": "read"})}
    both = {"claude": PASS, "codex": PASS}
    files = {
        "cases.json": json.dumps([loads("one"), loads("two")]),
        "provider-baseline.json": json.dumps({"one": both, "two": both}),
    }
    checkout = create(tmp_path / "a checkout", files)
    checkout.git("remote", "add", "origin", f"https://github.com/{NAME}.git")
    kept = repository.storage
    with serve(Repository(), kept.routes()) as kept.url:
        yield Person(checkout.path, kept, repository)


ACCEPT = ("--accept-regression", "--reason", "known: the ticket says why")


def test_the_newest_attempt_of_each_leg_is_accepted(person: Person) -> None:
    """As the comment's command asks for it: one case on one agent, and nothing else."""
    person.upload(90, "routing-results-claude-a2", {("one", "claude"): "fail"})
    person.upload(95, "routing-results-claude-a1", {("one", "claude"): "pass"})
    person.upload(91, "routing-results-codex-a10", {("one", "codex"): "fail"})
    person.upload(92, "routing-results-codex-a9", {("one", "codex"): "infra"})
    done = person.update("--cases", "one", "--agents", "claude", *ACCEPT)
    assert done.code == 0, done.stderr
    assert f"results of run 11 of {NAME}" in done.stderr
    assert done.stdout.splitlines()[0].startswith("~ one claude: pass -> fail, reason ")
    assert "takes effect when merged: the gate of this pull request stays red" in done.stdout
    assert person.entries()["one"] == {"claude": "fail", "codex": "pass"}
    more = person.update("--repo", NAME, *ACCEPT, GITHUB_REPOSITORY="other/one")
    assert more.code == 0, more.stderr
    assert person.entries()["one"] == {"claude": "fail", "codex": "fail"}


def test_what_is_no_result_is_not_brought(person: Person) -> None:
    """Reports, other artifacts, and names that would lead out of a folder."""
    for number, name in enumerate(("routing-report-x-a1", "routing-results-../../x-a1", "cover")):
        person.storage.add(Upload(number + 1, name, b"no zip"))
    done = person.update()
    assert (done.code, "run 11: uploaded no results" in done.stderr) == (2, True), done.stderr
    assert person.storage.requests == []


@pytest.mark.parametrize(
    ("status", "told"), [(403, "actions: read"), (404, "404"), (401, "not valid")]
)
def test_a_refusal_of_github_is_exit_5(person: Person, status: int, told: str) -> None:
    """Its own exit code, since nothing is wrong with the files."""
    person.github.faults.append(Fault("actions/list-workflow-run-artifacts", status))
    before = person.entries()
    done = person.update()
    assert (done.code, told in done.stderr) == (5, True), done.stderr
    assert person.entries() == before


def test_without_a_token_the_login_is_named(person: Person) -> None:
    """Nothing is asked of GitHub then."""
    done = person.update("--repo", NAME, GH_TOKEN="", GITHUB_TOKEN="", **NO_GH)
    assert (done.code, "gh auth login" in done.stderr) == (2, True), done.stderr
    assert person.github.requests == []


def test_the_token_is_the_variables_else_that_of_gh(tmp_path: Path) -> None:
    """In the order in which GitHub's own command line takes them."""
    program = tmp_path / "gh"
    program.write_text('#!/bin/sh\n[ "$1 $2" = "auth token" ] && echo from-gh\n')
    program.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert find_token({"GH_TOKEN": "a", "GITHUB_TOKEN": "b", **path}) == "a"
    assert find_token({"GITHUB_TOKEN": "b", **path}) == "b"
    assert find_token(path) == "from-gh"
    program.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(UsageError, match="no token for GitHub"):
        find_token(path)


@pytest.mark.parametrize(
    ("address", "known"),
    [
        ("https://github.com/octo/demo.git", True),
        ("https://x-access-token:secret@github.com/octo/demo", True),
        ("git@github.com:octo/demo.git", True),
        ("ssh://git@github.com:22/octo/demo.git/", True),
        ("https://github.com.evil.example/octo/demo.git", False),
        ("https://evil.example/github.com/octo/demo.git", False),
        ("git@gitlab.example:octo/demo.git", False),
        ("/somewhere/octo/demo", False),
        ("https://github.com/octo", False),
    ],
)
def test_the_remote_says_which_repository_it_is(tmp_path: Path, address: str, known: bool) -> None:
    """Only one of this GitHub: the name at another host means another repository."""
    checkout = create(tmp_path / "checkout", {"x": "x"})
    checkout.git("remote", "add", "upstream", address)
    if known:
        found = find_repository("", checkout.path, {})
        assert (found.repository, found.api_url) == ("octo/demo", "https://api.github.com")
    else:
        with pytest.raises(UsageError) as caught:
            find_repository("", checkout.path, {})
        assert "--repo OWNER/NAME" in caught.value.remedy


@pytest.mark.parametrize("name", ["demo", "a/b/c", "../x", "a/b?c", "https://x.example/a/b", "-/x"])
def test_what_is_no_repository_is_not_asked_for(tmp_path: Path, name: str) -> None:
    """A name becomes a part of an address."""
    with pytest.raises(UsageError, match="no repository"):
        find_repository(name, tmp_path, {})
