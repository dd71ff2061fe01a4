"""The HTML report of a real batch: its links lead to files, and its commands work as they stand."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.support.command_line import Project, loads
from tests.support.html_page import Page


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A folder with a space in its name, where a baseline expects what the agent does not do."""
    for name in [name for name in os.environ if name.startswith("GITHUB_")]:
        monkeypatch.delenv(name)
    root = tmp_path / "my project"
    root.mkdir()
    found = Project(root)
    found.write_cases(loads("good"), loads("bad", prompt="please answer"))
    entries = {"claude": {"expected_status": "pass"}}
    baseline = {"good": entries, "bad": entries}
    (root / "provider-baseline.json").write_text(json.dumps(baseline), encoding="utf-8")
    return found


def report(project: Project, artifacts: str, output: str) -> tuple[Page, Path]:
    """Run, compare and report; the page, and the folder of the report."""
    done = project.run("--artifacts-root", artifacts)
    results = str((done.artifacts / "results.json").relative_to(project.root))
    judged = project.call("compare", "--results", results, "--output", "delta.json")
    assert judged.code == 1, judged.stderr
    more = ("--format", "html", "--output", output)
    made = project.call("report", "--delta", "delta.json", "--results", results, *more)
    assert made.code == 0, made.stderr
    file = project.root / output
    return Page(file.read_text(encoding="utf-8")), file.parent


def find_red(page: Page) -> dict[str, Any]:
    """The detail of the pair that stands first."""
    first = page.data("pairs")[0]
    assert first[:4] == ["bad", "claude", "REGRESSION", True]
    found: dict[str, Any] = first[12]
    return found


@pytest.mark.parametrize(
    ("artifacts", "output"),
    [("runs", "report.html"), ("my runs", "out/report.html"), ("runs", "runs/report.html")],
)
def test_each_link_to_a_transcript_leads_to_the_file(
    project: Project, artifacts: str, output: str
) -> None:
    """From beside, above and below; a click opens what the agent printed."""
    page, folder = report(project, artifacts, output)
    folders = page.data("index")["folders"]
    units = page.data("units")
    assert len(units) == 2
    for line in units:
        number, *streams = line[14]
        assert "stdout" in streams
        for stream in streams:
            file = folder / unquote(folders[number]["link"]) / f"{line[0]}.{stream}"
            assert file.stat().st_size > 0
            shown = project.root / folders[number]["path"] / f"{line[0]}.{stream}"
            assert shown.samefile(file)


def test_the_commands_of_a_red_pair_work_when_they_are_pasted(project: Project) -> None:
    """One measures the pair again, the other accepts it; only the reason is a person's own."""
    page, _ = report(project, "my runs", "report.html")
    more = find_red(page)
    program, *again = shlex.split(more["rerun"])
    assert program == "routing-action"
    assert project.call(*again).column("case_id") == ["bad"]
    program, *accept, _ = shlex.split(more["accept"])
    assert (program, accept[-1]) == ("routing-action", "--reason")
    done = project.call(*accept, "the other skill is meant to take it")
    assert done.code == 0, done.stderr
    entries = json.loads((project.root / "provider-baseline.json").read_text(encoding="utf-8"))
    assert entries["bad"]["claude"]["expected_status"] == "fail"
