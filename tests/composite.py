"""Runs the command steps of action.yml as a runner does, one by one and outside of any workflow."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.action_stages import parse_outputs
from tests.workflow_files import ACTION, ROOT, read_yaml

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
