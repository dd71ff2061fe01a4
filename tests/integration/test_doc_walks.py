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

from tests.support.command_line import ROOT

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
    """The commands of every console block, in order; a backslash at a line's end joins it."""
    blocks = [match["text"] for match in BLOCK.finditer(text) if match["kind"] == "console"]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [line[2:] for line in lines if line.startswith("$ ")]


def files_of(text: str) -> Iterator[tuple[str, str]]:
    """Every file that the page tells to save: its name and its text."""
    for match in BLOCK.finditer(text):
        saved = SAVED.search(text[: match.start()].rstrip().rpartition("\n\n")[2])
        if saved:
            yield saved["name"], match["text"]


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def section(name: str, heading: str) -> str:
    """What stands below a heading of a page, up to the next one of the same level."""
    found = page(name).partition(f"\n## {heading}\n")[2]
    assert found, heading
    return found.partition("\n## ")[0]


RECORD_PAGE = "how-to/record-and-replay.md"
QUICK_START = "tutorial/quick-start-action.md"
NEWEST = "BATCH=$(ls -dt tests/agent-routing/artifacts/*/ | head -1)"
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
        starter.write_text(
            f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m routing_action "$@"\n'
        )
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


@pytest.mark.slow
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
    assert printed.count("3 runs: 3 pass;") == 2
    assert "flaky-tests.json\nflaky-tests.stderr\nflaky-tests.stdout\n" in printed


@pytest.mark.slow
def test_the_recorder_keeps_trials_and_how_a_run_ended(walk: Walk) -> None:
    """A time-out stays one, and what was never started is left out and named."""
    walk.write("cases.json", json.dumps([{"case_id": "one", "prompt": "x", "expected_skill": ""}]))
    walk.write("slow.sh", 'printf \'{"type":"system","subtype":"init"}\\n\'; exec sleep 60\n')
    walk.environment["AGENT_CLAUDE_TEMPLATE"] = "sh slow.sh {prompt}"
    walk.environment["AGENT_CODEX_TEMPLATE"] = "/is/not/there {prompt}"
    run = "routing-action run --agents claude,codex --timeout-seconds 1 --trials 2"
    printed = walk.shell(f"{run} >log || true", "routing-action record --to recorded")
    assert printed.splitlines()[-2:] == [
        "recorded: 2 recordings of 1 case on claude; read them before you commit them",
        "next: routing-action run --replay=recorded --agents claude",
    ]
    replayed = walk.shell("routing-action run --replay=recorded --agents claude || true")
    assert "FAIL claude:one: timed out (failed 2 of 2)" in replayed
    assert "2 runs: 2 fail;" in replayed


def use_fake_agent(walk: Walk, *agents: str) -> None:
    """Let the page's fake agent stand in for others; it lies outside of the repository."""
    agent = walk.root.parent / "fake-agent.py"
    agent.write_text(FAKE_AGENT, encoding="utf-8")
    for name in agents:
        walk.environment[f"AGENT_{name.upper()}_TEMPLATE"] = f"python3 {agent} {{prompt}}"


def start_cases(walk: Walk, agents: str) -> None:
    """Cases and a baseline, with prompts like a user's."""
    walk.shell(f"routing-action cases init --skills .claude/skills --agents {agents}")
    walk.write_prompts()
    walk.shell("git add -A", "git commit -qm 'Add cases'")


@pytest.mark.slow
def test_the_quick_start_leads_from_skills_to_a_gate_that_passes(walk: Walk) -> None:
    """`cases init`, prompts, `cases check`, a first run and its comparison: nothing is missing."""
    use_fake_agent(walk, "claude")
    installing = ("pip install", "cd ", "npm install", "export ANTHROPIC_API_KEY")
    told = commands_of(section(QUICK_START, "1. Write cases and a baseline"))
    commands = [line for line in told if not line.startswith(installing)]
    assert commands[0].startswith("routing-action cases init")
    walk.shell(commands[0])
    walk.write_prompts()
    printed = walk.shell(*commands[1:])
    assert "cases.json: 3 cases, 0 warnings" in printed
    assert "gate: Routing is as expected" in printed
    assert walk.shell("git status --porcelain") == ""


@pytest.mark.slow
def test_the_quick_start_says_how_a_pair_stays_red_for_now(walk: Walk) -> None:
    """The command for the baseline works, and the comparison is green after it."""
    use_fake_agent(walk, "claude")
    start_cases(walk, "claude")
    cases = (walk.root / "cases.json").read_text("utf-8")
    walk.write("cases.json", cases.replace(PROMPTS["ship-it"], "Publish it."))
    told = section(QUICK_START, "1. Write cases and a baseline")
    (command,) = [m["text"] for m in BLOCK.finditer(told) if m["kind"] == "text"]
    printed = walk.shell(
        "routing-action run --agents claude --skills .claude/skills || true",
        NEWEST,
        command.replace(" ID ", " ship-it-request "),
        'routing-action compare --results "$BATCH/results.json"',
    )
    assert "~ ship-it-request claude: pass -> fail" in printed
    assert "gate: Routing is as expected" in printed


@pytest.mark.slow
def test_an_agent_that_is_measured_no_more_is_taken_out_as_the_quick_start_says(walk: Walk) -> None:
    """Entries of an agent that the gate does not ask for are red; without them it is green."""
    use_fake_agent(walk, "claude")
    start_cases(walk, "claude,codex")
    judge = "routing-action compare --results results.json --providers claude --merge-base-of main"
    red = walk.shell(
        "git checkout -qb change",
        "git commit -q --allow-empty -m 'Measure claude alone'",
        "routing-action run --agents claude --output results.json",
        f"{judge} || true",
    )
    assert "REMOVED codex: 3 cases, each: codex is not asked for but has" in " ".join(red.split())
    assert "gate: Routing gate failed: 3 pairs were removed only in part" in red
    green = walk.shell(*commands_of(section(QUICK_START, "5. More agents")), judge)
    assert "3 REMOVED, 3 OK" in green
    assert "gate: Routing is as expected" in green


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "heading", "made"),
    [
        ("how-to/change-the-reports.md", "See it before it is posted", "reports/comment.md"),
        ("how-to/read-the-html-report.md", "", "report.html"),
    ],
)
def test_reports_are_made_as_their_pages_say(
    walk: Walk, name: str, heading: str, made: str
) -> None:
    """Outside of a workflow too, with the variables that the page names."""
    use_fake_agent(walk, "claude")
    start_cases(walk, "claude")
    text = section(name, heading) if heading else page(name)
    for variable in list(walk.environment):
        if variable.startswith("GITHUB_"):
            del walk.environment[variable]
    printed = walk.shell("routing-action run --agents claude >log", NEWEST, *commands_of(text))
    assert (walk.root / made).stat().st_size > 500
    shown = re.findall(r"^(0\d-post-.*)$", text, re.MULTILINE)
    assert shown == re.findall(r"^(0\d-post-.*)$", printed, re.MULTILINE)


@pytest.mark.slow
def test_results_of_several_machines_are_joined_as_the_page_says(walk: Walk) -> None:
    """A shard that is missing is red, and all of them together are judged as one batch."""
    use_fake_agent(walk, "claude")
    start_cases(walk, "claude")
    _, run, compare = commands_of(
        section("how-to/run-in-parallel-and-serial.md", "Several machines")
    )
    first = run.replace("ID1,ID2", "flaky-tests-request").replace("1/3", "1/2")
    second = run.replace("ID1,ID2", "ship-it-request,no-skill-needed").replace("1/3", "2/2")
    second = second.replace("claude-1", "claude-2")
    assert "shard 2/2 are missing" in walk.shell(first, f"{compare} || true")
    assert "\n3 OK\n" in walk.shell(second, compare)
