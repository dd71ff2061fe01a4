"""`cases init`, and `cases check` with skills, from the outside."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from routing_action.corpus.first_corpus import names_skill
from tests.support.command_line import ROOT, Project, loads

SKILLS = {
    "filling-pdf-forms": "Fills and flattens PDF forms from JSON or spreadsheet data. Use when the "
    "user wants to fill in a form, or when form fields of a document must be listed.",
    "extracting-pdf-tables": "Extracts tables and text from PDF documents into CSV or JSON. Use "
    "when working with scanned statements, or when a report's tables are needed as data.",
    "writing-commit-messages": "\"Writes commit messages that follow the repository's rules. Use "
    'when the user asks for a commit message; not for release notes."',
    "reviewing-migrations": ">-\n  Reviews database migrations for locks.\n  Use when "
    "a migration must be applied to production.",
    "drafting-release-notes": "Drafts release notes from merged pull requests. Use for release "
    "notes and changelogs.",
    "tracing-slow-queries": "Finds the slow queries of a service. Use this skill whenever you are "
    "debugging latency, or if the tracing slow queries page is empty.",
    "brand-guidelines": "Colours, fonts and tone of the company. Applies to slides and web pages.",
    "mcp-builder": "Guide for building MCP servers. This skill should be used when users want to "
    "connect an agent to an API.",
    "pdf": "Everything about PDF.",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder of skills, and nothing else."""
    for name, description in SKILLS.items():
        write_skill(tmp_path, name, f"name: {name}\ndescription: {description}")
    return Project(tmp_path)


def write_skill(root: Path, folder: str, frontmatter: str) -> Path:
    path = root / "skills" / folder / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{frontmatter}\n---\n# {folder}\n", encoding="utf-8")
    return path


def read(project: Project, name: str = "cases.json") -> Any:  # noqa: ANN401 - any JSON
    return json.loads((project.root / name).read_text(encoding="utf-8"))


def findings(project: Project, *arguments: str) -> list[dict[str, Any]]:
    """What `cases check` warns of, but for skills without a case."""
    done = project.call("cases", "check", "--format", "json", *arguments)
    assert done.code == 0, done.stderr
    warnings: list[dict[str, Any]] = json.loads(done.stdout)["warnings"]
    return [one for one in warnings if one["rule"] != "skill-without-case"]


def test_init_starts_a_corpus_that_is_accepted(project: Project) -> None:
    """Each skill has a case; warnings are for prompts alone, which are all to be rewritten."""
    done = project.call("cases", "init", "--skills", "skills")
    assert (done.code, done.stderr) == (0, "")
    cases = read(project)
    assert done.stdout.splitlines()[0] == f"cases.json: {len(cases)} cases, 3 prompts to fill in"
    assert {case["expected_skill"] for case in cases} == {"", *SKILLS}
    found = findings(project, "--skills", "skills")
    generated = {one["case_id"] for one in found if one["rule"] == "prompt-as-generated"}
    blank = [one["case_id"] for one in found if one["rule"] == "fill-in-prompt"]
    assert generated | {*blank} == {case["case_id"] for case in cases} - {"no-skill-needed"}
    assert done.stdout.splitlines()[-2:] == [
        "next: rewrite the prompts in cases.json: ask as a user would, not as a description",
        "then: routing-action cases check --cases cases.json --skills skills",
    ]
    rewritten = [{**case, "prompt": f"Now {number}"} for number, case in enumerate(cases)]
    project.write_cases(*rewritten)
    assert project.call("cases", "check", "--skills", "skills", "--strict").code == 0
    assert blank == [
        "brand-guidelines-request",
        "drafting-release-notes-request",
        "pdf-request",
    ]
    checked = project.call("baseline", "check")
    assert (checked.code, "0 errors, 0 warnings" in checked.stdout) == (0, True), checked.stdout


def test_init_writes_prompts_as_users_do_and_names_no_skill(project: Project) -> None:
    """D12: a prompt that names the skill measures nothing."""
    project.call("cases", "init", "--skills", "skills")
    cases = {case["case_id"]: case for case in read(project)}
    prompts = {key: case["prompt"] for key, case in cases.items()}
    assert not [p for p in prompts.values() if any(names_skill(p, name) for name in SKILLS)]
    assert prompts["filling-pdf-forms-request"] == "Please fill in a form."
    assert prompts["writing-commit-messages-request"] == "I need a commit message."
    assert prompts["mcp-builder-request"] == "Please connect an agent to an API."
    assert prompts["tracing-slow-queries-request"] == (
        "I am debugging latency. Please help me with that."
    )
    assert prompts["brand-guidelines-request"] == (
        "FILL IN: a request that should lead to: Colours, fonts and tone of the company"
    )
    twin = cases["extracting-pdf-tables-not-filling-pdf-forms"]
    assert twin["prompt"] == (
        "In my project, a report's tables are needed as data. Please take care of that."
    )
    assert twin["disallowed_skills"] == ["filling-pdf-forms"]
    control = cases["no-skill-needed"]
    assert (control["expected_skill"], control["disallowed_skills"]) == ("", sorted(SKILLS))


def test_init_takes_other_files_and_agents(project: Project) -> None:
    """A corpus can be started beside another one, for the agents that are used."""
    project.write_cases(loads("mine"))
    done = project.call(
        "cases", "init", "--skills", "skills", "--output", "new/cases.json",
        "--baseline", "new/baseline.json", "--agents", "claude,gemini",
    )  # fmt: skip
    assert done.code == 0
    entries = read(project, "new/baseline.json")
    assert all(set(agents) == {"claude", "gemini"} for agents in entries.values())
    assert set(entries) == {case["case_id"] for case in read(project, "new/cases.json")}
    done = project.call(
        "cases", "init", "--skills", "skills", "--output", "x.json", "--no-baseline"
    )
    assert (done.code, (project.root / "provider-baseline.json").exists()) == (0, False)


@pytest.mark.parametrize("name", ["cases.json", "provider-baseline.json"])
def test_init_replaces_nothing(project: Project, name: str) -> None:
    """Neither file is touched where one exists."""
    (project.root / name).write_text("mine", encoding="utf-8")
    done = project.call("cases", "init", "--skills", "skills")
    assert (done.code, f"error: {name}: exists already" in done.stderr) == (2, True)
    assert "remedy: name another file with --output or --baseline" in done.stderr
    assert (project.root / name).read_text(encoding="utf-8") == "mine"
    assert (
        sum((project.root / one).exists() for one in ("cases.json", "provider-baseline.json")) == 1
    )


def test_init_refuses_what_it_cannot_use(project: Project) -> None:
    """No skills, and one file for two purposes."""
    (project.root / "none").mkdir()
    done = project.call("cases", "init", "--skills", "none")
    assert (done.code, "holds no skill" in done.stderr) == (2, True)
    done = project.call("cases", "init", "--skills", "skills", "--baseline", "./cases.json")
    assert (done.code, "name two files" in done.stderr) == (2, True)


def test_init_on_this_repositorys_own_skills(project: Project) -> None:
    """Real descriptions give a request each."""
    done = project.call("cases", "init", "--skills", str(ROOT / ".claude" / "skills"))
    assert (done.code, "0 prompts to fill in" in done.stdout) == (0, True), done.stdout


def test_check_names_skills_that_do_not_exist(project: Project) -> None:
    """In each field, bare and qualified, with the line of the case."""
    project.write_cases(
        loads("one", expected_skill="filing-pdf-forms"),
        loads("two", expected_skill="", disallowed_skills=["acme:pdf", "acme:word"]),
        loads("three", expected_skill="pdf", required_skills=["x-y"], optional_skills=["z-y"]),
        loads("four", expected_skill="forms", provider_aliases={"codex": {"forms": "pdf"}}),
        loads("five", expected_skill="MCP-Builder"),
    )
    found = findings(project, "--skills", "skills")
    assert {one["rule"] for one in found} == {"unknown-skill"}
    messages = [one["message"] for one in found]
    assert messages.pop(0) == (
        "one: expected_skill names filing-pdf-forms, which is no skill of skills; did you mean "
        "filling-pdf-forms?"
    )
    assert messages == [
        "two: disallowed_skills names acme:word, which is no skill of skills",
        "three: required_skills names x-y, which is no skill of skills",
        "three: optional_skills names z-y, which is no skill of skills",
    ]


def test_check_knows_the_plugin_that_skills_are_of(project: Project) -> None:
    """A qualified name needs the plugin too."""
    manifest = project.root / ".claude-plugin" / "plugin.json"
    manifest.parent.mkdir()
    manifest.write_text('{"name": "acme"}', encoding="utf-8")
    project.write_cases(
        loads("one", expected_skill="acme:pdf"), loads("two", expected_skill="other:pdf")
    )
    found = findings(project, "--skills", ".")
    assert [one["case_id"] for one in found] == ["two"]


def test_check_names_broken_skills_with_file_and_line(project: Project) -> None:
    """What makes an agent drop a skill is found before a run is paid for."""
    project.write_cases(loads("one", expected_skill="pdf"))
    write_skill(project.root, "pdf", "name: PDF Tools\ndescription: x")
    write_skill(project.root, "mcp-builder", f"name: mcp-builder\ndescription: {'x' * 1025}")
    mark = write_skill(project.root, "brand-guidelines", "name: brand-guidelines\ndescription: x")
    mark.write_bytes(b"\xef\xbb\xbf" + mark.read_bytes())
    text = project.call("cases", "check", "--skills", "skills").stdout.splitlines()
    assert [line.split(": warning: ")[0] for line in text[:-1]] == [
        "cases.json:1",
        "skills/brand-guidelines/SKILL.md:1",
        "skills/mcp-builder/SKILL.md:3",
        "skills/pdf/SKILL.md:2",
        "skills/pdf/SKILL.md:2",
    ]
    assert text[-1].endswith("cases.json: 1 case, 5 warnings")
    assert project.call("cases", "check", "--skills", "skills", "--strict").code == 1
    found = findings(project, "--skills", "skills")
    assert [one["rule"] for one in found] == [
        "frontmatter-bom", "skill-description", "skill-name", "skill-name-differs",
    ]  # fmt: skip
    assert found[0]["file"] == "skills/brand-guidelines/SKILL.md"


def test_this_repositorys_own_skills_are_sound(project: Project) -> None:
    """We follow our own advice."""
    done = project.call(
        "cases", "check", "--strict", "--cases", str(ROOT / "cases.json"),
        "--skills", str(ROOT / ".claude" / "skills"),
    )  # fmt: skip
    assert done.code == 0, done.stdout


def test_check_finds_this_repositorys_skills_by_itself(project: Project) -> None:
    """A typo in a skill's name is seen without naming a folder."""
    (project.root / "skills").rename(project.root / "kept")
    (project.root / ".claude").mkdir()
    (project.root / "kept").rename(project.root / ".claude" / "skills")
    project.write_cases(loads("one", expected_skill="pdff"), loads("two", expected_skill="pdf"))
    found = findings(project)
    assert [(one["case_id"], one["rule"]) for one in found if "pdff" in one["message"]] == [
        ("one", "unknown-skill")
    ]


EXPECTING: dict[str, dict[str, Any]] = {
    "expected": {"expected_skill": "pdf"},
    "display form": {"expected_skill": "PDF"},
    "qualified": {"expected_skill": "acme:pdf"},
    "required": {"expected_skill": "", "required_skills": ["pdf"]},
    "file": {"expected_skill": "", "required_files": ["pdf/SKILL.md"]},
    "legacy": {"expected_skill": "", "required_all_evidence": ["pdf"]},
    "alias": {"expected_skill": "forms", "provider_aliases": {"codex": {"pdf": "forms"}}},
}


@pytest.mark.parametrize("fields", EXPECTING.values(), ids=EXPECTING)
def test_check_names_skills_without_a_case(project: Project, fields: dict[str, Any]) -> None:
    """One warning for all of them, with the command that adds a case; a disallowed one has none."""
    project.write_cases(
        loads("one", **fields), loads("two", expected_skill="", disallowed_skills=["mcp-builder"])
    )
    done = project.call("cases", "check", "--skills", "skills")
    (line,) = [one for one in done.stdout.splitlines() if "no case expects" in one]
    assert line == (
        "cases.json:1: warning: no case expects brand-guidelines, "
        "drafting-release-notes, extracting-pdf-tables, filling-pdf-forms, mcp-builder, "
        "reviewing-migrations, tracing-slow-queries, writing-commit-messages; add one: "
        "`routing-action cases add --skill brand-guidelines --skills skills`"
    )
    words = shlex.split(line.rpartition("add one: ")[2].strip("`"))
    for number in range(8, 0, -1):
        assert line.partition(";")[0].count(",") == number - 1
        assert project.call(*words[1:]).code == 0
        done = project.call("cases", "check", "--skills", "skills")
        line = next((one for one in done.stdout.splitlines() if "no case expects" in one), "")
        words = shlex.split(line.rpartition("add one: ")[2].strip("`"))
    assert not line


@pytest.mark.parametrize("place", ["skills/pdf/evals/evals.json", "evals.json"])
def test_a_trigger_file_becomes_a_case_file(project: Project, place: str) -> None:
    """The skill is the one whose folder the file lies in, or the one that is named."""
    path = project.root / place
    path.parent.mkdir(exist_ok=True)
    path.write_text('[{"query": "q", "should_trigger": true}]', encoding="utf-8")
    named = ("--skill", "pdf") if place == "evals.json" else ()
    done = project.call("cases", "import", place, *named)
    assert done.code == 0, done.stderr
    assert [case["expected_skill"] for case in read(project)] == ["pdf"]
    again = project.call("cases", "import", place, *named)
    assert again.code == 2
    assert "is not replaced" in again.stderr


def test_a_trigger_file_without_a_skill_says_what_to_add(project: Project) -> None:
    """And what is no trigger file says what one looks like."""
    (project.root / "evals.json").write_text(
        '[{"query": "q", "should_trigger": true}]', encoding="utf-8"
    )
    done = project.call("cases", "import", "evals.json")
    assert done.code == 2
    assert "--skill" in done.stderr
    (project.root / "other.json").write_text("[]", encoding="utf-8")
    done = project.call("cases", "import", "other.json")
    assert done.code == 2
    assert "should_trigger" in done.stderr
