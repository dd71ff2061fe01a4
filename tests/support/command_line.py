"""Starts the command line as a user does, on a repository and cases of the test's own."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from routing_action.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
_NOT_INHERITED = ("MAX_CONCURRENCY", "CI", "GITHUB_ACTIONS", "ROUTING_ACTION_PROGRAM")
FAKE_CLAUDE = ROOT / "tests" / "fakes" / "fake_claude.py"


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def artifacts(self) -> Path:
        """The folder that the first ARTIFACT_DIR line names."""
        line = next(x for x in self.stderr.splitlines() if x.startswith("ARTIFACT_DIR="))
        return Path(line.removeprefix("ARTIFACT_DIR="))

    @property
    def results(self) -> dict[str, Any]:
        """The batch's results.json."""
        loaded: dict[str, Any] = json.loads((self.artifacts / "results.json").read_text("utf-8"))
        return loaded

    def column(self, name: str) -> list[Any]:
        """One field of every row."""
        return [row[name] for row in self.results["results"]]


def run_command(arguments: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> Finished:
    """Run the command line in this process, in another folder and environment.

    A process of its own for each command would cost most of a test's time; the few tests that
    need one (signals, start-up) start it themselves.
    """
    stdout, stderr = io.StringIO(), io.StringIO()
    kept = dict(os.environ)
    os.environ.clear()
    os.environ.update(environ)
    try:
        with chdir(cwd), redirect_stdout(stdout), redirect_stderr(stderr):
            code = main(list(arguments))
    finally:
        os.environ.clear()
        os.environ.update(kept)
    return Finished(code, stdout.getvalue(), stderr.getvalue())


@dataclass
class Project:
    """A folder with cases.json, and the fake agent in place of claude."""

    root: Path
    options: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)

    def write_cases(self, *cases: dict[str, Any]) -> None:
        """Put the cases where they are found."""
        (self.root / "cases.json").write_text(json.dumps(list(cases)), encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """The caller's environment as at a desk, with the fake agent and the source on the path."""
        words = [sys.executable, str(FAKE_CLAUDE), *self.options]
        return {
            **{n: v for n, v in os.environ.items() if n not in _NOT_INHERITED},
            "PYTHONPATH": str(ROOT / "src"),
            "HOME": str(self.root),
            "AGENT_CLAUDE_TEMPLATE": f"{shlex.join(words)} {{prompt}}",
            **self.variables,
        }

    def command(self, *arguments: str) -> list[str]:
        """The argument list of a command."""
        return [sys.executable, "-m", "routing_action", *arguments]

    def call(self, *arguments: str) -> Finished:
        """Run a command to its end."""
        return run_command(arguments, self.root, self.environment())

    def run(self, *arguments: str) -> Finished:
        """`run` on claude alone."""
        return self.call("run", "--agents", "claude", *arguments)


def loads(case_id: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any field of a case
    """A case whose prompt makes the fake agent load the expected skill."""
    return {"case_id": case_id, "prompt": "please load:foo", "expected_skill": "foo", **fields}
