"""Who works on a skill is told what the files here do to a prompt, committed or not."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.support.command_line import Finished, run_command
from tests.support.pull_request import FILES, ROUTER, STEAL, STOLEN, skill
from tests.support.repositories import Repository, create

WRITING_FILE = ".claude/skills/writing-notes/SKILL.md"
TEMPLATE = f"{shlex.join([sys.executable, str(ROUTER)])} {{prompt}}"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Two skills and a branch for a change; what runs leave behind is ignored."""
    found = create(tmp_path / "my repository", {**FILES, ".gitignore": "/tests/\n"})
    found.start("change")
    return found


def call(repository: Repository, *words: str, **environ: str) -> Finished:
    return run_command(words, repository.path, {**os.environ, **environ})


def measure(repository: Repository) -> None:
    run = ("run", "--agents", "claude", "--no-progress")
    finished = call(repository, *run, AGENT_CLAUDE_TEMPLATE=TEMPLATE)
    assert finished.code in (0, 1), finished.stderr


def judge(repository: Repository, *words: str) -> str:
    """What is printed, as one line."""
    finished = call(repository, "compare", "--merge-base-of", "main", *words)
    assert finished.code == 1, finished.stderr
    return " ".join(finished.stdout.split())


@pytest.mark.parametrize("state", ["committed", "staged", "edited"])
def test_an_edited_description_is_what_did_it_committed_or_not(
    repository: Repository, state: str
) -> None:
    """With its text before and after, and with what the change leaves alone."""
    repository.write(STEAL)
    if state != "edited":
        repository.git("add", "--all")
    if state == "committed":
        repository.git("commit", "-qm", "steal")
    measure(repository)
    shown = judge(repository)
    assert "This change edits the description of writing-notes" in shown
    assert "- Summarise changes for a customer." in shown
    assert "edits neither" not in shown
    assert "This change does not edit `deploying`." in judge(repository, "--format", "comment")


def test_a_new_skill_that_git_does_not_know_yet_is_what_did_it(repository: Repository) -> None:
    """A file is an edit as soon as agents can read it."""
    repository.write({".claude/skills/thief/SKILL.md": skill("thief", STOLEN)})
    measure(repository)
    assert "This change adds thief (.claude/skills/thief/SKILL.md)" in judge(repository)


def test_nothing_is_said_of_edits_that_were_undone_after_the_run(repository: Repository) -> None:
    """What was measured is no longer here to be looked at."""
    repository.write(STEAL)
    measure(repository)
    repository.git("checkout", "--", ".")
    shown = judge(repository)
    assert "neither" not in shown
    assert "does not edit" not in shown
    assert "measured in a checkout with uncommitted edits" in shown


def test_the_comment_names_the_batch_and_the_proof_of_what_took_the_prompt(
    repository: Repository,
) -> None:
    """Its commands can be pasted; what has nothing to offer is left out."""
    repository.write(STEAL)
    measure(repository)
    made = judge(repository, "--format", "comment")
    shown = call(repository, "report", "--format", "comment").stdout
    for comment in (made, " ".join(shown.split())):
        assert "--from tests/agent-routing/artifacts/" in comment
        assert "RESULTS" not in comment
        assert "Run again, or accept several at once" not in comment
        assert "Found for `writing-notes`: tier 1, loaded instead, load at stdout" in comment
        assert "Kind:" not in comment


@pytest.mark.parametrize("commits", [True, False])
def test_a_replay_tells_the_edited_description_and_its_file(
    repository: Repository, *, commits: bool
) -> None:
    """Recordings hold no descriptions; git does."""
    repository.write(STEAL)
    measure(repository)
    recorded = call(repository, "record", "--to", "tests/recordings")
    assert recorded.code == 0, recorded.stderr
    if commits:
        repository.git("commit", "-qam", "steal")
    run = ("run", "--agents", "claude", "--no-progress", "--replay=tests/recordings")
    assert call(repository, *run).code == 1
    shown = judge(repository)
    assert "This change edits the description of writing-notes" in shown
    assert "but not its description" not in shown
    assert f"writing-notes ({WRITING_FILE})" in shown
