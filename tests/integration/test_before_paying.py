"""Through `run`: what a paid run would trip over stops it before it begins."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from routing_action.cli.before_run import is_misspelling
from tests.support.command_line import Finished, Project, loads

SKILL = "---\nname: {0}\ndescription: Works on {0}.\n---\n# {0}\n"
CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two skills, and claude as it is without a command of one's own."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")  # and no agent
    project = Project(tmp_path / "the repository")
    project.root.mkdir()
    project.variables = {"AGENT_CLAUDE_TEMPLATE": "", "PATH": str(programs)}
    for name in ("reviewing-code", "lint-v2"):
        write_skill(project, f".claude/skills/{name}", SKILL.format(name))
    return project


def write_skill(project: Project, folder: str, text: str) -> None:
    """Put a skill somewhere."""
    path = project.root / folder / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


def stopped(done: Finished) -> str:
    """The error of a run that did not begin."""
    assert (done.code, "ARTIFACT_DIR" in done.stderr) == (2, False), done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "field", ["expected_skill", "required_skills", "optional_skills", "disallowed_skills"]
)
@pytest.mark.parametrize("name", ["reviewin-code", "reviewing_codes", "acme:reviewing-coed"])
def test_a_misspelt_skill_stops_the_run(project: Project, field: str, name: str) -> None:
    """With the place of the case, the field and the name that was meant."""
    value = name if field == "expected_skill" else [name]
    project.write_cases({"case_id": "one", "prompt": "p", field: value})
    error = stopped(project.run())
    assert f"cases.json:1: field {field}: one: there is no skill {name}" in error
    assert "remedy: did you mean reviewing-code?" in error


@pytest.mark.parametrize(
    "case",
    [
        {"expected_skill": "reviewing-code"},
        {"expected_skill": "Reviewing Code"},
        {"expected_skill": "acme:reviewing-code"},
        {"disallowed_skills": ["lint-v1"]},
        {"disallowed_skills": ["deploying"]},
        {
            "expected_skill": "reviewing-cod",
            "provider_aliases": {"claude": {"reviewing-cod": "reviewing-code"}},
        },
    ],
    ids="right display qualified version foreign alias".split(),
)
def test_a_name_that_may_be_right_does_not(project: Project, case: dict[str, object]) -> None:
    """Another version, a skill of somewhere else, or a name that an agent has for it."""
    project.write_cases({"case_id": "one", "prompt": "p", **case})
    assert project.run().column("failure_kind") == ["cli_missing"]


def test_names_are_known_from_the_skills_that_are_staged(project: Project) -> None:
    """A skill of --skills is a skill, and is meant by a name that is like it."""
    write_skill(project, "more/deploying-apps", SKILL.format("deploying-apps"))
    project.write_cases({"case_id": "one", "prompt": "p", "expected_skill": "deploying-apps"})
    assert project.run("--skills", "more").code == 1
    project.write_cases({"case_id": "one", "prompt": "p", "expected_skill": "deploying-app"})
    assert "did you mean deploying-apps?" in stopped(project.run("--skills", "more"))


@pytest.mark.parametrize("way", ["template", "shared"])
def test_where_skills_can_come_from_elsewhere_a_strange_name_is_a_note(
    project: Project, way: str
) -> None:
    """A command of one's own, or the user's home, may bring skills that nobody sees here."""
    arguments = ("--workspace", "shared") if way == "shared" else ()
    if way == "template":
        project.variables.clear()
    project.write_cases(
        {"case_id": "one", "prompt": "p", "expected_skill": "reviewing-cod"}, loads("two")
    )
    done = project.run(*arguments)
    note = (
        "2 cases name skills that are not here: reviewing-cod (did you mean reviewing-code?), foo; "
        "see `routing-action cases"
    )
    assert note in done.stderr
    assert len(done.results["results"]) == 2


@pytest.mark.parametrize("name", ["cases.json", "provider-baseline.json", "SKILL.md"])
def test_a_merge_conflict_stops_the_run(project: Project, name: str) -> None:
    """In the cases, the baseline and a skill that an agent would read."""
    project.write_cases({"case_id": "one", "prompt": "p"})
    path = project.root / name
    if name == "SKILL.md":
        path = project.root / ".claude/skills/lint-v2/SKILL.md"
    path.write_text(
        f"{SKILL.format('lint-v2') if name == 'SKILL.md' else '{'}\n{CONFLICT}", "utf-8"
    )
    error = stopped(project.run())
    assert str(path.relative_to(project.root)) in error
    assert "unresolved merge conflict" in error
    assert "keep one side of each conflict" in error


def test_a_skill_about_conflicts_may_show_one(project: Project) -> None:
    """In a code block; and half a conflict is none."""
    text = f"{SKILL.format('merging')}\n```text\n{CONFLICT}```\n>>>>>>> x\n<<<<<<< y\n"
    write_skill(project, ".claude/skills/merging", text)
    project.write_cases({"case_id": "one", "prompt": "p"})
    assert project.run().code == 1


def test_a_baseline_that_cannot_be_used_is_said_before_the_run(project: Project) -> None:
    """The results would be compared with it."""
    project.write_cases({"case_id": "one", "prompt": "p"})
    wrong = {"one": {"claude": {"expected_status": "passs"}}}
    (project.root / "provider-baseline.json").write_text(json.dumps(wrong), encoding="utf-8")
    assert "provider-baseline.json" in stopped(project.run())


def test_a_replay_is_stopped_by_none_of_it(project: Project) -> None:
    """It costs nothing, and reads no skill."""
    project.write_cases({"case_id": "one", "prompt": "p", "expected_skill": "reviewing-cod"})
    (project.root / ".claude/skills/lint-v2/SKILL.md").write_text(CONFLICT, encoding="utf-8")
    folder = project.root / "rec" / "claude"
    folder.mkdir(parents=True)
    (folder / "one.stdout").write_text("{}", encoding="utf-8")
    assert project.run("--replay=rec").code in (0, 1)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("lint", "lints", True),
        ("lint", "line", True),
        ("lint", "link-up", False),
        ("reviewing", "revewing", True),
        ("reviewing", "reveiwing", True),
        ("reviewing-code", "writing-code", False),
        ("widget-test", "widget-testing", False),
        ("lint-v1", "lint-v2", False),
        ("step-9", "step-10", False),
    ],
)
def test_a_misspelling_is_a_letter_or_two(name: str, known: str, *, expected: bool) -> None:
    """Names that share words are different names."""
    assert is_misspelling(name, known) is expected
