"""Names of skills from the outside: a live run, a stored transcript, and the check of cases."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Finished, Project
from tests.support.streams import (
    claude_base,
    claude_call,
    claude_init,
    claude_result,
    codex_shell,
    load,
    run_of,
    say,
    skill_text,
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def write_skill(folder: Path, name: str, declared: str = "") -> None:
    path = folder / name
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text(skill_text(declared or name), encoding="utf-8")


def write_plugin(folder: Path, name: str, *skills: str) -> None:
    (folder / ".claude-plugin").mkdir(parents=True)
    (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": name}))
    for skill in skills:
        write_skill(folder / "skills", skill)


def use_output(project: Project, agent: str, stdout: bytes, stderr: str = "") -> None:
    """An agent that prints a fixed run."""
    (project.root / "run.out").write_bytes(stdout)
    (project.root / "run.err").write_text(stderr, encoding="utf-8")
    code = "import sys; sys.stdout.write(open(sys.argv[1]).read()); "
    code += "sys.stderr.write(open(sys.argv[2]).read())"
    files = (str(project.root / "run.out"), str(project.root / "run.err"))
    words = [sys.executable, "-c", code, *files]
    project.variables[f"AGENT_{agent.upper()}_TEMPLATE"] = f"{shlex.join(words)} {{prompt}}"


def case(case_id: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any field of a case
    return {"case_id": case_id, "prompt": "Work on this with me.", **fields}


POSITIVE = case("positive", expected_skill="Pair Programming")
NEGATIVE = case("negative", disallowed_skills=["pp"])


def kinds(done: Finished) -> list[tuple[str, str | None]]:
    rows = sorted(done.results["results"], key=lambda row: str(row["case_id"]))
    return [(row["status"], row["failure_kind"]) for row in rows]


def test_s5_a_live_run_knows_a_staged_skill_by_its_declared_name(project: Project) -> None:
    """The folder `pp` declares another name, which the case uses and codex never prints."""
    write_skill(project.root / "skills", "pp", "Pair Programming")
    read = codex_shell("cat .agents/skills/pp/SKILL.md", skill_text("Pair Programming"))
    use_output(project, "codex", run_of("codex", *read))
    project.write_cases(POSITIVE, NEGATIVE)
    done = project.call("run", "--agents", "codex", "--skills", "skills")
    assert kinds(done) == [("fail", "disallowed_hit"), ("pass", None)]
    assert done.column("loaded_skills") == [["pp"], ["pp"]]
    assert done.results["skills"][0]["declared_name"] == "Pair Programming"


def test_s8_a_live_run_quotes_the_cli_that_refused_a_skill(project: Project) -> None:
    """Neither case passes, and the report says what to do about the line."""
    write_skill(project.root / "skills", "pp", "Pair Programming")
    path = "/w/.agents/skills/pp/SKILL.md"
    line = f"ERROR codex_core: failed to load skill {path}: invalid description: exceeds 1024"
    line = line.replace(path, ".agents/skills/pp/SKILL.md")
    use_output(project, "codex", run_of("codex", say("codex", "Done.")), f"{line}\n")
    project.write_cases(POSITIVE, NEGATIVE)
    done = project.call("run", "--agents", "codex", "--skills", "skills")
    assert kinds(done) == [("fail", "skill_unavailable")] * 2
    assert all(line in error for error in done.column("error"))
    assert "shorten its description" in done.stdout


@pytest.mark.parametrize("layout", ["plugins", "."])
def test_evaluate_knows_the_plugins_of_a_marketplace(project: Project, layout: str) -> None:
    """Two plugins have the skill: only its plugin's name tells which one was loaded."""
    for name in ("a", "b"):
        write_plugin(project.root / "market" / layout / name, name, "deploy")
    steps = [
        claude_call("t", "Skill", skill="a:deploy"),
        claude_result("t", "ok"),
        claude_base("/home/u/.claude/plugins/cache/market/b/1.0.0/skills/deploy"),
    ]
    (project.root / "out").write_bytes(run_of("claude", claude_init(), *steps))
    project.write_cases(*(case(n, expected_skill=n.replace("_", ":")) for n in ("deploy", "b_x")))
    arguments = ("evaluate", "--agent", "claude", "--stdout", "out", "--skills", "market")
    tokens = [word for token in ("a:deploy", "b:deploy") for word in ("--token", token)]
    hits = json.loads(project.call(*arguments, *tokens).stdout)["token_hits"]
    assert (hits["a:deploy"], hits["b:deploy"]["tier"]) == (None, 1)
    judged = project.call(*arguments, "--case-id", "deploy", "--format", "text")
    assert judged.code == 1
    assert "verdict: fail (ambiguous_skill); missing: deploy" in judged.stdout
    assert "deploy fits 2 skills (a:deploy, b:deploy)" in judged.stdout


def test_evaluate_knows_the_skills_of_a_repository(project: Project) -> None:
    """A repository's own folder for the agent is looked in, and a single folder of skills too."""
    write_skill(project.root / ".github/skills", "pp", "Buddy Work")
    (project.root / "out").write_bytes(run_of("copilot", *load("copilot", "Buddy Work")))
    for skills in (".", ".github/skills", ".github/skills/pp"):
        done = project.call(
            "evaluate", "--agent", "copilot", "--stdout", "out", "--token", "pp", "--skills", skills
        )
        assert json.loads(done.stdout)["token_hits"]["pp"]["tier"] == 1
    nowhere = ("evaluate", "--agent", "copilot", "--stdout", "out", "--token", "pp", "--skills")
    (project.root / "empty").mkdir()
    assert project.call(*nowhere, "empty").code == 2


def test_check_and_init_know_every_name_of_a_skill(project: Project) -> None:
    """The display form of a name is no unknown skill; a name of two skills is warned of."""
    write_skill(project.root / "skills", "pp", "pair-programming")
    write_skill(project.root / "skills", "deploy")
    write_skill(project.root / "skills", "ship", "deploy")
    project.write_cases(
        case("one", expected_skill="Pair Programming"),
        case("two", expected_skill="pp", disallowed_skills=["Deploy"]),
        case("three", expected_skill="pair-programmers"),
    )
    done = project.call("cases", "check", "--skills", "skills", "--format", "json")
    warnings = json.loads(done.stdout)["warnings"]
    named = [(one["case_id"], one["rule"]) for one in warnings if one["case_id"]]
    assert named == [("two", "ambiguous-skill"), ("three", "unknown-skill")]
    (ambiguous,) = [one["message"] for one in warnings if one["rule"] == "ambiguous-skill"]
    assert "Deploy fits 2 skills (deploy, ship)" in ambiguous
    started = project.call(
        "cases", "init", "--skills", "skills", "--output", "new.json", "--no-baseline"
    )
    assert started.code == 0
    new = json.loads((project.root / "new.json").read_text(encoding="utf-8"))
    assert {one["expected_skill"] for one in new} == {"pp", "deploy", "ship", ""}
