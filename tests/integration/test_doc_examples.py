"""The examples of the operators' page are run as they stand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import ROOT

PAGE = ROOT / "docs" / "agent-routing-tests.md"
HEADINGS = [
    "Run IDs and Telemetry",
    "Evidence Tiers",
    "Log Fallback Policy",
    "Failure Categories",
    "Case Schema",
    "Targeted Reruns",
    "Provider Matrix and Deltas",
]


def examples() -> list[tuple[str, str]]:
    """Each command with the heading that it stands under."""
    found = []
    for section in re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0]
        for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL):
            lines = block.replace("\\\n", " ").splitlines()
            found += [(heading, " ".join(line.split())) for line in lines if line.strip()]
    return found


def test_every_heading_has_an_example() -> None:
    """An operator finds a working command under each of them."""
    assert {heading for heading, _ in examples()} == set(HEADINGS)


@pytest.mark.slow
@pytest.mark.parametrize(("heading", "command"), examples())
def test_an_example_works_as_it_stands(heading: str, command: str, tmp_path: Path) -> None:
    """It ends well; artifacts go to a folder of the test's own."""
    words = shlex.split(command)
    if words[0] == "routing-action":
        words = [sys.executable, "-m", "routing_action", *words[1:]]
    else:
        words += ["--artifacts-root", str(tmp_path)]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-1000:]
    assert done.stdout.strip()
