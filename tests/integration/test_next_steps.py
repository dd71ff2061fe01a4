"""What is offered next, at a desk, is what a person can use."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

from tests.support.command_line import Finished, Project, loads
from tests.support.result_rows import write_results

ARTIFACTS = "tests/agent-routing/artifacts"
PASS = {"expected_status": "pass"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two cases and a skill in a repository whose path has a space; no baseline."""
    root = tmp_path / "my repository"
    skill = root / ".claude" / "skills" / "foo" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: foo\ndescription: Foo.\n---\n", encoding="utf-8")
    project = Project(root)
    project.write_cases(loads("one"), loads("two"))
    return project


def expect(project: Project, *cases: str, status: str = "pass") -> None:
    """A baseline for claude."""
    entry = {"expected_status": status, "reason": "known"}
    text = json.dumps({name: {"claude": entry} for name in cases})
    (project.root / "provider-baseline.json").write_text(text, encoding="utf-8")


def last(done: Finished) -> str:
    return done.stdout.splitlines()[-1]


def test_a_run_alone_is_followed_by_the_comparison(project: Project) -> None:
    """Where there is a baseline: it may be red though every measured pair passed."""
    assert last(project.run()).startswith("artifacts: ")
    expect(project, "one")
    done = project.run()
    assert last(done) == "next: routing-action compare"
    assert "2 OK" not in project.call(*shlex.split(last(done))[2:]).stdout
    elsewhere = project.run("--artifacts-root", "my batches")
    words = shlex.split(last(elsewhere))[2:]
    assert words[:2] == ["compare", "--results"]
    assert (project.root / words[2]).is_dir()
    assert "next: " not in project.run("--format", "json").stdout
    project.variables["CI"] = "true"
    assert "next: " not in project.run().stdout


def test_a_comparison_in_the_short_way_ends_with_the_folder(project: Project) -> None:
    """What a person opens next, as `./test.sh` calls it."""
    expect(project, "one", "two")
    folder = project.run().artifacts
    done = project.call("compare", "--results", str(folder), "--or-exit", "0")
    assert last(done) == f"artifacts: {folder.relative_to(project.root)}"


@pytest.mark.parametrize(
    ("failing", "said"),
    [((), "2 OK"), (("one",), "1 OK, 1 known failure"), (("one", "two"), "2 known failures")],
)  # fmt: skip
def test_a_green_gate_with_failures_says_why(
    project: Project, failing: tuple[str, ...], said: str
) -> None:
    """The run before it showed them as FAIL."""
    measured = {(name, "claude"): "fail" if name in failing else "pass" for name in ("one", "two")}
    entries = {
        name: {"claude": {"expected_status": word, "reason": "known"}}
        for (name, _), word in measured.items()
    }
    (project.root / "provider-baseline.json").write_text(json.dumps(entries), encoding="utf-8")
    write_results(project.root / ARTIFACTS / "batch", measured)
    done = project.call("compare")
    assert (done.code, f"\n{said}\n" in f"\n{done.stdout}") == (0, True), done.stdout


def batch(project: Project, name: str, minute: int, **fields: object) -> None:
    """A batch of the pairs that it names, measured so many minutes after midnight."""
    options = {key: fields.pop(key) for key in ("replay", "cases_file") if key in fields}
    measured = {(case, "claude"): str(word) for case, word in fields.items()}
    file = write_results(project.root / ARTIFACTS / name, measured, **options)
    (file.parent / "transcripts").mkdir()
    os.utime(file, (minute, minute))


@pytest.mark.parametrize(
    "fields",
    [{"two": "infra"}, {"two": "pass", "replay": "rec"}, {"two": "pass", "cases_file": "x.json"},
     {"one": "pass"}],
)  # fmt: skip
def test_only_a_batch_that_can_complete_another_is_offered(
    project: Project, fields: dict[str, object]
) -> None:
    """Not one that measured nothing of it, a replay, or other cases; the one before these is."""
    expect(project, "one", "two")
    batch(project, "unlike", 2, **fields)
    batch(project, "rerun", 3, one="pass")
    assert "to judge together" not in project.call("compare").stderr
    batch(project, "whole", 1, one="fail", two="pass")
    *_, command = project.call("compare").stderr.splitlines()
    assert command == (
        f"  routing-action compare --results {ARTIFACTS}/whole --results {ARTIFACTS}/rerun"
    )
    assert "2 OK" in project.call(*shlex.split(command)[1:]).stdout
    judging = ("--confirm", "auto", "--false-alarm", "0.05")
    *_, again = project.call("compare", *judging).stderr.splitlines()
    assert again == f"{command} {shlex.join(judging)}"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("reprot",), "report"),
        (("compre", "--results", "x"), "compare"),
        (("cases", "chekc"), "check"),
        (("baseline", "updat"), "update"),
        (("providers", "docter"), "doctor"),
    ],
)
def test_a_misspelt_command_is_offered_the_one_that_was_meant(
    project: Project, words: tuple[str, ...], meant: str
) -> None:
    """In every group."""
    done = project.call(*words)
    assert (done.code, f"Did you mean {meant!r}?" in done.stderr) == (2, True), done.stderr
    assert "Did you mean" not in project.call("zzzz").stderr


@pytest.mark.parametrize("command", [("run", "--agents", "claude"), ("cases", "check")])
def test_a_misspelt_folder_of_skills_is_offered_the_one_that_was_meant(
    project: Project, command: tuple[str, ...]
) -> None:
    """Where one like it stands beside it."""
    done = project.call(*command, "--skills", ".claude/skill")
    assert done.code == 2
    assert "--skills .claude/skill: there is no such folder" in done.stderr
    assert "did you mean .claude/skills?" in done.stderr
    assert "did you mean" not in project.call(*command, "--skills", "nowhere/at/all").stderr


@pytest.mark.parametrize("ids", ["tow", "one,tow", "tow,zzzz"])
def test_a_misspelt_case_is_named_alike_alone_and_in_a_list(project: Project, ids: str) -> None:
    """One sentence and one exit code, whether one or all of the ids are wrong."""
    done = project.run("--case-id", ids)
    assert (done.code, "error: no case 'tow'" in done.stderr) == (2, True)
    assert "did you mean two?" in done.stderr


@pytest.mark.parametrize(
    ("other", "is_told"), [("Colours and fonts of a brand.", True), ("Foo.", False)]
)
def test_init_says_where_no_two_skills_are_alike(
    project: Project, other: str, *, is_told: bool
) -> None:
    """Else a person would wait for the cases that tell two skills apart."""
    skill = project.root / ".claude" / "skills" / "brand" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text(f"---\nname: brand\ndescription: {other}\n---\n", encoding="utf-8")
    done = project.call(
        "cases", "init", "--skills", ".claude/skills", "--output", "new.json", "--no-baseline"
    )
    assert ("no two skills have similar descriptions" in done.stdout) is is_told, done.stdout
