"""The command steps of the composite action on hostile machines and in hostile workspaces."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bench import copy_project
from tests.support.action_stages import parse_outputs
from tests.support.workflow_files import ACTION, ROOT, read_yaml

_EXPRESSION = re.compile(r"^\$\{\{ ([\w.-]+) \}\}$")
_STEPS: Mapping[str, dict[str, Any]] = {
    step["name"]: step for step in read_yaml(ACTION)["runs"]["steps"]
}
_SECONDS = 180


def runner_path(*more: Path) -> str:
    """A PATH as of a hosted runner: the system's programs and git; `more` comes first."""
    return os.pathsep.join([*map(str, more), "/usr/local/bin", "/usr/bin", "/bin"])


@dataclass
class Composite:
    """One use of the action in a job; `environ` is the whole environment that the job has."""

    workspace: Path
    temp: Path
    inputs: Mapping[str, str]
    environ: Mapping[str, str]
    action: Path = ROOT
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run a step to its end; what it wrote to GITHUB_OUTPUT is there for the next ones."""
        process = self.start(name)
        stdout, stderr = process.communicate(timeout=_SECONDS)
        self.collect(name)
        return subprocess.CompletedProcess(name, process.returncode, stdout, stderr)

    def start(self, name: str) -> subprocess.Popen[str]:
        """Start a step, as GitHub's runner starts `shell: bash`."""
        step = _STEPS[name]
        script = self.temp / f"{_id(step)}.sh"
        self.temp.mkdir(parents=True, exist_ok=True)
        script.write_text(step["run"], encoding="utf-8")
        return subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.workspace,
            env={**self.environ, **dict(self._variables(step))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def collect(self, name: str) -> None:
        """Take the outputs of a step that has ended."""
        step = _id(_STEPS[name])
        file = self.temp / f"{step}.output"
        text = file.read_text("utf-8") if file.exists() else ""
        self.outputs[step] = parse_outputs(text)

    def _variables(self, step: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        yield "GITHUB_ACTIONS", "true"
        yield "GITHUB_ACTION_PATH", str(self.action)
        yield "GITHUB_OUTPUT", str(self.temp / f"{_id(step)}.output")
        yield "GITHUB_STEP_SUMMARY", str(self.temp / "summary.md")
        yield "GITHUB_WORKSPACE", str(self.workspace)
        yield "RUNNER_TEMP", str(self.temp)
        for name, text in step["env"].items():
            match = _EXPRESSION.fullmatch(text)
            assert match is not None, text
            yield name, self._resolve(match[1].split("."))

    def _resolve(self, path: list[str]) -> str:
        """A value of the contexts; what is not set is empty, as on GitHub."""
        if path[0] == "inputs":
            default = read_yaml(ACTION)["inputs"][path[1]]["default"]
            return self.inputs.get(path[1], "" if "${{" in default else default)
        assert path[0] == "steps", path
        return self.outputs.get(path[1], {}).get(path[3], "") if path[2] == "outputs" else ""


def _id(step: Mapping[str, Any]) -> str:
    return str(step.get("id") or step["name"].lower())


pytestmark = pytest.mark.slow

SET_UP = "Set up routing-action"
MAIN = "Run routing-action"
CASE = "author-first-case"
LEG = {"agents": "claude", "case-ids": CASE, "replay": "tests/recordings/replay"}
REGISTRY = ("PIP_INDEX_URL", "PIP_FIND_LINKS", "PIP_CERT", "UV_DEFAULT_INDEX", "SSL_CERT_FILE")


def machine(**more: str) -> dict[str, str]:
    """The environment of a fresh machine that reaches a registry as this one does."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in REGISTRY or name.lower().endswith("_proxy")
    }
    cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    path = runner_path(python_folder())
    return {"PATH": path, "HOME": "/nowhere", "UV_CACHE_DIR": cache, **kept, **more}


def python_folder() -> Path:
    """Where the interpreter under the virtual environment of these tests lies."""
    return Path(os.path.realpath(sys.executable)).parent


def uv_folder(tmp_path: Path) -> Path:
    """A folder for PATH that holds uv alone."""
    folder = tmp_path / "uv here"
    folder.mkdir()
    (folder / "uv").symlink_to(Path(sys.executable).with_name("uv"))
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with recordings of one case."""
    folder = tmp_path_factory.mktemp("a checkout") / "of octo's demo"
    copy_project(folder, [CASE])
    return folder


@pytest.fixture
def workspace(project: Path, tmp_path: Path) -> Path:
    """A workspace of the test's own, whose path has spaces and a quote."""
    return Path(shutil.copytree(project, tmp_path / "work 'n space"))


def tree(folder: Path) -> Mapping[str, int]:
    """Every file below a folder, with its time of change."""
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def measure(use: Composite) -> str:
    """Set up and run a leg; its status."""
    for name in (SET_UP, MAIN):
        done = use.step(name)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert use.outputs["main"]["exit-code"] == "0", use.outputs
    return use.outputs["main"]["status"]


def hostile_variables(tmp_path: Path) -> dict[str, str]:
    """Everything by which a job's environment could bend Python or its installers."""
    evil = tmp_path / "evil"
    evil.mkdir()
    for name in ("click.py", "json.py", "sitecustomize.py", "routing_action.py"):
        (evil / name).write_text(f"open({str(tmp_path / 'obeyed')!r}, 'w')\n", encoding="utf-8")
    here = str(evil)
    return {
        "PYTHONPATH": here, "PYTHONHOME": here, "PYTHONSTARTUP": f"{here}/click.py",
        "PYTHONINSPECT": "1", "PYTHONUSERBASE": here, "PYTHONOPTIMIZE": "2",
        "PYTHONWARNINGS": "error", "PYTHONPLATLIBDIR": "nolib", "PYTHONBREAKPOINT": "click.x",
        "VIRTUAL_ENV": here, "CONDA_PREFIX": here, "__PYVENV_LAUNCHER__": "/nowhere/python",
        "UV_PYTHON": "3.99", "UV_SYSTEM_PYTHON": "1", "UV_PROJECT_ENVIRONMENT": here,
        "UV_TARGET": here, "UV_PREFIX": here, "UV_CONSTRAINT": "/nowhere",
        "UV_OVERRIDE": "/nowhere",
        "UV_EXCLUDE_NEWER": "2001-01-01T00:00:00Z", "UV_NO_BINARY": "1", "UV_PRERELEASE": "allow",
        "UV_REQUIRE_HASHES": "0", "UV_PYTHON_DOWNLOADS": "automatic", "UV_WORKING_DIRECTORY": here,
        "PIP_TARGET": here, "PIP_USER": "1", "PIP_PREFIX": here, "PIP_NO_DEPS": "1",
        "PIP_REQUIRE_VIRTUALENV": "1", "PIP_CONSTRAINT": "/nowhere", "PIP_PYTHON": "/nowhere",
        "PIP_DRY_RUN": "1", "PIP_NO_BINARY": ":all:", "PIP_ONLY_BINARY": ":none:",
        "ROUTING_ACTION_VENV": here, "PYTHON": "/nowhere", "MAX_CONCURRENCY": "2",
        "GIT_DIR": here, "CDPATH": "/", "IFS": "x", "POSIXLY_CORRECT": "1",
    }  # fmt: skip


def test_a_leg_on_a_fresh_machine_leaves_the_workspace_as_it_was(
    workspace: Path, tmp_path: Path
) -> None:
    """With uv on PATH; everything is below RUNNER_TEMP, whatever characters the paths have."""
    before = tree(workspace)
    path = runner_path(uv_folder(tmp_path), python_folder())
    use = Composite(workspace, tmp_path / "temp 1", LEG, machine(PATH=path), action=workspace)
    assert measure(use) == "passed"
    assert tree(workspace) == before
    assert list(Path(use.outputs["prepare"]["folder"]).rglob("results.json"))


def test_the_environment_is_made_once_for_all_steps_of_a_job(
    workspace: Path, tmp_path: Path
) -> None:
    """The second step, and a second use, find it ready."""
    path = runner_path(uv_folder(tmp_path), python_folder())
    use = Composite(workspace, tmp_path / "temp", LEG, machine(PATH=path), action=workspace)
    assert "setting up the runtime environment" in use.step(SET_UP).stderr
    again = Composite(
        workspace, tmp_path / "temp", {**LEG, "matrix-key": "b"}, machine(), action=workspace
    )
    assert "setting up" not in again.step(SET_UP).stderr


def test_without_uv_a_pinned_one_is_fetched(workspace: Path, tmp_path: Path) -> None:
    """The machine needs no more than Python with pip."""
    use = Composite(workspace, tmp_path / "temp", LEG, machine(), action=workspace)
    assert measure(use) == "passed"
    (private,) = (tmp_path / "temp" / "routing-action").glob("env-*/routing-action/uv/bin/uv")
    assert private.is_file()


def test_a_hostile_environment_changes_nothing(workspace: Path, tmp_path: Path) -> None:
    """Variables for Python, uv, pip and git that a job may have set for its own build."""
    path = runner_path(uv_folder(tmp_path), python_folder())
    environ = machine(PATH=path, **hostile_variables(tmp_path))
    use = Composite(workspace, tmp_path / "temp", LEG, environ, action=workspace)
    assert measure(use) == "passed"
    assert not (tmp_path / "obeyed").exists()
    assert sorted(path.name for path in (tmp_path / "evil").iterdir()) == [
        "click.py", "json.py", "routing_action.py", "sitecustomize.py",
    ]  # fmt: skip


def test_a_hostile_workspace_is_neither_imported_nor_obeyed(project: Path, tmp_path: Path) -> None:
    """The checked-out repository is a stranger's; the action lies elsewhere."""
    workspace = tmp_path / "workspace"
    shutil.copytree(project / "tests", workspace / "tests")
    for name in ("cases.json", "provider-baseline.json"):
        shutil.copy2(project / name, workspace / name)
    obeyed = tmp_path / "obeyed"
    bait = f"open({str(obeyed)!r}, 'a').write(__file__)\n"
    for name in (
        "routing_action/__init__.py", "routing_action/__main__.py", "sitecustomize.py",
        "usercustomize.py", "click.py", "json.py", "msgspec.py", "os.py", "encodings/__init__.py",
        "pip/__init__.py", "uv/__init__.py", "venv/__init__.py", "setup.py", "conftest.py",
    ):  # fmt: skip
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(bait, encoding="utf-8")
    nowhere = "http://127.0.0.1:9/simple"
    for name, text in {
        ".env": "PYTHONPATH=.\nUV_INDEX_URL=x\n",
        "uv.toml": f'index-url = "{nowhere}"\nno-binary = true\n',
        "pyproject.toml": f'[tool.uv]\nindex-url = "{nowhere}"\n',
        "pip.conf": f"[global]\nindex-url = {nowhere}\n",
        "setup.cfg": "[install]\nuser = 1\n",
        ".python-version": "3.99\n",
        ".bashrc": f"touch {obeyed}\n",
        "pyvenv.cfg": "home = /nowhere\n",
    }.items():
        (workspace / name).write_text(text, encoding="utf-8")
    before = tree(workspace)
    path = runner_path(uv_folder(tmp_path), python_folder())
    use = Composite(workspace, tmp_path / "temp", LEG, machine(PATH=path), action=project)
    assert measure(use) == "passed"
    assert not obeyed.exists(), obeyed.read_text("utf-8")
    assert tree(workspace) == before


# --- what the machine lacks -------------------------------------------------------------------


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with the programs that the set-up itself uses, and no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("bash", "cat", "cksum", "cmp", "dirname", "env", "mkdir", "mv", "rm", "ls"):
        program = shutil.which(name)
        assert program is not None
        (folder / name).symlink_to(program)
    return folder


def test_a_machine_without_python_is_told_what_to_add(tools: Path, tmp_path: Path) -> None:
    """As an annotation on the run's page."""
    use = Composite(tmp_path, tmp_path / "temp", LEG, {"PATH": str(tools)})
    done = use.step(SET_UP)
    assert done.returncode == 4
    assert done.stdout == (
        "::error title=routing-action::no Python of at least 3.11 was found; put one on PATH with "
        "actions/setup-python before this step, or name one with the input 'python'\n"
    )


@pytest.mark.parametrize("given", ["", "the input"])
def test_a_python_that_is_too_old_is_none(tools: Path, tmp_path: Path, given: str) -> None:
    """On PATH, or named by the input."""
    old = tools / "python3"
    old.write_text("#!/bin/bash\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    inputs = {**LEG, "python": str(old) if given else ""}
    done = Composite(tmp_path, tmp_path / "temp", inputs, {"PATH": str(tools)}).step(SET_UP)
    assert done.returncode == 4
    assert "no Python of at least 3.11 was found" in done.stdout


def test_python_and_uv_can_be_named(tools: Path, workspace: Path, tmp_path: Path) -> None:
    """Neither has to be on PATH."""
    inputs = {
        **LEG,
        "python": os.path.realpath(sys.executable),
        "uv": str(uv_folder(tmp_path) / "uv"),
    }
    use = Composite(workspace, tmp_path / "temp", inputs, machine(PATH=str(tools)), workspace)
    done = use.step(SET_UP)
    assert done.returncode == 0, done.stderr


def test_windows_is_refused_by_name(tmp_path: Path) -> None:
    """The harness needs process groups and signals as POSIX has them."""
    environ = {"PATH": runner_path(), "RUNNER_OS": "Windows"}
    done = Composite(tmp_path, tmp_path / "temp", LEG, environ).step(SET_UP)
    assert (done.returncode, "Linux and macOS" in done.stdout) == (4, True)


# --- cancellation -----------------------------------------------------------------------------


@pytest.fixture
def started(workspace: Path, tmp_path: Path) -> Composite:
    """A leg that is set up, with recordings that are replayed at a crawl."""
    path = runner_path(uv_folder(tmp_path), python_folder())
    inputs = {**LEG, "extra-arguments": "--speed 0.01 --timeout-seconds 60"}
    use = Composite(workspace, tmp_path / "temp", inputs, machine(PATH=path), workspace)
    assert use.step(SET_UP).returncode == 0
    return use


def test_a_cancelled_leg_writes_what_it_has_and_says_that_it_was_cut_short(
    started: Composite,
) -> None:
    """GitHub signals the process that it started alone: the shell has become Python."""
    process = started.start(MAIN)
    while not list((started.temp / "routing-action").glob("*/*/transcripts/*.stdout")):
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    started.collect(MAIN)
    assert process.returncode == 0, stderr
    assert started.outputs["main"]["exit-code"] == "130"
    (results,) = Path(started.outputs["prepare"]["folder"]).rglob("results.json")
    assert json.loads(results.read_text("utf-8"))["complete"] is False


def test_the_last_step_exits_with_what_was_meant(tmp_path: Path) -> None:
    """After everything was uploaded and posted."""
    use = Composite(tmp_path, tmp_path / "temp", {}, {"PATH": runner_path()})
    for code in ("0", "1", "130"):
        use.outputs["main"] = {"exit-code": code}
        assert use.step("Conclude").returncode == int(code)
