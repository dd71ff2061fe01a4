"""What a person sees of a run and of the comparison that follows it, by `./test.sh`."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.command_line import ROOT

SGR = re.compile(r"\x1b\[[0-9;]*m")


def environment(tmp_path: Path, **variables: str) -> dict[str, str]:
    """A desk where no agent is installed, and nobody has logged in."""
    agents = ("claude", "codex", "copilot")
    path = [
        folder
        for folder in os.environ["PATH"].split(os.pathsep)
        if not any((Path(folder) / name).exists() for name in agents)
    ]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AGENT_", "CI", "GITHUB_", "NO_COLOR", "COLUMNS"))
    }
    return {**kept, "HOME": str(tmp_path), "PATH": os.pathsep.join(path), **variables}


def short_way(
    tmp_path: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """`./test.sh` with its artifacts elsewhere."""
    return subprocess.run(
        [str(ROOT / "test.sh"), "--artifacts-root", str(tmp_path / "artifacts"), *arguments],
        env=environment(tmp_path, **variables),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def on_terminal(tmp_path: Path, *arguments: str, **variables: str) -> str:
    """The same on a terminal of 80 columns."""
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen(
        [str(ROOT / "test.sh"), "--artifacts-root", str(tmp_path / "artifacts"), *arguments],
        env=environment(tmp_path, **{"TERM": "xterm-256color", **variables}),
        stdin=subprocess.DEVNULL,
        stdout=side,
        stderr=side,
    ):
        os.close(side)
        data = b"".join(read_all(terminal))
    os.close(terminal)
    return data.decode().replace("\r\n", "\n")


def read_all(terminal: int) -> Iterator[bytes]:
    """Everything until the other side is closed, which is an error on Linux."""
    with contextlib.suppress(OSError):
        while data := os.read(terminal, 65536):
            yield data


@pytest.mark.parametrize(
    ("arguments", "agents"),
    [(("--agents", "claude"), 1), ((), 3)],
    ids=["one", "all three"],
)
def test_without_a_cli_the_cause_stands_there_once_for_each_agent(
    tmp_path: Path, arguments: tuple[str, ...], agents: int
) -> None:
    """Run and comparison together fit half a screen."""
    done = short_way(tmp_path, *arguments)
    assert done.returncode == 1
    told = re.sub(r"^note: .*\n(?:  .*\n)*", "", done.stdout, flags=re.MULTILINE)
    assert len(told.splitlines() + done.stderr.splitlines()) <= 9 + 6 * agents, done.stdout
    assert done.stdout.count(": 24 cases not measured (cli_missing)") == agents
    assert "  rerun    ./test.sh --agents claude\n" in done.stdout


RED = "tests/recordings/replay-red"


@pytest.mark.parametrize(
    "folder", [RED, pytest.param("tests/recordings/replay", marks=pytest.mark.slow)]
)
def test_a_terminal_gets_colours_for_headings_and_verdicts(tmp_path: Path, folder: str) -> None:
    """With them no line is wider than the terminal, but for commands on lines of their own."""
    text = on_terminal(tmp_path, f"--replay={folder}", "--no-progress")
    verdict = "31mgate: Routing gate failed" if "red" in folder else "32mgate: Routing is as"
    assert f"\x1b[{verdict}" in text
    assert "\x1b[1mcompared with " in text
    assert "\x1b[32mpass" in text
    for line in SGR.sub("", text).splitlines():
        assert len(line) <= 80 or line.startswith(("    ", "ARTIFACT_DIR=", "artifacts: ")), line


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({"NO_COLOR": "1"}, id="NO_COLOR"),
        pytest.param({"TERM": "dumb"}, id="dumb", marks=pytest.mark.slow),
    ],
)
def test_colours_can_be_declined(tmp_path: Path, variables: Mapping[str, str]) -> None:
    """The words are the same."""
    text = on_terminal(tmp_path, f"--replay={RED}", "--no-progress", **variables)
    assert "gate: Routing gate failed" in text
    assert not SGR.search(text)
