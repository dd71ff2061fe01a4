"""Printed commands begin with a program that the person who reads them can start."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = '[{"case_id": "one", "prompt": "Do it.", "expected_skill": "deploy"}]'


def call(*words: str | Path, cwd: Path, path: str = "", **more: str) -> str:
    """What a command prints, with this PATH before the usual one."""
    environ = {name: value for name, value in os.environ.items() if name not in ("PATH", "UV")}
    environ |= more
    environ["PATH"] = f"{path}{os.pathsep}{os.defpath}"
    environ["PYTHONPATH"] = str(ROOT / "src")
    done = subprocess.run(
        words, cwd=cwd, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The entry point that the scripts write into an environment, in a folder with a space."""
    venv = tmp_path / "my repository" / "own venv"
    (venv / "bin").mkdir(parents=True)
    script = 'source "$1/scripts/env.sh"; entry_point "$2"'
    text = call("bash", "-c", script, "bash", ROOT, venv, cwd=tmp_path)
    python = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n'
    for name, content in (("python", python), ("routing-action", text)):
        (venv / "bin" / name).write_text(content, "utf-8")
        (venv / "bin" / name).chmod(0o755)
    (venv.parent / ".git").mkdir()
    (venv.parent / "sub").mkdir()
    (venv.parent / "cases.json").write_text(CASES, "utf-8")
    return venv / "bin" / "routing-action"


@pytest.mark.slow
@pytest.mark.parametrize("here", [".", "sub"])
def test_a_command_of_a_clones_own_program_works_when_pasted(program: Path, here: str) -> None:
    """It is named by its path from where the person stands."""
    folder = program.parents[2] / here
    printed = call(program, "baseline", "check", cwd=folder)
    (command,) = re.findall(r"`(.+? baseline update) --init", printed)
    assert shlex.split(command)[0] == os.path.relpath(program, folder)
    assert "Usage: routing-action baseline update" in call(
        "bash", "-c", f"{command} --help", cwd=folder
    )


def test_a_program_on_path_is_named_alone(program: Path) -> None:
    """The path would only be longer."""
    printed = call(program, "baseline", "check", cwd=program.parents[2], path=str(program.parent))
    assert "`routing-action baseline update --init" in printed


def test_a_program_that_uv_put_on_path_is_named_by_its_path(program: Path) -> None:
    """PATH is as usual again in the shell that the command is pasted into."""
    on_path, root = str(program.parent), program.parents[2]
    printed = call(program, "baseline", "check", cwd=root, path=on_path, UV="/usr/bin/uv")
    assert "`'own venv/bin/routing-action' baseline update --init" in printed


def test_a_program_elsewhere_is_named_by_its_whole_path(program: Path, tmp_path: Path) -> None:
    """One environment can serve several repositories."""
    other = tmp_path / "other"
    other.mkdir()
    printed = call(program, "baseline", "check", cwd=other)
    assert f"`'{program}' baseline update --init" in printed
