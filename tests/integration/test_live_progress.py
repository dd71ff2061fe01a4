"""A run on a real terminal: what its user sees, and what becomes of the terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from routing_action.report.terminal.choose_progress import wants_view
from tests.support.command_line import ROOT, Project, loads
from tests.support.terminal_screen import Screen

LIFECYCLE = re.compile(r"\[routing-action\] \d\d:\d\d:\d\d \[batch:")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
PATIENCE_SECONDS = 60
TERMINAL = {"TERM": "xterm-256color", "CI": ""}


@dataclass
class Session:
    """A program on a terminal of its own."""

    process: subprocess.Popen[bytes]
    terminal: int
    columns: int
    raw: bytes = b""
    code: int = -1

    @property
    def text(self) -> str:
        """Everything that the terminal was sent."""
        return self.raw.decode()

    @property
    def screen(self) -> Screen:
        """What is on the terminal by now."""
        screen = Screen(self.columns)
        screen.write(self.text.replace("\r\n", "\n"))
        return screen

    def read(self) -> bool:
        """Take what is there; False at the end."""
        if not select.select([self.terminal], [], [], PATIENCE_SECONDS)[0]:
            raise AssertionError(f"nothing for {PATIENCE_SECONDS} s after: {self.text[-500:]!r}")
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # the other side of a terminal that was closed
            return False
        self.raw += data
        return bool(data)

    def wait_for(self, words: str) -> None:
        """Read until the words have come."""
        while words not in self.text:
            assert self.read(), self.text

    def wait_until(self, holds: Callable[[list[str]], bool]) -> list[str]:
        """Read until the screen is so; a chunk may end in the middle of a drawing."""
        while not holds(self.screen.lines):
            assert self.read(), self.text
        return self.screen.lines

    def wait(self) -> None:
        """Read to the end."""
        while self.read():
            pass
        self.code = self.process.wait(PATIENCE_SECONDS)


@contextmanager
def on_terminal(
    project: Project,
    *arguments: str,
    columns: int = 100,
    lines: int = 30,
    stdout: io.BufferedWriter | None = None,
    stderr: io.BufferedWriter | None = None,
) -> Iterator[Session]:
    """The command line on a new terminal of a size; either output can go elsewhere."""
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = subprocess.Popen(
        project.command(*arguments),
        cwd=project.root,
        env=project.environment(),
        stdin=side,
        stdout=stdout or side,
        stderr=stderr or side,
        start_new_session=True,
    )
    os.close(side)
    session = Session(process, terminal, columns)
    try:
        yield session
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Three cases whose agents take their time."""
    project = Project(tmp_path, variables=dict(TERMINAL))
    project.write_cases(
        loads("quick"),
        loads("slow", prompt="load:foo sleep:2"),
        {"case_id": "bad", "prompt": "mention:foo", "expected_skill": "foo"},
    )
    return project


def check_terminal_is_as_before(session: Session) -> None:
    """The cursor is seen and lines wrap."""
    assert not session.screen.cursor_hidden
    assert session.screen.wraps


@pytest.mark.slow
def test_a_terminal_shows_the_run_and_then_its_outcome(project: Project) -> None:
    """The view comes after ARTIFACT_DIR, names units without UUIDs, and leaves no trace."""
    with on_terminal(project, "run", "--agents", "claude") as session:
        session.wait_for("claude:slow")
        during = session.wait_until(
            lambda lines: (
                any("3" in line and "━" in line for line in lines)
                and any(line.endswith("claude:slow") for line in lines)
                and any(line.split()[:2] == ["fail", "claude:bad"] for line in lines)
            )
        )
        session.wait()
    assert during[0].startswith("ARTIFACT_DIR=/")
    view = during[next(i for i, line in enumerate(during) if "3" in line and "━" in line) :]
    assert not UUID.search("\n".join(view))
    assert any(line.endswith("claude:slow") for line in view)
    assert any(line.split() == ["fail", "claude:bad", "weak_evidence_only"] for line in view)
    after = session.screen.lines
    assert not LIFECYCLE.search(session.text)
    assert not any("running" in line or "━" in line for line in after)
    matrix = after.index(next(line for line in after if line.split() == ["case", "claude"]))
    assert after[:matrix] == during[:matrix]  # the path of the artifacts, and nothing else
    assert session.code == 1
    check_terminal_is_as_before(session)


@pytest.mark.slow
def test_the_replay_set_runs_on_a_terminal(tmp_path: Path) -> None:
    """The recorded corpus of this repository, on an ordinary terminal."""
    project = Project(tmp_path, variables=dict(TERMINAL))
    replay = ROOT / "tests" / "recordings" / "replay"
    arguments = ("run", "--cases", str(ROOT / "cases.json"), "--replay", str(replay))
    with on_terminal(project, *arguments) as session:
        session.wait()
    assert session.code == 1, session.text
    assert "━" in session.text
    assert any("70 pass, 2 fail" in line for line in session.screen.lines)
    check_terminal_is_as_before(session)


@pytest.mark.slow
def test_a_redirected_output_leaves_the_view_where_standard_error_is(
    project: Project, tmp_path: Path
) -> None:
    """`> file` gets the outcome alone; the terminal keeps the totals."""
    with (
        (tmp_path / "out.txt").open("wb") as file,
        on_terminal(project, "run", "--agents", "claude", stdout=file) as session,
    ):
        session.wait()
    lines = session.screen.lines
    assert "━" in session.text
    assert re.fullmatch(r"3 of 3 units in 0:\d\d:  2 pass  1 fail  0 infra", lines[-1])
    text = (tmp_path / "out.txt").read_text("utf-8")
    assert text.startswith("case   claude\n")
    assert "\x1b" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "lines"),
    [({"CI": "true"}, 2), ({"TERM": "dumb"}, 2), ({"TERM": ""}, 2)],
    ids=["CI", "dumb", "no TERM"],
)
def test_where_nobody_watches_the_lines_are_written(
    project: Project, variables: dict[str, str], lines: int
) -> None:
    """A CI system with a terminal, or one that cannot move its cursor, gets the protocol."""
    project.variables |= variables
    with on_terminal(project, "run", "--agents", "claude", "--case-id", "quick") as session:
        session.wait()
    assert len(LIFECYCLE.findall(session.text)) == lines
    assert "━" not in session.text


@pytest.mark.slow
def test_standard_error_in_a_file_holds_the_lines(project: Project, tmp_path: Path) -> None:
    """`2> file` gets the protocol, the terminal the outcome in colour."""
    with (
        (tmp_path / "err.txt").open("wb") as file,
        on_terminal(
            project, "run", "--agents", "claude", "--case-id", "quick", stderr=file
        ) as session,
    ):
        session.wait()
    lines = (tmp_path / "err.txt").read_text("utf-8").splitlines()
    assert lines[0].startswith("ARTIFACT_DIR=/")
    assert all(LIFECYCLE.match(line) for line in lines[1:])
    assert len(lines) == 3
    assert "\x1b[32mpass" in session.text


@pytest.mark.slow
def test_no_progress_silences_the_view_too(project: Project) -> None:
    """ARTIFACT_DIR is all that comes before the outcome."""
    with on_terminal(
        project, "run", "--agents", "claude", "--no-progress", "--case-id", "quick"
    ) as session:
        session.wait()
    assert session.text.startswith("ARTIFACT_DIR=/")
    assert "━" not in session.text
    assert not LIFECYCLE.search(session.text)


@pytest.mark.slow
def test_without_colour_the_view_is_plain(project: Project) -> None:
    """NO_COLOR takes the colours, not the view."""
    project.variables["NO_COLOR"] = "1"
    with on_terminal(project, "run", "--agents", "claude") as session:
        session.wait()
    assert "━" in session.text
    assert not re.search(r"\x1b\[\d+m", session.text)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_control_c_is_answered_and_the_terminal_works_afterwards(
    project: Project, times: int
) -> None:
    """Once ends the units in order and says so; twice ends at once."""
    project.write_cases(loads("endless", prompt="load:foo sleep:600"))
    with on_terminal(project, "run", "--agents", "claude") as session:
        session.wait_for("claude:endless")
        session.wait_for("0:01")
        for _ in range(times):
            session.process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        session.wait()
    assert session.code == 130
    assert "interrupted" in session.text
    assert not any("running" in line and "queued" in line for line in session.screen.lines)
    check_terminal_is_as_before(session)


@pytest.mark.slow
def test_an_error_of_the_harness_ends_the_view(project: Project) -> None:
    """A message of the harness stands below what was there, not in the middle of a view."""
    project.write_cases(loads("one", prompt="load:foo sleep:600"))
    with on_terminal(project, "run", "--agents", "claude", "--output", "/dev/null/x") as session:
        session.wait_for("claude:one")
        session.process.send_signal(signal.SIGINT)
        session.wait()
    assert session.code == 4
    assert not any("running" in line and "queued" in line for line in session.screen.lines)
    check_terminal_is_as_before(session)


def test_a_stream_that_is_no_terminal_gets_no_view() -> None:
    """A pipe, a closed stream and one without a descriptor."""
    closed = io.StringIO()
    closed.close()
    with Path(os.devnull).open("w", encoding="utf-8") as file:
        for stream in (io.StringIO(), closed, file):
            assert not wants_view(stream, {"TERM": "xterm"})


def test_a_terminal_gets_a_view_unless_it_is_a_ci_systems() -> None:
    """`CI=false` is no CI."""
    terminal, side = pty.openpty()
    try:
        with open(side, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a descriptor
            assert wants_view(stream, {"TERM": "xterm", "CI": "false"})
            assert not wants_view(stream, {"TERM": "xterm", "CI": "1"})
            assert not wants_view(stream, {})
    finally:
        os.close(terminal)


def test_rich_is_not_imported_without_a_terminal(project: Project) -> None:
    """A run in CI does not pay for a view that it does not show."""
    code = (
        "import sys; from routing_action.__main__ import main; "
        "main(['run', '--agents', 'claude', '--case-id', 'quick']); "
        "sys.exit('rich.console' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project.root, env=project.environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
