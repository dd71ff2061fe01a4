"""The pages for one's own repository are walked through as they stand, in a fresh repository."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import ROOT

DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"[Ss]ave this as\s+`(?P<name>[\w.-]+)`")
SKILLS = {
    "flaky-tests": "Finds tests that fail only sometimes and makes them steady. Use when the same "
    "test passes and fails without any change.",
    "ship-it": "Writes the notes of a version from the commits since the last tag. Use when a "
    "version is about to be published.",
}
PROMPTS = {
    "flaky-tests": "CI is red sometimes and green without any new code. Make that go away.",
    "ship-it": "The next version goes out tomorrow. Collect what the commits changed.",
    "": "What is 17 times 23? Answer with the number alone.",
}


def commands_of(text: str) -> list[str]:
    """The commands of every console block, in order."""
    blocks = [match["text"] for match in BLOCK.finditer(text) if match["kind"] == "console"]
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def files_of(text: str) -> Iterator[tuple[str, str]]:
    """Every file that the page tells to save: its name and its text."""
    for match in BLOCK.finditer(text):
        saved = SAVED.search(text[: match.start()].rstrip().rpartition("\n\n")[2])
        if saved:
            yield saved["name"], match["text"]


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


RECORD_PAGE = "how-to/record-and-replay.md"
QUICK_START = "tutorial/quick-start-action.md"
FAKE_AGENT = dict(files_of(page(RECORD_PAGE)))["fake-agent.py"]


class Walk:
    """A repository with two skills, and a shell in it that knows `routing-action`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repository"
        for name, description in SKILLS.items():
            self.write(
                f".claude/skills/{name}/SKILL.md",
                f"---\nname: {name}\ndescription: {description}\n---\n# {name}\n",
            )
        self.bin = folder / "bin"
        self.bin.mkdir()
        starter = self.bin / "routing-action"
        starter.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m routing_action "$@"\n')
        starter.chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "HOME": str(folder),
        }
        self.shell("git init -q -b main && git add -A", "git commit -qm 'Add two skills'")

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def shell(self, *commands: str) -> str:
        """What the commands print; each of them must end well."""
        who = [f"GIT_{one}_{what}=walker" for one in ("AUTHOR", "COMMITTER")
               for what in ("NAME", "EMAIL")]  # fmt: skip
        script = "\n".join(("set -euo pipefail", f"export {' '.join(who)}", *commands))
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def write_prompts(self) -> None:
        """Give each case what a user would ask, as the pages tell."""
        file = self.root / "cases.json"
        cases = json.loads(file.read_text("utf-8"))
        for case in cases:
            case["prompt"] = PROMPTS[case["expected_skill"]]
        file.write_text(json.dumps(cases, indent=2), encoding="utf-8")


@pytest.fixture
def walk(tmp_path: Path) -> Walk:
    return Walk(tmp_path)


def test_the_page_about_recordings_leads_from_a_fake_agent_to_a_green_replay(walk: Walk) -> None:
    """Each command works as it stands, and the replay is judged like the run."""
    walk.write(
        "cases.json",
        json.dumps(
            [
                {
                    "case_id": skill or "no-skill-needed",
                    "prompt": prompt,
                    "expected_skill": skill,
                    "disallowed_skills": [one for one in SKILLS if one != skill],
                }
                for skill, prompt in PROMPTS.items()
            ]
        ),
    )
    text = page(RECORD_PAGE)
    for name, content in files_of(text):
        walk.write(name, content)
    printed = walk.shell(*commands_of(text))
    assert printed.count("3 runs: 3 pass, 0 fail, 0 infra_error") == 2
    assert "flaky-tests.json\nflaky-tests.stderr\nflaky-tests.stdout\n" in printed


def test_the_recorder_keeps_trials_and_how_a_run_ended(walk: Walk) -> None:
    """A time-out stays one, and what was never started is left out and named."""
    name, content = next((n, c) for n, c in files_of(page(RECORD_PAGE)) if n == "record.py")
    walk.write(name, content)
    walk.write("cases.json", json.dumps([{"case_id": "one", "prompt": "x", "expected_skill": ""}]))
    walk.write("slow.sh", 'printf \'{"type":"system","subtype":"init"}\\n\'; exec sleep 60\n')
    walk.environment["AGENT_CLAUDE_TEMPLATE"] = "sh slow.sh {prompt}"
    walk.environment["AGENT_CODEX_TEMPLATE"] = "/is/not/there {prompt}"
    run = "routing-action run --agents claude,codex --timeout-seconds 1 --trials 2"
    batch = "$(ls -dt tests/agent-routing/artifacts/*/ | head -1)"
    printed = walk.shell(f"{run} >log || true", f"python3 record.py {batch} recorded")
    assert printed.splitlines() == [
        "left out: codex/one has no end of its own (start_failed)",
        "left out: codex/one@2 has no end of its own (start_failed)",
    ]
    replayed = walk.shell("routing-action run --replay=recorded --agents claude || true")
    assert "claude:one: FAIL timeout" in replayed
    assert "2 runs: 0 pass, 2 fail" in replayed


def quick_start_commands() -> list[str]:
    """The commands of the first section, without those that install something."""
    section = page(QUICK_START).partition("\n## 2.")[0]
    return [
        line
        for line in commands_of(section)
        if not line.startswith(("pip install", "cd ", "npm install", "export ANTHROPIC_API_KEY"))
    ]


def test_the_quick_start_leads_from_skills_to_a_gate_that_passes(walk: Walk) -> None:
    """`cases init`, prompts, `cases check`, a first run and its comparison: nothing is missing."""
    walk.write("../fake-agent.py", FAKE_AGENT)
    agent = (walk.root / "../fake-agent.py").resolve()
    walk.environment["AGENT_CLAUDE_TEMPLATE"] = f"{shlex.join(['python3', str(agent)])} {{prompt}}"
    commands = quick_start_commands()
    checked = next(n for n, line in enumerate(commands) if line.startswith("routing-action cases check"))
    walk.shell(*commands[:checked])
    walk.write_prompts()
    printed = walk.shell(*commands[checked:])
    assert "cases.json: 3 cases, 0 warnings" in printed
    assert "gate: Routing is as expected" in printed
    assert walk.shell("git status --porcelain") == ""
