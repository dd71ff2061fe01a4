"""Through `run`: an agent that cannot work is not started, and that is said once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command_line import Finished, Project, loads
from tests.support.own_agent import DESCRIPTION

KEYS = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    *("ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "OPENAI_API_KEY", "CODEX_API_KEY"),
    *("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "COPILOT_GITHUB_TOKEN"),
    *("GITHUB_ACTIONS", "CI"),
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Three cases, a search path with git and nothing of an agent, and no credential."""
    programs = tmp_path / "the programs"
    programs.mkdir()
    root = tmp_path / "my project"
    root.mkdir()
    project = Project(root)
    project.variables = dict.fromkeys((*KEYS, "AGENT_CLAUDE_TEMPLATE"), "")
    (programs / "git").symlink_to(shutil.which("git") or "git")
    project.variables["PATH"] = str(programs)
    project.write_cases(loads("one"), loads("two"), loads("three"))
    return project


def install(project: Project, name: str, script: str = "exit 1") -> None:
    """Put a program on the project's path, which notes that it was started."""
    program = project.root.parent / "the programs" / name
    program.write_text(f'#!/bin/sh\necho "{name}" >>"{started(project)}"\n{script}\n', "utf-8")
    program.chmod(0o755)


def started(project: Project) -> Path:
    """The file with a line for each start."""
    return project.root.parent / "started.txt"


def run(project: Project, agents: str, *arguments: str) -> Finished:
    """`run` on some agents, one unit at a time."""
    return project.call("run", "--agents", agents, "--max-parallel", "1", *arguments)


def said(done: Finished) -> list[str]:
    """The lines about agents that are not measured."""
    return [line for line in done.stderr.splitlines() if "not measured" in line]


@pytest.mark.parametrize(
    ("agent", "install_it"),
    [
        ("claude", "install it with `npm install --global @anthropic-ai/claude-code`"),
        ("codex", "install it with `npm install --global @openai/codex`"),
        ("copilot", "install it with `npm install --global @github/copilot`"),
        ("gemini", "install it with `npm install --global @google/gemini-cli`"),
        ("opencode", "install it with `npm install --global opencode-ai`"),
    ],
)
@pytest.mark.parametrize("quiet", [(), ("--no-progress",)])
def test_a_missing_cli_is_one_line_and_a_row_for_each_case(
    project: Project, agent: str, install_it: str, quiet: tuple[str, ...]
) -> None:
    """Nothing is started or made for it; the gate finds the rows, and the doctor says the same."""
    done = run(project, agent, "--confirm", "0", *quiet)
    (line,) = said(done)
    assert line == (
        f"routing-action: {agent}: 3 cases not measured: `{agent}` is not on PATH; {install_it}, "
        f"or run `routing-action providers doctor --agents {agent}`"
    )
    assert " -> " not in done.stderr
    assert done.code == 1
    assert done.column("status") == ["infra_error"] * 3
    assert done.column("failure_kind") == ["cli_missing"] * 3
    assert done.column("ended_by") == ["not_started"] * 3
    (error,) = set(done.column("error"))
    assert list((done.artifacts / "transcripts").iterdir()) == []
    checked = project.call("providers", "doctor", "--agents", agent)
    for part in error.split("; "):
        assert part in checked.stdout


def test_few_lines_are_written_where_no_agent_is_installed(project: Project) -> None:
    """Where the results lie, a line for each agent, and the sum."""
    lines = run(project, "claude,codex,copilot").stderr.splitlines()
    assert len(lines) == 5
    assert lines[-1].endswith("summary(pass=0, fail=0, infra=9)")


@pytest.mark.parametrize(
    ("agent", "variables"),
    [
        ("claude", "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN"),
        ("codex", "OPENAI_API_KEY or CODEX_API_KEY"),
        ("gemini", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    ],
)
def test_an_agent_that_nobody_logged_in_is_not_started(
    project: Project, agent: str, variables: str
) -> None:
    """The line names its variables; the row does too."""
    install(project, agent)
    done = run(project, agent)
    cause = f"{variables} is not set, and there is no login file; set {variables}"
    (line,) = said(done)
    assert line.startswith(f"routing-action: {agent}: 3 cases not measured: {cause}, or run ")
    assert done.column("failure_kind") == ["not_run"] * 3
    assert set(done.column("error")) == {f"{cause}, or sign in with the CLI"}
    assert not started(project).exists()
    assert done.code == 1


def login_file(project: Project) -> None:
    folder = project.root / ".claude"
    folder.mkdir()
    (folder / ".credentials.json").write_text("{}", encoding="utf-8")


def settings_of_the_repository(project: Project) -> None:
    folder = project.root / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text('{"apiKeyHelper": "bin/key"}', encoding="utf-8")


def variable(name: str) -> Callable[[Project], object]:
    return lambda project: project.variables.update({name: "1"})


@pytest.mark.parametrize(
    ("agent", "arrange", "arguments"),
    [
        ("claude", variable("ANTHROPIC_API_KEY"), ()),
        ("claude", variable("CLAUDE_CODE_OAUTH_TOKEN"), ()),
        ("claude", variable("CLAUDE_CODE_USE_BEDROCK"), ()),
        ("claude", variable("CLAUDE_CODE_USE_VERTEX"), ()),
        ("claude", variable("ANTHROPIC_BASE_URL"), ()),
        ("claude", login_file, ()),
        ("claude", settings_of_the_repository, ()),
        ("claude", lambda project: None, ("--workspace", "shared")),
        ("copilot", lambda project: None, ()),
        ("opencode", lambda project: None, ()),
    ],
    ids=(
        "key token bedrock vertex gateway login-file settings own-home gh-login free-model".split()
    ),
)
def test_in_doubt_an_agent_is_started(
    project: Project,
    agent: str,
    arrange: Callable[[Project], object],
    arguments: tuple[str, ...],
) -> None:
    """What a login looks like is not always seen from outside."""
    install(project, agent)
    arrange(project)
    done = run(project, agent, *arguments)
    assert said(done) == []
    assert started(project).read_text("utf-8").split()[0] == agent


def test_a_command_of_ones_own_needs_its_program_alone(project: Project) -> None:
    """Where it logs in is its own affair; a missing one is named with its variable."""
    install(project, "wrapper")
    project.variables["AGENT_CLAUDE_TEMPLATE"] = "wrapper claude {prompt}"
    assert said(run(project, "claude")) == []
    assert started(project).exists()
    project.variables["AGENT_CLAUDE_TEMPLATE"] = "no-such-wrapper {prompt}"
    done = run(project, "claude")
    cause = "`no-such-wrapper`, the program of AGENT_CLAUDE_TEMPLATE, is not on PATH"
    assert cause in said(done)[0]
    assert set(done.column("error")) == {
        f"{cause}; correct AGENT_CLAUDE_TEMPLATE, or unset it to start `claude`"
    }
    assert "credential" not in done.stdout + done.stderr
    project.variables["AGENT_CLAUDE_TEMPLATE"] = "bin/no-such-wrapper {prompt}"
    assert "does not exist, or cannot be executed" in said(run(project, "claude"))[0]


def test_an_agent_of_ones_own_needs_its_program_alone(project: Project) -> None:
    """What routing.toml says of its credentials may not be all."""
    (project.root / "routing.toml").write_text(DESCRIPTION, encoding="utf-8")
    (line,) = said(run(project, "acme"))
    assert "acme: 3 cases not measured: `acme` is not on PATH; install it, or run " in line
    install(project, "acme")
    assert said(run(project, "acme")) == []
    assert started(project).exists()


def test_agents_that_can_work_are_measured_beside_one_that_cannot(project: Project) -> None:
    """Its rows stand in their places; only the others have lines, and are confirmed."""
    project.variables.pop("AGENT_CLAUDE_TEMPLATE")
    expected = {"expected_status": "pass"}
    entries = {name: {"claude": expected, "codex": expected} for name in ("one", "two", "three")}
    (project.root / "provider-baseline.json").write_text(json.dumps(entries), encoding="utf-8")
    done = run(project, "claude,codex", "--confirm", "1")
    assert done.column("agent") == ["claude", "codex"] * 3
    assert done.column("failure_kind") == [None, "cli_missing"] * 3
    assert len(said(done)) == 1
    assert "codex:" not in done.stderr.replace("routing-action: codex:", "")


def test_an_agent_that_finds_no_skill_is_said_before_it_starts(project: Project) -> None:
    """As the doctor says it; not where its own command may bring them, nor with --skills."""
    install(project, "claude")
    project.variables["ANTHROPIC_API_KEY"] = "k" * 20
    line = "claude: .claude/skills (0): no skill here; put skills there, or pass --skills PATH"
    assert line in run(project, "claude").stderr.partition(" -> ")[0]
    skill = project.root / "mine" / "foo" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: foo\ndescription: Foo.\n---\n", encoding="utf-8")
    assert "no skill here" not in run(project, "claude", "--skills", "mine").stderr
    project.variables["AGENT_CLAUDE_TEMPLATE"] = "claude {prompt}"
    assert "no skill here" not in run(project, "claude").stderr


def test_a_replay_needs_no_agent(project: Project) -> None:
    """Neither its CLI nor a credential."""
    folder = project.root / "rec" / "claude"
    folder.mkdir(parents=True)
    for name in ("one", "two", "three"):
        (folder / f"{name}.stdout").write_text("{}", encoding="utf-8")
    done = run(project, "claude", "--replay=rec")
    assert said(done) == []
    assert "cli_missing" not in done.column("failure_kind")


def test_a_batch_that_found_no_agent_is_complete(project: Project) -> None:
    """`--resume` has nothing to run: a new batch measures what is missing."""
    first = run(project, "claude")
    again = project.call("run", "--resume", str(first.artifacts))
    assert "is complete: nothing to run" in again.stderr
    assert again.code == 1
