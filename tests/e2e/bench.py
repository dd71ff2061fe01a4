"""Runs this repository's workflows by act, with stand-ins for GitHub and its artifact actions.

What act lets pass and GitHub does not is guarded here: an action without a stand-in is an error
before anything starts, and the token's rights are those that a job declares.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from tests.e2e.results_service import runtime_token
from tests.support.command_line import ROOT
from tests.support.workflow_files import load_yaml

E2E = Path(__file__).resolve().parent
STANDINS = E2E / "standins"
_USES = re.compile(r"^\s*(?:- )?uses:\s*(?P<name>[\w.-]+/[\w./-]+)@(?P<ref>\S+)", re.MULTILINE)
_DIGESTS = re.compile(r"^    outputs:\n(?:      digest-.*\n){2,}", re.MULTILINE)
_SECONDS = 240
AGENTS = ("claude", "codex", "copilot")


@dataclass(frozen=True)
class Finished:
    """How a workflow ended: the result of each job by its name, and all that was logged."""

    code: int
    jobs: Mapping[str, str]
    lines: Sequence[Mapping[str, Any]]

    @property
    def log(self) -> str:
        return "\n".join(f"{line.get('job', '')}: {line.get('msg', '')}" for line in self.lines)

    def of(self, job: str) -> str:
        """What a job logged."""
        return "\n".join(str(line.get("msg", "")) for line in self.lines if _job(line) == job)

    def step(self, job: str, name: str) -> str:
        """What a step of the action logged in a job, by its id."""
        lines = (line for line in self.lines if _job(line) == job)
        own = (one for one in lines if (one.get("stepID") or [""])[-1] == name)
        return "\n".join(str(one.get("msg", "")) for one in own)

    def errors(self, job: str) -> list[str]:
        """Each error annotation of a job, with its properties."""
        return re.findall(r"::error (.*)", self.of(job))

    def outputs(self, job: str) -> dict[str, str]:
        """The outputs that the steps of a job set, the last one of a name."""
        return {
            str(line["name"]): str(line.get("arg", ""))
            for line in self.lines
            if line.get("command") == "set-output" and _job(line) == job
        }


@dataclass
class Bench:
    """One repository on one machine; `server` is where GitHub answers."""

    folder: Path
    server: str
    node_modules: Path
    path: Sequence[str]
    token: str = "ghs_made-up-workflow-token"
    variables: Mapping[str, str] = field(default_factory=dict)
    run_id: str = "1"
    run_number: int = 1

    def run(
        self,
        workflow: str,
        event_name: str,
        event: Mapping[str, Any],
        *arguments: str,
        attempt: int = 1,
        secrets: Mapping[str, str] | None = None,
        meanwhile: Callable[[Path, Event], None] | None = None,
        seconds: int = _SECONDS,
    ) -> Finished:
        """Run a workflow of the repository, within so many seconds.

        `meanwhile` is called with the repository's folder as soon as the run has begun, and with
        what is set when it has ended.
        """
        file = without_digests(self.folder / ".github" / "workflows" / workflow)
        payload = self.folder.parent / "event.json"
        payload.write_text(json.dumps(event), encoding="utf-8")
        environment = {
            "GITHUB_API_URL": self.server,
            "GITHUB_REPOSITORY": "octo/demo",
            "GITHUB_RUN_ID": self.run_id,
            "GITHUB_RUN_ATTEMPT": str(attempt),
            "GITHUB_RUN_NUMBER": str(self.run_number),
            "NODE_PATH": str(self.node_modules),
            # Where a checkout names a ref, this is copied; else act does it.
            "BENCH_CHECKOUT": str(self.folder),
        }
        command = [
            str(Path(sys.executable).with_name("act")),
            *(event_name, "-W", str(file), "-e", str(payload), "--json"),
            *("-P", "ubuntu-latest=-self-hosted"),
            *("--action-offline-mode", "--no-cache-server", "--concurrent-jobs", "2"),
            *self._artifacts(),
            *find_standins(file, self.folder / "action.yml"),
            *_pairs("--env", environment),
            *_pairs("--var", self.variables),
            *_pairs("-s", {"GITHUB_TOKEN": self.token, **(secrets or {})}),
            *arguments,
        ]
        with ThreadPoolExecutor(1) as pool:
            ended = Event()
            watcher = pool.submit(meanwhile, self.folder, ended) if meanwhile else None
            try:
                done = subprocess.run(
                    command,
                    cwd=self.folder,
                    env=self._environment(),
                    capture_output=True,
                    text=True,
                    timeout=seconds,
                    check=False,
                )
            finally:
                ended.set()
            finished = _read(done)
            if watcher is not None and (error := watcher.exception()):
                raise AssertionError(f"{error}: {finished.log[-5000:]}")
        return finished

    def _artifacts(self) -> list[str]:
        # act tells actions where the artifact service is only when its own server is on; that
        # one speaks an old protocol, and ACTIONS_RUNTIME_URL below leads past it.
        port = 30_000 + os.getpid() % 20_000
        folder = self.folder.parent / "unused"
        address = ("--artifact-server-addr", "127.0.0.1", "--artifact-server-port", str(port))
        return ["--artifact-server-path", str(folder), *address]

    def _environment(self) -> dict[str, str]:
        """No setting of the caller's reaches act, nor a path of its own uv or Python packages."""
        home = self.folder.parent / "home"
        home.mkdir(exist_ok=True)
        kept = {
            name: value
            for name, value in os.environ.items()
            if name.startswith(("PIP_", "UV_", "SSL_", "LC_")) or name.lower().endswith("_proxy")
        }
        cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
        return {
            **kept,
            "PATH": os.pathsep.join([*self.path, os.environ["PATH"]]),
            "HOME": str(home),
            "UV_CACHE_DIR": cache,
            "ACTIONS_RUNTIME_URL": f"{self.server}/",
            "ACTIONS_RUNTIME_TOKEN": runtime_token(self.run_id),
        }


def _pairs(flag: str, values: Mapping[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in (flag, f"{name}={value}")]


def without_digests(workflow: Path) -> Path:
    """The workflow, without the digests of several legs: act keeps the outputs of the first leg.

    The gate would take the others' results for changed ones. GitHub puts all legs' together.
    """
    text = workflow.read_text("utf-8")
    kept = _DIGESTS.sub("", text)
    if kept == text:
        return workflow
    copy = workflow.parents[3] / workflow.name
    copy.write_text(kept, encoding="utf-8")
    return copy


def find_standins(*files: Path) -> list[str]:
    """`--local-repository` for each action that the files use; an error where there is none."""
    words: list[str] = []
    for file in files:
        for match in _USES.finditer(file.read_text("utf-8")):
            name, ref = match["name"], match["ref"]
            folder = STANDINS / name.partition("/")[2]
            if not folder.is_dir():
                raise AssertionError(
                    f"{file.name} uses {name}, which has no stand-in in {STANDINS}"
                )
            words += ["--local-repository", f"{name}@{ref}={folder}"]
    return words


def _read(done: subprocess.CompletedProcess[str]) -> Finished:
    lines: list[Mapping[str, Any]] = []
    for line in done.stdout.splitlines():
        with contextlib.suppress(ValueError):
            lines.append(json.loads(line))
    jobs = {_job(line): str(line["jobResult"]) for line in lines if "jobResult" in line}
    if not lines and done.returncode:  # where every job is skipped, act is silent
        raise AssertionError(f"act said nothing: {done.stderr[-3000:]}")
    return Finished(done.returncode, jobs, lines)


def _job(line: Mapping[str, Any]) -> str:
    """A job's name without its workflow's, and without act's own numbers behind it."""
    name = str(line.get("job", "")).rpartition("/")[2].strip()
    return re.sub(r"-\d+$", "", name)


def permissions_of(workflow: Path, job: str) -> Mapping[str, str]:
    """What the token of a job may do: its own declaration, else that of the workflow."""
    document = load_yaml(workflow.read_text("utf-8"))
    declared = document["jobs"][job].get("permissions", document.get("permissions", {}))
    return dict(declared)


def copy_project(to: Path, cases: Sequence[str], agents: Sequence[str] = AGENTS) -> None:
    """What a checkout of this repository needs for its workflows, with a corpus of a few cases."""
    for name in ("action.yml", "pyproject.toml", "requirements.lock", "requirements-uv.lock"):
        to.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)
    for name in ("src", "scripts", "templates", ".github"):
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    corpus = json.loads((ROOT / "cases.json").read_text("utf-8"))
    baseline = json.loads((ROOT / "provider-baseline.json").read_text("utf-8"))
    kept = [case for case in corpus if case["case_id"] in cases]
    _write(to / "cases.json", kept)
    entries = {case: {agent: baseline[case][agent] for agent in agents} for case in cases}
    _write(to / "provider-baseline.json", entries)
    for agent in agents:
        folder = to / "tests" / "recordings" / "replay" / agent
        folder.mkdir(parents=True)
        for file in _recordings(agent, cases):
            shutil.copy2(file, folder / file.name)


def _recordings(agent: str, cases: Sequence[str]) -> Iterator[Path]:
    for file in sorted((ROOT / "tests" / "recordings" / "replay" / agent).iterdir()):
        if file.stem in cases:
            yield file


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
