"""`evaluate --batch` judges a batch again after its cases changed; no agent is started."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import ROOT, Finished, Project, loads

CASES = (
    loads("passes"),
    loads("wrong-skill", expected_skill="bar"),
    loads("disallowed", expected_skill="", disallowed_skills=["foo"]),
    loads("no-service", prompt="status:500"),
    loads("fails", prompt="load:foo fail"),
    loads("mentions", prompt="mention:foo"),
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with two skills, below a path with a space."""
    root = tmp_path / "my project"
    for name in ("foo", "bar"):
        path = root / ".claude" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\nname: {name}\ndescription: Use for {name}.\n---\n", encoding="utf-8")
    project = Project(root)
    project.write_cases(*CASES)
    return project


def evaluate(project: Project, batch: Path, *arguments: str) -> Finished:
    return project.call("evaluate", "--batch", str(batch), *arguments)


def rows_of(path: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    rows = json.loads(path.read_text(encoding="utf-8"))["results"]
    return {(row["case_id"], row["agent"], row["trial"]): row for row in rows}


def changed(case_id: str, **fields: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any field
    """The cases with other fields in one of them."""
    return [{**case, **fields} if case["case_id"] == case_id else case for case in CASES]


def test_the_same_cases_give_the_same_rows(project: Project) -> None:
    """Passes, failures, infra errors and trials alike, field by field; nothing is lost."""
    batch = project.run("--trials", "2").artifacts
    before = (batch / "results.json").read_bytes()
    done = evaluate(project, batch)
    assert done.code == 0, done.stderr
    assert "0 verdicts changed" in done.stdout.splitlines()[-2]
    assert rows_of(batch / "evaluated.json") == rows_of(batch / "results.json")
    assert {row["status"] for row in rows_of(batch / "evaluated.json").values()} == {
        "pass",
        "fail",
        "infra_error",
    }
    assert (batch / "results.json").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["replay", "replay-red"])
def test_a_replayed_batch_of_every_agent_is_judged_as_it_was(project: Project, name: str) -> None:
    """Each agent's reader and each kind of end."""
    folder = ROOT / "tests" / "recordings" / name
    cases = folder / "cases.json" if (folder / "cases.json").is_file() else ROOT / "cases.json"
    words = ("--replay", str(folder), "--cases", str(cases))
    batch = project.call("run", f"--replay={folder}", *words[2:]).artifacts
    done = evaluate(project, batch, "--cases", str(cases))
    assert done.code == 0, done.stderr
    assert rows_of(batch / "evaluated.json") == rows_of(batch / "results.json")


EDITS = {
    "another expected skill": (
        changed("wrong-skill", expected_skill="foo"), "wrong-skill", "fail -> pass"),
    "a skill that is now disallowed": (
        changed("passes", expected_skill="", disallowed_skills=["foo"]), "passes",
        "pass -> fail (disallowed_hit)"),
    "a skill that is disallowed no longer": (
        changed("disallowed", disallowed_skills=["bar"]), "disallowed", "fail -> pass"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_case_is_judged_by_what_it_says_now(project: Project, name: str) -> None:
    """The verdict that changed is said, and `compare` takes the new file."""
    cases, case_id, said = EDITS[name]
    batch = project.run().artifacts
    project.write_cases(*cases)
    done = evaluate(project, batch)
    assert done.stdout.splitlines()[0] == f"{case_id} on claude: {said}"
    assert "1 verdict changed" in done.stdout
    row = rows_of(batch / "evaluated.json")[case_id, "claude", 1]
    assert row["status"] == said.split()[2]
    updated = project.call("baseline", "update", "--init", "--from", str(batch / "evaluated.json"),
                           "--accept-regression", "--reason", "as measured")  # fmt: skip
    assert updated.code == 0, updated.stdout + updated.stderr
    words = shlex.split(done.stdout.splitlines()[-1].removeprefix("next: routing-action "))
    compared = project.call(*words)
    assert compared.code == 0, compared.stdout + compared.stderr


def test_a_case_that_is_gone_or_asks_otherwise_has_no_verdict(project: Project) -> None:
    """A transcript answers the prompt that it was given; the rest is judged."""
    batch = project.run().artifacts
    project.write_cases(*changed("passes", prompt="please load:foo now")[:-1], loads("new"))
    done = evaluate(project, batch)
    lines = done.stdout.splitlines()
    assert "mentions: left out: cases.json has no such case" in lines
    assert (
        "passes: left out: its prompt has changed; measure it again: "
        "`routing-action run --case-id passes`"
    ) in lines
    assert len(rows_of(batch / "evaluated.json")) == 4
    options = json.loads((batch / "evaluated.json").read_text("utf-8"))["options"]
    assert "passes" in options["selected_case_ids"]
    assert "mentions" not in options["selected_case_ids"]


def test_a_run_that_was_not_started_stays_as_it_was(project: Project) -> None:
    """It proves nothing, whatever its case says; one line names all of them."""
    project.write_cases(*(loads(f"case-{number}", prompt="status:401") for number in range(9)))
    batch = project.run("--max-parallel", "1").artifacts
    rows = rows_of(batch / "results.json").values()
    waiting = [row["case_id"] for row in rows if row["ended_by"] == "not_started"]
    assert len(waiting) > 1
    done = evaluate(project, batch, "--output", "again.json")
    assert done.code == 0, done.stderr
    named = ", ".join(f"{name} on claude" for name in waiting)
    assert done.stdout.splitlines()[0] == (
        f"{len(waiting)} runs kept as before, as no transcript tells: {named}"
    )
    assert rows_of(project.root / "again.json") == rows_of(batch / "results.json")
    assert not (batch / "evaluated.json").exists()


def test_what_cannot_be_evaluated_is_refused(project: Project) -> None:
    """A changed transcript, the batch's own file, and options of one transcript."""
    batch = project.run("--case-id", "passes").artifacts
    for arguments, cause in (
        (("--output", str(batch / "results.json")), "is not replaced"),
        (("--case-id", "passes"), "--batch judges every run"),
        (("--token", "foo"), "--batch judges every run"),
    ):
        done = evaluate(project, batch, *arguments)
        assert (done.code, cause in done.stderr) == (2, True), done.stderr
    assert project.call("evaluate", "--token", "foo").code == 2
    next((batch / "transcripts").glob("*.stdout")).write_text("changed")
    done = evaluate(project, batch)
    assert (done.code, "was changed after it was written" in done.stderr) == (2, True)
    assert not (batch / "evaluated.json").exists()


def test_a_misspelt_case_gets_the_nearest_one(project: Project) -> None:
    """As every other name of a command line."""
    done = project.call("evaluate", "--agent", "claude", "--case-id", "pases")
    assert (done.code, "did you mean passes?" in done.stderr) == (2, True)
