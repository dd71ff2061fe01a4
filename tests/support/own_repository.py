"""The repository that the pages of the documents speak of: two skills, three agents, a shell."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.support.command_line import ROOT

SKILLS = {
    "flaky-tests": "Finds tests that fail only sometimes and makes them steady. Use when the same "
    "test passes and fails without any change.",
    "release-notes": "Writes the notes of a version from the commits since the last tag. Use when "
    "a version is about to be published.",
}
PROMPTS = {
    "flaky-tests": "CI is red sometimes and green without any new code. Make that go away.",
    "release-notes": "The next version goes out tomorrow. Collect what the commits changed.",
    "": "What is 17 times 23? Answer with the number alone.",
}
BROKEN_PROMPT = "Publish it."
"""A prompt that leads to no skill."""
AGENTS = ("claude", "codex", "copilot")
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "COPILOT_GITHUB_TOKEN")
NEWEST = "BATCH=$(ls -dt tests/agent-routing/artifacts/*/ | head -1)"


class OwnRepository:
    """A repository with skills in `.claude/skills`, and a shell that knows `routing-action`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "own repository"
        for name, description in SKILLS.items():
            self.write(
                f".claude/skills/{name}/SKILL.md",
                f"---\nname: {name}\ndescription: {description}\n---\n# {name}\n",
            )
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.add_program("routing-action", sys.executable, "-m", "routing_action")
        agent = str(ROOT / "tests" / "fakes" / "page_agent.py")
        for name in AGENTS:
            self.add_program(name, sys.executable, agent, name)
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("GITHUB_")},
            **dict.fromkeys(KEYS, "made-up-key-0123456789"),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "HOME": str(folder),
        }
        for who in ("AUTHOR", "COMMITTER"):
            self.environment |= {f"GIT_{who}_NAME": "reader", f"GIT_{who}_EMAIL": "reader"}
        self.shell("git init -q -b main", "git add -A", "git commit -qm 'Add two skills'")

    def add_program(self, name: str, *words: str) -> None:
        """Put a program on PATH that starts another one."""
        starter = self.bin / name
        starter.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        starter.chmod(0o755)

    def write(self, name: str, text: str) -> None:
        """Save a file."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def shell(self, *commands: str, cwd: Path | None = None) -> str:
        """What the commands print, standard error included; each of them must end well."""
        script = "\n".join(("set -euo pipefail", *commands))
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=cwd or self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n\n{done.stdout[-4000:]}"
        return done.stdout

    def write_prompts(self) -> None:
        """Give each case what a user would ask, as the pages tell."""
        file = self.root / "cases.json"
        cases = json.loads(file.read_text("utf-8"))
        for case in cases:
            case["prompt"] = PROMPTS[case["expected_skill"]]
        self.write("cases.json", json.dumps(cases, indent=2))

    def start(self, agents: str = "claude") -> None:
        """Cases and a baseline, committed, with prompts like a user's."""
        self.shell(f"routing-action cases init --skills .claude/skills --agents {agents}")
        self.write_prompts()
        self.shell("git add -A", "git commit -qm 'Add cases'")

    def break_release_notes(self) -> None:
        """Let one case fail from now on."""
        cases = (self.root / "cases.json").read_text("utf-8")
        self.write("cases.json", cases.replace(PROMPTS["release-notes"], BROKEN_PROMPT))
