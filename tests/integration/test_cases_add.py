"""`cases add` and `cases import`: a case for a new skill, in the file that is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from routing_action.corpus.cases_file import read_cases
from tests.support.command_line import Project, loads

SKILLS = {
    "pdf-forms": "Fills PDF forms. Use when the user wants to fill in a form.",
    "release-notes": "Drafts release notes.",
}
ENTRY = {"expected_status": "pass"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository, below a path with a space, with two skills, a case and a baseline."""
    root = tmp_path / "my project"
    for name, description in SKILLS.items():
        path = root / ".claude" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\nname: {name}\ndescription: {description}\n---\n", encoding="utf-8")
    project = Project(root)
    project.write_cases(loads("one", expected_skill="pdf-forms"))
    write(project, "provider-baseline.json", {"one": {"codex": ENTRY, "claude": ENTRY}})
    return project


def write(project: Project, name: str, value: object, indent: int = 2) -> None:
    (project.root / name).write_text(json.dumps(value, indent=indent) + "\n", encoding="utf-8")


def read(project: Project, name: str = "cases.json") -> Any:  # noqa: ANN401 - any JSON
    return json.loads((project.root / name).read_text(encoding="utf-8"))


def add(project: Project, *arguments: str) -> tuple[int, list[str], str]:
    done = project.call("cases", "add", *arguments)
    return done.code, done.stdout.splitlines(), done.stderr


def test_a_new_skill_gets_a_case_and_baseline_entries(project: Project) -> None:
    """What was written is said, and the next command measures it."""
    code, lines, stderr = add(
        project, "--skill", "release-notes", "--prompt", "What changed since May? Für Kunden."
    )
    assert (code, stderr) == (0, "")
    assert lines == [
        "cases.json:1: added case release-notes-request, which expects release-notes",
        (
            "provider-baseline.json: 2 entries for codex, claude, expected to pass; "
            "the whole file is laid out anew: sorted, one field a line"
        ),
        "next: routing-action run --case-id release-notes-request",
    ]
    assert read(project)[-1] == {
        "case_id": "release-notes-request",
        "category": "request",
        "prompt": "What changed since May? Für Kunden.",
        "expected_skill": "release-notes",
    }
    assert set(read(project, "provider-baseline.json")["release-notes-request"]) == {
        "claude",
        "codex",
    }
    assert project.call("baseline", "check").code == 0
    assert project.call("cases", "check", "--strict").code == 0


def test_a_negative_case_must_not_use_the_skill(project: Project) -> None:
    """With an id and a category of one's own."""
    code, lines, _ = add(project, "--skill", "PDF Forms", "--negative", "--prompt", "Fill my glass",
                         "--id", "Glass.1", "--category", "hard")  # fmt: skip
    assert code == 0
    assert lines[0].endswith(": added case Glass.1, which must not use pdf-forms")
    assert read(project)[-1] == {
        "case_id": "Glass.1",
        "category": "hard",
        "prompt": "Fill my glass",
        "expected_skill": "",
        "disallowed_skills": ["pdf-forms"],
    }


def test_a_prompt_comes_from_the_description_where_none_is_given(project: Project) -> None:
    """As in a first corpus; where there is none, the warning says what is to be done."""
    assert add(project, "--skill", "pdf-forms")[0] == 0
    assert read(project)[-1]["prompt"] == "Please fill in a form."
    code, _, stderr = add(project, "--skill", "release-notes")
    assert code == 0
    assert "warning: release-notes-request: the prompt is still to be written" in stderr


def test_ids_are_free_ones(project: Project) -> None:
    """The same command twice gives two cases."""
    for _ in range(3):
        assert add(project, "--skill", "pdf-forms", "--prompt", "Fill this in")[0] == 0
    ids = [case["case_id"] for case in read(project)]
    assert ids == ["one", "pdf-forms-request", "pdf-forms-request-2", "pdf-forms-request-3"]


REJECTED = {
    "unknown skill": (
        ("--skill", "pdf-form", "--prompt", "p"),
        "has no skill 'pdf-form'",
        "did you mean pdf-forms?",
    ),
    "nothing like it": (
        ("--skill", "zzz", "--prompt", "p"),
        "has no skill 'zzz'",
        "the skills there are pdf-forms, release-notes",
    ),
    "existing id": (
        ("--skill", "pdf-forms", "--prompt", "p", "--id", "ONE"),
        "cases.json:1 has the case one already",
        "name another id",
    ),
    "no id": (
        ("--skill", "pdf-forms", "--prompt", "p", "--id", "../x"),
        "--id '../x' is no case id",
        "letters, digits",
    ),
    "blank prompt": (("--skill", "pdf-forms", "--prompt", "  "), "has no prompt", "--prompt"),
    "no negative prompt": (("--skill", "pdf-forms", "--negative"), "has no prompt", "--prompt"),
    "long prompt": (
        ("--skill", "pdf-forms", "--prompt", "x" * 100_001),
        "more than 100000 characters",
        "shorten it",
    ),
    "bytes": (("--skill", "pdf-forms", "--prompt", "caf\udce9"), "not UTF-8 text", "UTF-8"),
    "broken baseline": (
        ("--skill", "pdf-forms", "--prompt", "p", "--baseline", "cases.json"),
        "must be an object",
        "CASE_ID",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_cannot_be_added_changes_nothing(project: Project, name: str) -> None:
    """Exit 2, cause and remedy; neither file is touched."""
    arguments, cause, remedy = REJECTED[name]
    before = [read(project), read(project, "provider-baseline.json")]
    code, lines, stderr = add(project, *arguments)
    assert (code, lines) == (2, [])
    assert cause in stderr
    assert remedy in stderr.partition("remedy: ")[2]
    assert [read(project), read(project, "provider-baseline.json")] == before


def test_a_prompt_that_names_the_skill_gets_the_usual_warning(project: Project) -> None:
    """It is added all the same, as `cases check` accepts it."""
    code, _, stderr = add(project, "--skill", "pdf-forms", "--prompt", "Use pdf-forms on this")
    assert code == 0
    assert "warning: pdf-forms-request: the prompt names pdf-forms" in stderr


def test_other_files_and_skills_can_be_named(project: Project) -> None:
    """The command that comes next names them too, quoted; no baseline is no fault."""
    (project.root / "more cases").mkdir()
    write(project, "more cases/cases.json", {"cases": []})
    (project.root / "provider-baseline.json").unlink()
    (project.root / ".claude" / "skills").rename(project.root / "kept")
    assert "no skills were found here" in add(project, "--skill", "pdf-forms")[2]
    code, lines, _ = add(project, "--skill", "pdf-forms", "--cases", "more cases/cases.json",
                         "--skills", "kept")  # fmt: skip
    assert code == 0
    assert lines == [
        "more cases/cases.json:3: added case pdf-forms-request, which expects pdf-forms",
        "next: rewrite the prompt in more cases/cases.json:3: ask as a user would",
        "then: routing-action run --case-id pdf-forms-request --cases 'more cases/cases.json'",
    ]
    assert len(read_cases(project.root / "more cases" / "cases.json").cases) == 1


def test_a_byte_order_mark_a_link_and_an_entry_stay(project: Project) -> None:
    """What is not about the new case is not changed."""
    path = project.root / "cases.json"
    path.rename(project.root / "real.json")
    path.symlink_to("real.json")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    kept = {"claude": {"expected_status": "fail", "allow_timeout": False, "reason": "known"}}
    write(project, "provider-baseline.json", {"release-notes-request": kept})
    assert add(project, "--skill", "release-notes", "--prompt", "p")[0] == 0
    assert path.is_symlink()
    assert path.read_bytes().startswith(b"\xef\xbb\xbf[{")
    assert len(read_cases(path).cases) == 2
    assert read(project, "provider-baseline.json")["release-notes-request"] == kept


def test_an_import_of_an_unknown_skill_is_rejected(project: Project) -> None:
    """A misspelt name would give a file of cases that nothing can pass."""
    write(project, "evals.json", [{"query": "q", "should_trigger": True}])
    done = project.call(
        "cases", "import", "evals.json", "--skill", "pdf-form", "--output", "x.json"
    )
    assert done.code == 2
    assert "did you mean pdf-forms?" in done.stderr
    assert not (project.root / "x.json").exists()
    write(project, "named.json", {"skill_name": "pdfforms", "evals": [{"prompt": "q"}]})
    done = project.call("cases", "import", "named.json", "--output", "x.json")
    assert (done.code, "did you mean pdf-forms?" in done.stderr) == (2, True)
    done = project.call("cases", "import", "named.json", "--output", "x.json", "--skill", "new",
                        "--skills", ".claude/skills")  # fmt: skip
    assert done.code == 2
    done = project.call(
        "cases", "import", "named.json", "--output", "x.json", "--skill", "pdf-forms"
    )
    assert done.code == 0
