"""`providers doctor` from the outside, on agent CLIs that are made for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from routing_action.results.batch_folder import render_results
from tests.support.command_line import Finished, Project
from tests.support.own_agent import DESCRIPTION, STREAM
from tests.support.result_rows import make_results, make_row

KEY = "sk-ant-0123456789abcdef"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with a skill, and a claude on the path that says its version."""
    (tmp_path / ".claude/skills/foo").mkdir(parents=True)
    (tmp_path / ".claude/skills/foo/SKILL.md").write_text("x", encoding="utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    project = Project(tmp_path)
    path = f"{programs}:/usr/bin:/bin"
    project.variables = {"PATH": path, "AGENT_CLAUDE_TEMPLATE": "", "ANTHROPIC_API_KEY": KEY}
    install(project, "claude", "echo '2.1.100 (Claude Code)'")
    return project


def install(project: Project, name: str, script: str) -> None:
    """Put a program on the project's path."""
    program = project.root / "bin" / name
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)


def doctor(project: Project, *arguments: str) -> Finished:
    """`providers doctor` on claude."""
    return project.call("providers", "doctor", "--agents", "claude", *arguments)


def test_without_a_name_the_agents_of_the_baseline_are_checked(project: Project) -> None:
    """As `run` measures those; beside the cases, or in the earlier harness's place."""
    text = '{"one": {"claude": {"expected_status": "pass"}}}'
    for name in ("provider-baseline.json", "tests/agent-routing/provider-baseline.json"):
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        done = project.call("providers", "doctor")
        assert (done.code, done.stdout.endswith("no problem with 1 agent\n")) == (0, True)
        path.unlink()
    assert "of 3 agents" in project.call("providers", "doctor").stdout


def findings(done: Finished) -> dict[str, dict[str, Any]]:
    """Each finding about the only agent, by what was checked."""
    (agent,) = json.loads(done.stdout)
    return {one["check"]: one for one in agent["findings"]}


def test_an_agent_that_is_well(project: Project) -> None:
    """Exit 0; version, credentials by name and skills are told."""
    done = doctor(project)
    assert done.code == 0, done.stdout
    for part in ("2.1.100 (tested: 2.0.77 to 2.1.332)", "ANTHROPIC_API_KEY", ".claude/skills (1)"):
        assert part in done.stdout
    assert done.stdout.endswith("no problem with 1 agent\n")


def test_a_version_at_the_end_of_a_sentence_is_read_without_its_full_stop(
    project: Project,
) -> None:
    """As Copilot prints it; a pre-release keeps its name."""
    install(project, "claude", "echo 'Claude Code 2.1.100-rc.1.'; echo 9.9.9")
    (agent,) = json.loads(doctor(project, "--format", "json").stdout)
    assert agent["version"] == "2.1.100-rc.1"


def test_p10_credentials_are_never_told_by_value(project: Project) -> None:
    """Also not where the CLI itself prints its key as it fails."""
    (project.root / ".claude").mkdir(exist_ok=True)
    (project.root / ".claude/.credentials.json").write_text('{"t": "secret-login"}', "utf-8")
    install(project, "claude", 'echo "bad key $ANTHROPIC_API_KEY in $(env)" >&2; exit 3')
    done = doctor(project, "--format", "json")
    assert done.code == 1
    assert findings(done)["starts"]["text"].startswith("it ended with 3: bad key")
    assert KEY not in done.stdout + done.stderr
    assert "secret-login" not in done.stdout + done.stderr
    (agent,) = json.loads(done.stdout)
    assert agent["credentials"] == {
        "variables": ["ANTHROPIC_API_KEY"],
        "login_files": [".claude/.credentials.json"],
    }


def test_it_is_asked_as_a_unit_would_be(project: Project) -> None:
    """In a home of its own, without the workflow's token; nothing is left behind."""
    project.variables["GITHUB_TOKEN"] = "ghs_0123456789abcdef"
    seen = project.root / "seen.txt"
    install(project, "claude", f"env > {seen}; echo 2.1.100")
    assert doctor(project).code == 0
    text = seen.read_text("utf-8")
    home = re.search(r"^HOME=(.*)$", text, re.MULTILINE)
    assert home is not None
    assert home[1] != str(project.root)
    assert not Path(home[1]).exists()
    assert "GITHUB_TOKEN" not in text


def test_what_is_missing_comes_with_remedies(project: Project) -> None:
    """Exit 1; every problem says what to do."""
    project.variables["ANTHROPIC_API_KEY"] = ""
    (project.root / "bin" / "claude").unlink()
    done = doctor(project)
    assert done.code == 1
    assert "`claude` is not on PATH" in done.stdout
    assert "remedy: install it with `npm install --global @anthropic-ai/claude-code`" in done.stdout
    assert "remedy: set ANTHROPIC_API_KEY" in done.stdout
    assert "1 of 1 agents cannot be measured as they are: claude" in done.stdout


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exec /no/such/interpreter", "it ended with 127"),
        ("echo; exit 9", "it ended with 9"),
        ("kill -9 $$", "it ended with -9"),
    ],
)
def test_a_cli_that_does_not_start_is_told(project: Project, script: str, told: str) -> None:
    """By how it ended."""
    install(project, "claude", script)
    done = doctor(project, "--format", "json")
    assert (done.code, findings(done)["starts"]["level"]) == (1, "problem")
    assert told in findings(done)["starts"]["text"]


def test_a_file_that_is_no_program_is_told(project: Project) -> None:
    """The system says why."""
    program = project.root / "bin" / "claude"
    program.write_text("#!/no/such/thing\n", encoding="utf-8")
    done = doctor(project, "--format", "json")
    assert "it does not start" in findings(done)["starts"]["text"]


def test_control_characters_of_a_cli_stay_off_the_terminal(project: Project) -> None:
    """What it prints as it fails is shown on one line."""
    install(project, "claude", "printf 'a\\033[31m\\nb' >&2; exit 1")
    done = doctor(project)
    assert "\033" not in done.stdout
    assert "it ended with 1: a?[31m b" in done.stdout


def write_results(project: Project, name: str, **changes: Any) -> Path:  # noqa: ANN401 - any field
    """A batch's results with one row."""
    replay = changes.pop("replay", None)
    results = make_results(make_row(cli_version="2.1.100", **changes))
    options = results.options.model_copy(update={"replay": replay})
    folder = project.root / name
    folder.mkdir()
    text = render_results(results.model_copy(update={"options": options}))
    (folder / "results.json").write_text(text, encoding="utf-8")
    return folder


def test_drift_of_the_installed_version_is_a_problem(project: Project) -> None:
    """From the threshold on, over all results that were given; a replay does not count."""
    first = write_results(project, "one", recognised_events=90, unrecognised_events=4)
    second = write_results(project, "two", recognised_events=0, unrecognised_events=6)
    write_results(project, "three", recognised_events=10_000, replay="r")
    assert doctor(project, "--results-dir", str(first)).code == 0
    both = doctor(project, "--results-dir", str(first), "--results-dir", str(second))
    assert both.code == 1
    assert "2.1.100: 10.0% of 100 records not recognised, the limit is 5.0%" in both.stdout
    all_three = doctor(project, "--results-dir", str(project.root), "--format", "json")
    (agent,) = json.loads(all_three.stdout)
    assert agent["drift"] == {"2.1.100": {"recognised": 90, "unrecognised": 10, "share": 0.1}}
    loose = doctor(
        project, "--results-dir", str(project.root), "--drift-threshold", "0.2"
    )  # fmt: skip
    assert loose.code == 0
    assert doctor(project, "--results-dir", str(second), "--agents", "claude").code == 1


def test_results_that_are_none_are_refused(project: Project) -> None:
    """Exit 2, before anything is started."""
    done = doctor(project, "--results-dir", str(project.root / "bin"))
    assert (done.code, done.stdout) == (2, "")


def test_an_agent_of_ones_own_is_checked_where_it_is_named(project: Project) -> None:
    """A description that came with a branch starts nothing unasked."""
    (project.root / "routing.toml").write_text(DESCRIPTION, encoding="utf-8")
    started = project.root / "started.txt"
    install(project, "acme", f"touch {started}; echo acme 1.2.3")
    project.variables["ACME_API_KEY"] = "k" * 20
    done = project.call("providers", "doctor", "--format", "json")
    assert [one["name"] for one in json.loads(done.stdout)] == ["claude", "codex", "copilot"]
    assert (done.code, started.exists()) == (1, False)  # codex and copilot are not here
    named = project.call("providers", "doctor", "--agents", "acme", "--format", "json")
    (acme,) = json.loads(named.stdout)
    assert (named.code, acme["ok"], acme["version"]) == (0, True, "1.2.3")
    assert acme["tested_versions"] == ["1.2.0", "1.2.9"]


def test_a_description_is_tried_on_its_recordings(project: Project) -> None:
    """Without one, nothing shows that it reads its agent; one that reads no load is a problem."""
    (project.root / "routing.toml").write_text(DESCRIPTION, encoding="utf-8")
    install(project, "acme", "echo '1.2.3'")
    project.variables["ACME_API_KEY"] = "acme-key"

    def asked() -> tuple[int, dict[str, Any]]:
        done = project.call("providers", "doctor", "--agents", "acme", "--format", "json")
        return done.code, findings(done)["description"]

    code, one = asked()
    assert (code, one["level"]) == (0, "warning")
    assert "providers record --agent acme" in one["remedy"]
    folder = project.root / "tests/recordings/acme"
    folder.mkdir(parents=True)
    (folder / "first.stdout").write_bytes(STREAM)
    assert asked()[1]["text"].endswith("all is read, with 1 load")
    for old, new, said in (
        ('id = "call.id"\n', "", "can never be paired"),
        ('success = "call.ok"', 'success = "call.okay"', "no load is read"),
        ('quiet = ["heartbeat"]', "quiet = []", "not read: heartbeat"),
    ):
        (project.root / "routing.toml").write_text(DESCRIPTION.replace(old, new), encoding="utf-8")
        code, one = asked()
        assert (code, one["level"]) == (1, "problem")
        assert said in one["text"]
        assert "providers try" in one["remedy"] or "description" in one["remedy"]


def test_the_drift_of_an_agent_of_ones_own_is_its_descriptions(project: Project) -> None:
    """No release of this tool knows that agent."""
    (project.root / "routing.toml").write_text(DESCRIPTION, encoding="utf-8")
    install(project, "acme", "echo '1.2.3'")
    row = make_row(agent="acme", cli_version="1.2.3", recognised_events=1, unrecognised_events=9)
    results = project.root / "results.json"
    results.write_text(render_results(make_results(row)), encoding="utf-8")
    done = project.call("providers", "doctor", "--agents", "acme", "--format", "json",
                        "--results-dir", str(results))  # fmt: skip
    assert findings(done)["drift"]["remedy"].startswith("correct its description")
