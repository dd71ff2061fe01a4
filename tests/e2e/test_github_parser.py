"""GitHub's own parser and language service on the action, the workflows and the documents."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bench import E2E, STANDINS
from tests.integration.test_action_definition import DOCUMENTED
from tests.live.clis import install_node, install_packages
from tests.support.workflow_files import ACTION, WORKFLOWS, read_yaml

pytestmark = pytest.mark.slow

OWN = "routing-action"


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    """The command that checks files; bundled, since the packages run in no other way."""
    modules = install_packages(E2E)
    script = tmp_path_factory.mktemp("parser") / "check.cjs"
    path = os.pathsep.join([*map(str, install_node()), os.environ["PATH"]])
    environment = {"PATH": path, "NODE_PATH": str(modules)}
    options = ("--bundle", "--platform=node", "--format=cjs", "--log-level=warning")
    source = str(E2E / "parsers" / "check.mjs")
    command = [str(modules / ".bin" / "esbuild"), source, *options, f"--outfile={script}"]
    subprocess.run(command, env=environment, check=True, timeout=60)
    return ["/usr/bin/env", f"PATH={path}", "node", str(script), json.dumps(known_inputs())]


def known_inputs() -> dict[str, Any]:
    """The inputs of this action, and of those that have a stand-in."""
    files = {OWN: ACTION, **{path.name: path / "action.yml" for path in STANDINS.iterdir()}}
    return {
        name: {
            one: {"description": "", "required": False, **spec}
            for one, spec in read_yaml(file)["inputs"].items()
        }
        for name, file in files.items()
    }


def findings(checker: Sequence[str], *files: Path) -> list[str]:
    """What GitHub's editor would underline."""
    command = [*checker, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return [
        f"{Path(one['file']).name}:{one['line']}: {one['message']}"
        for one in json.loads(done.stdout)
    ]


def test_github_finds_nothing_in_the_action_and_the_workflows(checker: Sequence[str]) -> None:
    """Neither an error nor a warning."""
    assert findings(checker, ACTION, *WORKFLOWS) == []


def test_github_finds_nothing_in_the_documented_workflows(
    checker: Sequence[str], tmp_path: Path
) -> None:
    """Their steps name inputs that this action has."""
    place = tmp_path / ".github" / "workflows"
    place.mkdir(parents=True)
    for name, text in DOCUMENTED.items():
        (place / name).write_text(text, encoding="utf-8")
    assert findings(checker, *sorted(place.iterdir())) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("command: aggregate", "comand: aggregate", "Invalid action input 'comand'"),
        ("toJSON(needs)", "toJSON(need)", "Unrecognized named-value: 'need'"),
        ("cancelled()", "canceled()", "Unrecognized function: 'canceled'"),
        (
            "needs: [plan, measure]",
            "needs: [plan, mesure]",
            "Job 'gate' depends on unknown job 'mesure'",
        ),
        ("permissions: {}", "permissions: {x: read}", "Unexpected value 'x'"),
    ],
)
def test_github_finds_a_slip(
    checker: Sequence[str], tmp_path: Path, old: str, new: str, said: str
) -> None:
    """The check can fail."""
    broken = tmp_path / ".github" / "workflows" / "broken.yml"
    broken.parent.mkdir(parents=True)
    text = DOCUMENTED["quick-start-action-1.yml"]
    assert old in text
    broken.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert any(said in one for one in findings(checker, broken)), findings(checker, broken)


def test_github_finds_a_slip_in_the_action(checker: Sequence[str], tmp_path: Path) -> None:
    """An inner step with an input that its action does not have."""
    broken = tmp_path / "action.yml"
    text = ACTION.read_text("utf-8").replace("pattern: routing", "patern: routing", 1)
    broken.write_text(text, encoding="utf-8")
    assert any("Invalid action input 'patern'" in one for one in findings(checker, broken))
