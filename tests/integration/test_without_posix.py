"""What judges and shows results works without all that Windows lacks; what runs agents says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.repositories import create

KEPT = ROOT / "tests" / "recordings" / "versions" / "0.1.0"
BASELINE = ("--baseline", "kept/provider-baseline.json")
CASES = "kept/cases.json"
SKILL = "---\nname: one\ndescription: Counts the rows of a table.\n---\n"
OUTPUT = "tests/recordings/replay/codex/author-first-case.stdout"
COMMANDS = ("evaluate", "compare", "report", "cases", "baseline", "schema")


@dataclass
class Windows:
    """A folder with a kept batch, and this program without POSIX."""

    folder: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """How a command ends."""
        return subprocess.run(
            [sys.executable, "-m", "tests.support.without_posix", *words],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def shows(self, *words: str, code: int = 0) -> str:
        """What a command prints that ends with this exit code."""
        done = self.run(*words)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    """With the cases and the baseline that the batch was measured by."""
    folder = tmp_path / "own"
    create(folder, {"skills/one/SKILL.md": SKILL})
    shutil.copytree(KEPT, folder / "kept")
    (folder / "kept" / "transcripts").mkdir()
    return Windows(folder)


def test_a_batch_is_compared_and_shown(windows: Windows) -> None:
    """As text and as HTML."""
    compared = windows.shows("compare", "--results", "kept", "--cases", CASES, *BASELINE, code=1)
    assert "gate: Routing gate failed" in compared
    report = windows.shows("report", "--delta", "kept/delta.json", "--format", "html")
    assert (windows.folder / report.strip()).is_file()


@pytest.mark.parametrize("command", ["run", "record"])
def test_what_starts_agents_says_where_it_runs(windows: Windows, command: str) -> None:
    """It is no bug of the program."""
    done = windows.run(command)
    assert done.returncode == 2
    assert done.stderr == (
        f"routing-action: error: `{command}` needs Linux or macOS\n"
        "  remedy: on Windows, use it in WSL\n"
    )


@pytest.mark.slow
def test_every_command_of_the_support_page_works(windows: Windows) -> None:
    """With a repository, and on stored output."""
    page = (ROOT / "docs" / "reference" / "support.md").read_text("utf-8")
    assert "`, `".join(COMMANDS).replace("`, `schema", "` and `schema") in page
    for form in ("text", "comment", "summary", "junit"):
        assert windows.shows("report", "--delta", "kept/delta.json", "--format", form)
    windows.shows("report", "--delta", "kept/delta.json", "--output-dir", "all")
    assert len(list((windows.folder / "all").iterdir())) > 3
    judged = ("evaluate", "--agent", "codex", "--stdout", str(ROOT / OUTPUT), "--token", "x")
    assert '"completed"' in windows.shows(*judged)
    assert "0 warnings" in windows.shows("cases", "check", "--cases", CASES)
    windows.shows("cases", "init", "--skills", "skills", "--agents", "claude")
    assert (windows.folder / "cases.json").is_file()
    assert "0 errors" in windows.shows("baseline", "check", "--cases-file", CASES, *BASELINE)
    update = ("--accept-regression", "--reason", "it is slow")
    windows.shows("baseline", "update", "--from", "kept", "--cases-file", CASES, *BASELINE, *update)
    text = (windows.folder / "kept" / "provider-baseline.json").read_text("utf-8")
    assert "it is slow" in text
    windows.shows("compare", "--results", "kept", "--cases", CASES, "--baseline-ref", "main")
    assert windows.shows("schema", "results").startswith("{")
