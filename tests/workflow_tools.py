"""The linters of workflows, as ./check.sh starts them, on files of a test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

BIN = Path(sys.executable).parent
_NO_LOCK = "adhoc-packages"
"""A reader of the documentation has no lock file yet; versions are pinned all the same."""


def lint(folder: Path, workflows: Mapping[str, str]) -> dict[str, str]:
    """What each tool that found something printed, by its name; empty where all is well.

    The workflows are written into a repository of their own in the folder.
    """
    place = folder / ".github" / "workflows"
    place.mkdir(parents=True)
    for name, text in workflows.items():
        (place / name).write_text(text, encoding="utf-8")
    (folder / "zizmor.yml").write_text(f"rules: {{{_NO_LOCK}: {{disable: true}}}}\n", "utf-8")
    files = [str(place / name) for name in workflows]
    return {name: text for name, text in _findings(folder, files) if text}


def lint_action(folder: Path, text: str) -> str:
    """What jactionlint prints about an action, empty where all is well.

    It alone sees an input or a step's output that a composite does not have.
    """
    file = folder / "action.yml"
    file.write_text(text, encoding="utf-8")
    return _run(["jactionlint", "--no-online", "--strict-exit", str(file)], folder)


def _findings(folder: Path, files: Sequence[str]) -> list[tuple[str, str]]:
    zizmor = ["zizmor", "--offline", "--strict-collection", "--no-progress"]
    jactionlint = ["jactionlint", "--no-online", "--strict-exit", "--ignore", _NO_LOCK]
    schema = ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"]
    return [
        ("zizmor", _run([*zizmor, "--config", "zizmor.yml", *files], folder)),
        ("jactionlint", _run([*jactionlint, *files], folder)),
        ("check-jsonschema", _run([*schema, *files], folder)),
        *(("act", _run(["act", "--validate", "--strict", "-W", file], folder)) for file in files),
    ]


def _run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=cwd,
        env={"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(cwd)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return f"{done.stdout}{done.stderr}" if done.returncode else ""
