"""The stand-ins behave as the actions that they stand for, and what has none is an error."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.bench import E2E, STANDINS, find_standins
from tests.e2e.results_service import runtime_token
from tests.e2e.server import GitHub, serve
from tests.live.clis import install_node, install_packages
from tests.support.workflow_files import read_yaml

pytestmark = pytest.mark.slow


@dataclass
class Runner:
    """Starts a stand-in as a runner starts an action."""

    github: GitHub
    folder: Path

    def use(self, action: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run it with inputs (`_` in a name stands for `-`) and its defaults."""
        spec = read_yaml(STANDINS / action / "action.yml")["inputs"]
        values = {name: str(one.get("default", "")) for name, one in spec.items()}
        values |= {"repository": "octo/demo", "run-id": "1"}
        values |= {name.replace("_", "-"): value for name, value in inputs.items()}
        path = os.pathsep.join([*map(str, install_node()), os.environ["PATH"]])
        return subprocess.run(
            ["/usr/bin/env", "node", str(STANDINS / action / "main.js")],
            cwd=self.folder,
            env={"PATH": path, **self._environment(), **_variables(values)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def _environment(self) -> dict[str, str]:
        return {
            "NODE_PATH": str(install_packages(E2E)),
            "ACTIONS_RESULTS_URL": f"{self.github.url}/",
            "ACTIONS_RUNTIME_TOKEN": runtime_token("1"),
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "octo/demo",
            "GITHUB_RUN_ID": "1",
            "GITHUB_API_URL": self.github.url,
        }

    def write(self, **files: str) -> Path:
        """A folder with files; `__` in a name stands for `/`, a leading `_` for a dot."""
        root = self.folder / "made"
        for name, text in files.items():
            path = root / name.replace("__", "/")
            path = path.with_name(f".{path.name[1:]}") if path.name.startswith("_") else path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root


def _variables(values: Mapping[str, str]) -> dict[str, str]:
    return {f"INPUT_{name.upper()}": value for name, value in values.items()}


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    """A runner whose workflow run has no artifact yet."""
    with serve() as github:
        yield Runner(github, tmp_path)


def test_what_is_uploaded_comes_back_but_for_hidden_files(runner: Runner) -> None:
    """A single artifact goes right into the folder, as in the original."""
    root = runner.write(a="one", deep__b="two", _hidden="three", deep___x="four")
    done = runner.use("upload-artifact", name="x", path=str(root))
    assert done.returncode == 0, done.stdout
    back = runner.folder / "back"
    assert runner.use("download-artifact", pattern="x*", path=str(back)).returncode == 0
    found = {
        str(one.relative_to(back)): one.read_text() for one in back.rglob("*") if one.is_file()
    }
    assert found == {"a": "one", "deep/b": "two"}


def test_several_artifacts_get_folders_and_a_pattern_chooses(runner: Runner) -> None:
    """Each by its name."""
    root = runner.write(a="one")
    for name in ("leg-1", "leg-2", "other"):
        assert runner.use("upload-artifact", name=name, path=str(root)).returncode == 0
    back = runner.folder / "back"
    runner.use("download-artifact", pattern="leg-*", path=str(back))
    assert sorted(one.name for one in back.iterdir()) == ["leg-1", "leg-2"]


def test_a_name_is_taken_once_in_a_run(runner: Runner) -> None:
    """Two legs of one name: the second upload fails."""
    root = runner.write(a="one")
    assert runner.use("upload-artifact", name="x", path=str(root)).returncode == 0
    again = runner.use("upload-artifact", name="x", path=str(root))
    assert (again.returncode, "already exists" in again.stdout) == (1, True)


@pytest.mark.parametrize(("mode", "code"), [("warn", 0), ("error", 1), ("ignore", 0)])
def test_nothing_to_upload_is_what_the_input_says(runner: Runner, mode: str, code: int) -> None:
    """And no artifact is made."""
    nothing = str(runner.folder / "nothing")
    done = runner.use("upload-artifact", name="x", path=nothing, if_no_files_found=mode)
    assert (done.returncode, "No files were found" in done.stdout) == (code, True)
    assert runner.github.results.names() == []


def test_a_name_that_github_refuses_is_refused(runner: Runner) -> None:
    """The client itself knows which characters an artifact's name cannot hold."""
    root = runner.write(a="one")
    done = runner.use("upload-artifact", name="a:b", path=str(root))
    assert (done.returncode, "not valid" in done.stdout) == (1, True)


def test_an_action_without_a_stand_in_is_an_error_before_anything_starts(tmp_path: Path) -> None:
    """The local runner would reach out for it."""
    file = tmp_path / "w.yml"
    file.write_text("      - uses: actions/cache@abc # v1.0.0\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="actions/cache, which has no stand-in"):
        find_standins(file)


@pytest.mark.parametrize("action", ["setup-node", "setup-python"])
def test_what_no_scenario_may_reach_says_so(runner: Runner, action: str) -> None:
    """It would bring something from outside."""
    done = runner.use(action)
    assert (done.returncode, "::error::" in done.stderr) == (1, True)
