"""Describing an agent: a first recording in a clean home, and what is read of it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import ROOT, Finished, Project
from tests.support.own_agent import DESCRIPTION
from tests.support.recorded import FOLDER

KEY = "acme-key-0123456789"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with one skill, a description, and `acme` on the path."""
    skill = tmp_path / ".acme" / "skills" / "foo"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: foo\n---\nBe good.\n", encoding="utf-8")
    (tmp_path / "routing.toml").write_text(DESCRIPTION, encoding="utf-8")
    program = tmp_path / "bin" / "acme"
    program.parent.mkdir()
    command = shlex.join([sys.executable, str(ROOT / "tests/fakes/acme_agent.py")])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    project = Project(tmp_path)
    path = f"{program.parent}:{project.environment()['PATH']}"
    project.variables = {"PATH": path, "ACME_API_KEY": KEY}
    return project


def record(project: Project, name: str, prompt: str, *more: str) -> Finished:
    words = ("--agent", "acme", "--name", name, *more)
    return project.call("providers", "record", *words, "--", prompt)


def tried(project: Project, *names: str) -> Finished:
    files = [f"--stdout=tests/recordings/acme/{name}.stdout" for name in names]
    return project.call("providers", "try", "--agent", "acme", *files)


def test_a_recording_holds_no_secret_and_no_path_of_this_machine(project: Project) -> None:
    """It can be committed, and it says which command reads it."""
    done = record(project, "first", "tell load:foo")
    assert done.code == 0, done.stderr
    folder = project.root / "tests/recordings/acme"
    text = (folder / "first.stdout").read_text("utf-8")
    assert "/repo /home/user [redacted]" in text
    assert KEY not in text
    assert str(project.root) not in text
    facts = json.loads((folder / "first.json").read_text("utf-8"))
    assert (facts["exit_code"], facts["cli_version"]) == (0, "1.2.3")
    next_words = done.stdout.splitlines()[-1].partition(" providers ")[2].split()
    assert project.call("providers", *next_words).code == 0


def test_a_recording_is_not_replaced_in_silence(project: Project) -> None:
    """Neither is a name taken that would leave the folder."""
    assert record(project, "first", "load:foo").code == 0
    again = record(project, "first", "load:foo")
    assert (again.code, "--force" in again.stderr) == (2, True)
    assert record(project, "first", "x", "--force").code == 0
    assert record(project, "../first", "x").code == 2
    assert not (project.root / "tests/recordings/first.stdout").exists()


def test_an_agent_that_does_not_start_leaves_nothing(project: Project) -> None:
    """The message names the next step."""
    (project.root / "bin/acme").unlink()
    done = record(project, "first", "x")
    assert (done.code, "providers doctor --agents acme" in done.stderr) == (4, True)
    assert not (project.root / "tests/recordings").exists()


def test_what_a_set_of_recordings_shows_and_what_is_missing(project: Project) -> None:
    """Of a load, a failed call, a plain answer and a rejected key."""
    for name, prompt in (("load", "load:foo"), ("unknown", "load:nope"), ("plain", "hello")):
        assert record(project, name, prompt).code == 0
    first = tried(project, "load")
    assert first.code == 0, first.stdout
    lines = [" ".join(line.split()) for line in first.stdout.splitlines()]
    assert lines[0] == "tests/recordings/acme/load.stdout: 8 of 8 records read"
    assert "loads foo (line 2)" in lines
    assert "end line 8" in lines
    said = first.stdout.partition("still missing")[2]
    assert [part in said for part in ("positives", "failed calls", "negatives", "failures")] == [
        False, True, True, True
    ]  # fmt: skip
    more = tried(project, "load", "unknown", "plain").stdout
    assert "failed calls foo" not in more
    assert more.partition("still missing")[2].count("\n  ") == 1
    del project.variables["ACME_API_KEY"]
    stored = project.root / "tests/recordings/acme"
    (stored / "key.stdout").write_text(
        '{"event": "failed", "error": {"message": "sign in", "code": "x", "status": 401}}\n',
        encoding="utf-8",
    )
    (stored / "key.json").write_text('{"exit_code": 1}', encoding="utf-8")
    last = tried(project, "load", "unknown", "plain", "key").stdout
    assert "outcome      auth" in last
    assert "still missing" not in last


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('quiet = ["heartbeat"]', "quiet = []", 'heartbeat 1 NOT READ\n for example, line 7: {"e'),
        ('success = "call.ok"', 'success = "call.okay"',
         'records.result.success = "call.okay" leads nowhere'),
        ('success = "call.ok"\n', 'success = "call.id"\nsuccess_is = "c1"\n',
         "is 'c1' in all 2 results"),
        ('kinds = ["failed"]', 'kinds = ["fail"]', "records.error: no record fits"),
        ('kinds = ["done"]', 'kinds = ["usage"]', "records.end: the run continued after it"),
        ('model = "model"', 'model = "modell"', 'records.about.model = "modell" leads nowhere'),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_description_is_named(
    project: Project, old: str, new: str, said: str
) -> None:
    """Before a run rests on it."""
    for name, prompt in (("load", "load:foo"), ("unknown", "load:nope")):
        assert record(project, name, prompt).code == 0
    changed = DESCRIPTION.replace(old, new)
    assert changed != DESCRIPTION
    (project.root / "routing.toml").write_text(changed, encoding="utf-8")
    done = tried(project, "load", "unknown")
    assert said in "\n".join(" ".join(line.split()) for line in done.stdout.splitlines()).replace(
        "\nfor", "\n for"
    )


def test_machines_get_the_same(project: Project) -> None:
    """Also for an agent of ours, which is no description."""
    file = FOLDER / "cli/claude/2.1.332/a_skill.stdout"
    done = project.call(
        "providers", "try", "--agent", "claude", "--stdout", str(file), "--format", "json"
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    (one,) = answer["recordings"]
    assert (one["loads"], one["outcome"]) == (["widget-testing"], "completed")
    assert all(kind["read"] == kind["count"] for kind in one["kinds"].values())
    assert (answer["look_at"], len(answer["missing"])) == ([], 3)


def test_a_recording_that_is_not_there_is_a_usage_error(project: Project) -> None:
    """A broken JSON beside it is one too."""
    done = tried(project, "none")
    assert (done.code, "none.stdout: cannot be read" in done.stderr) == (2, True)
    folder = project.root / "tests/recordings/acme"
    folder.mkdir(parents=True)
    (folder / "none.stdout").write_text("plain words\n", encoding="utf-8")
    assert "line 1 is no record: plain words" in tried(project, "none").stdout
    (folder / "none.json").write_text("{", encoding="utf-8")
    assert tried(project, "none").code == 2
