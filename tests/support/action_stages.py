"""Runs the stages of the action in this process, with the variables that a runner would set."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from routing_action.action.inputs import variable
from tests.support.command_line import ROOT, Finished, run_command

_OUTPUT = re.compile(r"^([\w-]+)<<(\S+)\n(.*?)\n\2\n", re.MULTILINE | re.DOTALL)
_SECRETS = re.compile(r"_API_KEY$|_TOKEN$|_TEMPLATE$")


def parse_outputs(text: str) -> dict[str, str]:
    """What a step wrote to GITHUB_OUTPUT; the last value of a name counts."""
    return {name: value for name, _, value in _OUTPUT.findall(text)}


@dataclass
class Job:
    """A job on a runner; `root` is its workspace, and `files` holds all that the runner keeps."""

    root: Path
    files: Path
    event_name: str = "pull_request"
    event: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 1
    variables: Mapping[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    def environment(self, inputs: Mapping[str, str]) -> dict[str, str]:
        """The caller's variables without its secrets, those of a runner, and the inputs."""
        self.files.mkdir(parents=True, exist_ok=True)
        event = self.files / "event.json"
        event.write_text(json.dumps(dict(self.event)), encoding="utf-8")
        return {
            **{name: value for name, value in os.environ.items() if not _SECRETS.search(name)},
            "HOME": str(self.files / "home"),
            "RUNNER_TEMP": str(self.files / "temp"),
            "GITHUB_OUTPUT": str(self.files / "output"),
            "GITHUB_STEP_SUMMARY": str(self.files / "summary.md"),
            "GITHUB_EVENT_NAME": self.event_name,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_BASE_REF": "main",
            "GITHUB_REF_NAME": "main",
            "GITHUB_RUN_ID": "7",
            "GITHUB_RUN_ATTEMPT": str(self.attempt),
            **{
                f"ROUTING_{name.upper().replace('-', '_')}": value
                for name, value in self.outputs.items()
            },
            **{variable(name.replace("_", "-")): value for name, value in inputs.items()},
            **self.variables,
        }

    def stage(self, name: str, **inputs: str) -> Finished:
        """Run one stage; its outputs are handed to the next ones as action.yml does."""
        environment = self.environment(inputs)
        done = run_command(("action", name), self.root, environment)
        written = self.files / "output"
        if written.exists():
            self.outputs |= parse_outputs(written.read_text("utf-8"))
        self.outputs |= {
            "stage": self.outputs.get("command", ""),
            "leg": self.outputs.get("key", ""),
        }
        return done

    def start(self, name: str, **inputs: str) -> subprocess.Popen[str]:
        """Start one stage as a process of its own, as a runner does; both streams are one."""
        return subprocess.Popen(
            [sys.executable, "-m", "routing_action", "action", name],
            cwd=self.root,
            env={**self.environment(inputs), "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def use(self, command: str, **inputs: str) -> dict[str, str]:
        """`uses:` of the action without what posts; the outputs, with the intended exit code."""
        prepared = self.stage("prepare", command=command, **inputs)
        if prepared.code:
            return {"exit-code": str(prepared.code), "log": prepared.stdout}
        done = self.stage("main", **inputs)
        assert done.code == 0, done.stderr
        red = self.outputs["exit-code"] != "0"
        last = self.stage("conclude", **inputs).stdout if red else ""
        return {
            **self.outputs, "log": f"{done.stdout}{last}", "last": last, "stderr": done.stderr,
        }  # fmt: skip

    @property
    def legs(self) -> Path:
        """Where an aggregation looks for the artifacts of the legs."""
        return self.files / "temp" / "routing-action" / "legs-aggregate-routing"

    @property
    def delta(self) -> dict[str, Any]:
        """What the aggregation judged."""
        loaded: dict[str, Any] = json.loads(Path(self.outputs["delta"]).read_text("utf-8"))
        return loaded

    @property
    def summary(self) -> str:
        """The job's summary so far."""
        path = self.files / "summary.md"
        return path.read_text("utf-8") if path.exists() else ""
