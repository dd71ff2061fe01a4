"""A batch is what its journal says, whatever happened to the file beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command_line import Finished, Project, loads

CASES = (loads("one"), loads("two", prompt="please answer"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two cases, one of which fails."""
    (tmp_path / "my project").mkdir()
    made = Project(tmp_path / "my project")
    made.write_cases(*CASES)
    return made


def cut(text: str) -> str:
    """As a full disk or a dying machine leaves it."""
    return text[: len(text) // 2]


def shorten(text: str) -> str:
    """One row less, and counts that agree."""
    results = json.loads(text)
    results["results"].pop()
    results["summary"] = {"total": 1, "pass": 1, "fail": 0, "infra_error": 0}
    return json.dumps(results)


def whitewash(text: str) -> str:
    """A row that failed passes, and the counts agree."""
    results = json.loads(text)
    results["summary"] = {"total": 2, "pass": 2, "fail": 0, "infra_error": 0}
    for row in results["results"]:
        row.update(status="pass", failure_kind=None, missing_evidence=[])
    return json.dumps(results)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(cut, id="cut"),
        pytest.param(lambda _: "", id="empty"),
        pytest.param(lambda _: "\x00" * 4096, id="zeros"),
        pytest.param(lambda text: text.replace('"fail"', '"pass"'), id="counts"),
        pytest.param(shorten, id="a row less"),
        pytest.param(whitewash, id="a row that passes"),
    ],
)
def test_r3_damaged_results_are_rebuilt_from_the_journal(
    project: Project, damage: Callable[[str], str]
) -> None:
    """All rows come back, and nothing is run again."""
    first = project.run()
    file = first.artifacts / "results.json"
    whole = file.read_text("utf-8")
    file.write_text(damage(whole), encoding="utf-8")
    again = project.call("run", "--resume", str(first.artifacts))
    assert again.code == first.code == 1, again.stderr
    assert json.loads(file.read_text("utf-8"))["results"] == json.loads(whole)["results"]
    assert " -> " not in again.stderr


def test_r3_whole_results_are_shown_as_they_are(project: Project) -> None:
    """The usual case."""
    first = project.run()
    text = (first.artifacts / "results.json").read_bytes()
    again = project.call("run", "--resume", str(first.artifacts))
    assert (again.code, (first.artifacts / "results.json").read_bytes()) == (1, text)
    assert "is complete: nothing to run" in again.stderr


def rejected(done: Finished, words: str) -> None:
    """The command ended with a usage error that says so."""
    assert done.code == 2
    assert words in done.stderr
    assert "remedy:" in done.stderr


def test_r3_a_complete_batch_is_not_shown_for_other_cases(project: Project) -> None:
    """Edited in place, or named on the command line; its own file is accepted."""
    first = project.run()
    other = project.root / "other.json"
    other.write_text(json.dumps([*CASES, loads("three")]), encoding="utf-8")
    resume = ("run", "--resume", str(first.artifacts))
    rejected(project.call(*resume, "--cases", "other.json"), "--cases contradicts the batch")
    rejected(project.call(*resume, "--case-id", "one"), "--case-id contradicts the batch")
    assert project.call(*resume, "--cases", "cases.json").code == 1
    project.write_cases(*CASES, loads("three"))
    rejected(project.call(*resume), "cases.json is not what it was when the batch was started")


def test_r3_a_complete_batch_whose_case_file_is_gone_names_it(project: Project) -> None:
    """It cannot be told whether the cases are the same."""
    first = project.run()
    (project.root / "cases.json").rename(project.root / "moved.json")
    rejected(project.call("run", "--resume", str(first.artifacts)), "cases.json")
