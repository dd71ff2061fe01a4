"""What agents read by links, settings and imports counts for a plan and for a report."""

from __future__ import annotations

import dataclasses
import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.action_stages import Job
from tests.support.pull_request import CASES, FILES, ROUTER, PullRequest

SECOND = {**CASES[1], "category": "other"}
EDITED_CASE = {"cases.json": json.dumps([CASES[0], SECOND], indent=2)}
Files = dict[str, str | None]


def check_both(change: PullRequest, edit: Files, path: str) -> None:
    """A plan that has one case to measure anyway selects both, and the report names the file."""
    change.propose({**EDITED_CASE, **edit})
    plan = change.job("plan").use("plan", agents="claude", changed_from="origin/main")
    legs = json.loads(plan["matrix"])["include"]
    assert sorted(one for leg in legs for one in leg["case_ids"].split(",")) == ["deploy", "notes"]
    change.measure()
    edits = {edit["path"] for edit in change.judge().delta["edits"]}
    assert path in edits


@pytest.mark.parametrize("path", ["settings.json", "rules/a.md", "hooks/x.sh"])
@pytest.mark.parametrize("moved", ["conf/claude", "claude"])
def test_g9_what_lies_behind_a_linked_folder_of_an_agent_counts(
    tmp_path: Path, moved: str, path: str
) -> None:
    """`.claude` itself is a link."""
    change = PullRequest(tmp_path, {**FILES, f".claude/{path}": "{}"})
    top = change.origin.path
    (top / moved).parent.mkdir(exist_ok=True)
    shutil.move(top / ".claude", top / moved)
    (top / ".claude").symlink_to(moved)
    change.origin.commit(day=0)
    check_both(change, {f"{moved}/{path}": '{"x": 1}'}, f".claude/{path}")


@pytest.mark.parametrize(
    "rule",
    [
        ".claude/rules/a.md",
        ".claude/commands/a.md",
        ".claude/agents/a.md",
        ".github/prompts/a.prompt.md",
        ".gemini/x/a.md",
    ],
)
def test_g10_imports_of_rules_and_commands_count(tmp_path: Path, rule: str) -> None:
    """They are instructions, whatever their names."""
    up = "../" * rule.count("/")
    change = PullRequest(tmp_path, {**FILES, rule: f"See @{up}docs/style.md", "docs/style.md": "x"})
    check_both(change, {"docs/style.md": "Always use writing-notes."}, "docs/style.md")


SETTINGS = [
    (".claude/settings.json", '{"command": "$CLAUDE_PROJECT_DIR/tools/hint.sh"}'),
    (".mcp.json", '{"mcpServers": {"x": {"command": "python", "args": ["./tools/hint.sh"]}}}'),
    ("opencode.json", '{"prompt": "{file:./tools/hint.sh}"}'),
    (".codex/config.toml", 'notify = ["bash", "tools/hint.sh", "--x"]'),
]


@pytest.mark.parametrize(("settings", "text"), SETTINGS)
def test_g11_a_script_that_settings_name_counts(tmp_path: Path, settings: str, text: str) -> None:
    """An agent runs it, or reads it."""
    change = PullRequest(tmp_path, {**FILES, settings: text, "tools/hint.sh": "echo"})
    check_both(change, {"tools/hint.sh": "echo writing-notes"}, "tools/hint.sh")


def test_g12_a_file_at_the_top_that_settings_name_counts(tmp_path: Path) -> None:
    """Codex reads it where there is no AGENTS.md."""
    text = 'project_doc_fallback_filenames = ["TEAM.md"]'
    change = PullRequest(tmp_path, {**FILES, ".codex/config.toml": text})
    check_both(change, {"TEAM.md": "Always use writing-notes."}, "TEAM.md")


def test_g11_a_file_that_is_named_by_nobody_is_none_of_it(tmp_path: Path) -> None:
    """A part of a name is no name."""
    settings = {".claude/settings.json": '{"command": "mytools/hint.sh.bak run-me.shy"}'}
    change = PullRequest(tmp_path, {**FILES, **settings, "tools/hint.sh": "x", "me.sh": "x"})
    change.propose({**EDITED_CASE, "tools/hint.sh": "y", "me.sh": "y"})
    change.measure()
    assert {edit["path"] for edit in change.judge().delta["edits"]} == {"cases.json"}


class WithCommand(PullRequest):
    """A pull request whose workflow starts a program of the repository in the agent's place."""

    command = f"{shlex.quote(sys.executable)} {{file}} {{prompt}}"

    def job(self, name: str, *, attempt: int = 1) -> Job:
        """A job whose template names the program."""
        job = super().job(name, attempt=attempt)
        return dataclasses.replace(job, variables={"AGENT_CLAUDE_TEMPLATE": self.command})


@pytest.mark.parametrize("file", ["tools/agent.py", "./tools/agent.py"])
@pytest.mark.parametrize("edited", ["tools/agent.py", "tools/other.py"])
def test_g13_a_program_in_an_agents_command_counts(tmp_path: Path, edited: str, file: str) -> None:
    """It answers in the agent's place; what stands beside it is none of it."""
    program = ROUTER.read_text("utf-8")
    files = {"tools/agent.py": program, "tools/other.py": program}
    change = WithCommand(tmp_path, {**FILES, **files})
    change.command = change.command.replace("{file}", file)
    change.propose({edited: f"{program}# x\n"})
    change.measure()
    edits = {(one["path"], one["influence"]) for one in change.judge().delta["edits"]}
    assert edits == ({(edited, "agent description")} if edited == "tools/agent.py" else set())
