"""`providers drift` on an installed CLI that was made for it, and on stored output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import Finished, Project
from tests.support.own_agent import DESCRIPTION
from tests.support.recorded import FOLDER

KEY = "acme-key-0123456789"
AGENT = """#!/usr/bin/env python3
import json, os, sys
folder = ".acme/skills"
if sys.argv[1:] == ["--version"]:
    print("acme " + os.environ.get("ACME_BASE_URL", "1.0.0"))
    raise SystemExit
asked = sys.argv[-1].split()
wanted = next((one for one in ("routing-probe", "no-such-skill") if one in " ".join(asked)), "")
def say(event, **fields):
    print(json.dumps({"event": event, **fields}))
version = os.environ.get("ACME_BASE_URL", "1.0.0")
say("session", version=version, model="m", skills=sorted(os.listdir(folder)))
if os.environ.get("ACME_BASE_URL") == "9.9.9":
    say("surprise", at="start")
if wanted:
    say("tool.start", call={"id": "c", "name": "load_skill", "args": {"skill": wanted}})
    ok = os.path.isfile(folder + "/" + wanted + "/SKILL.md")
    say("tool.end", call={"id": "c", "ok": ok, "output": "x"})
say("message", content={"text": "Blue."})
say("done")
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with a description, and `acme` on the path."""
    (tmp_path / "routing.toml").write_text(DESCRIPTION, encoding="utf-8")
    program = tmp_path / "bin" / "acme"
    program.parent.mkdir()
    program.write_text(AGENT, encoding="utf-8")
    program.chmod(0o755)
    project = Project(tmp_path)
    path = f"{program.parent}:{project.environment()['PATH']}"
    project.variables = {"PATH": path, "ACME_API_KEY": KEY}
    return project


def drift(project: Project, *words: str) -> Finished:
    return project.call("providers", "drift", "--agent", "acme", "--recordings", "known", *words)


def test_an_installed_cli_is_run_on_three_prompts_and_compared(project: Project) -> None:
    """Its recordings are made by the same command; a newer version that prints more is named."""
    missing = drift(project)
    assert (missing.code, "there is no recording of acme" in missing.stderr) == (2, True)
    assert drift(project, "--to", "known").code == 0
    assert sorted(file.name for file in (project.root / "known/acme/1.0.0").glob("*.stdout")) == [
        "answer.stdout", "load.stdout", "unknown-skill.stdout"
    ]  # fmt: skip

    same = drift(project)
    assert (same.code, same.stdout.splitlines()[-1]) == (0, "  verdicts hold"), same.stdout
    project.variables["ACME_BASE_URL"] = "9.9.9"
    other = drift(project, "--format", "json")
    answer = json.loads(other.stdout)
    assert (other.code, answer["version"], answer["recorded"]) == (1, "9.9.9", "1.0.0")
    assert [(one["what"], one["kind"]) for one in answer["differences"]] == [("new", "surprise")]


def test_without_a_model_it_says_what_it_could_not_see(project: Project) -> None:
    """Nothing is called drift for want of a key."""
    assert drift_of_claude(project, "g_401").code == 4
    said = drift_of_claude(project, "g_401").stdout
    assert "could not be seen: other: auth" in said
    assert "verdicts" not in said


def drift_of_claude(project: Project, name: str) -> Finished:
    folder = FOLDER / "cli"
    file = folder / f"claude/2.1.332/{name}.stdout"
    words = ("--recordings", str(folder), "--stdout", str(file))
    return project.call("providers", "drift", "--agent", "claude", *words)


def test_stored_output_is_compared_without_starting_anything(project: Project) -> None:
    """With what is known of the highest version."""
    done = drift_of_claude(project, "a_skill")
    assert done.code == 0, done.stdout
    assert done.stdout.splitlines()[0] == (
        "claude 2.1.332, compared with the recordings of 2.1.332"
    )
