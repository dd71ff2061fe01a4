"""The process door with real child processes: starts, output, exit codes, deadlines."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from routing_action.errors import HarnessError
from routing_action.evidence.transcript import EndedBy
from routing_action.run.process.process import ProcessResult
from tests.fakes.children import (
    SLACK,
    STUBBORN,
    Run,
    command,
    finish,
    leaving_nothing,
    seconds,
    shell,
)
from tests.fakes.unruly_agent import SETTLED, TERMINAL

ENOUGH = f"echo '{SETTLED.decode().strip()}'"
RESULT = f"echo '{TERMINAL.decode().strip()}'"

LOOK = """
import os, sys
print(sorted(int(name) for name in os.listdir("/proc/self/fd"))[:3])
print(os.path.exists(f"/proc/self/fd/{sys.argv[1]}"))
print(os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid(), os.getcwd())
print(os.readlink("/proc/self/fd/0"))
"""

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Every test leaves no zombie and no open descriptor."""
    with leaving_nothing():
        yield


# --- a normal run ---------------------------------------------------------------------------------


def test_both_streams_arrive_whole_and_apart() -> None:
    """What the agent prints reaches the right sink, byte for byte."""
    run = shell(r"printf 'a\0b\377\r\n'; printf err >&2; printf last")

    result = finish(run)

    assert (run.output, bytes(run.stderr.data)) == (b"a\0b\xff\r\nlast", b"err")
    assert result.ended_by is EndedBy.EXIT
    assert (result.exit_code, result.survivors, result.start_error) == (0, (), "")
    assert not result.ended_by.is_deadline


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 3", 3), ("kill -TERM $$", -15), ("kill -KILL $$", -9), ("exit 255", 255)],
)
def test_exit_codes_are_told_as_subprocess_does(script: str, code: int) -> None:
    """A signal is a negative exit code."""
    result = finish(shell(script))

    assert (result.ended_by, result.exit_code) == (EndedBy.EXIT, code)


def test_stdin_is_at_its_end() -> None:
    """I6: an agent that reads stdin to the end does not wait for ever."""
    run = shell("wc -c")

    result = finish(run)

    assert result.ended_by is EndedBy.EXIT
    assert run.output.strip() == b"0"


def test_p10_the_environment_is_what_was_given_and_the_marker() -> None:
    """P10: nothing of the harness' own environment reaches the agent."""
    run = command("cat", "/proc/self/environ")

    finish(run)

    entries = set(run.output.rstrip(b"\0").split(b"\0"))
    assert f"ROUTING_ACTION_UNIT={run.marker}".encode() in entries
    assert {entry.partition(b"=")[0] for entry in entries} == {b"PATH", b"ROUTING_ACTION_UNIT"}


def test_the_child_has_a_session_and_no_descriptor_of_ours(tmp_path: Path) -> None:
    """Its folder is the one given; an inheritable descriptor stays here."""
    leaking = os.dup(1)
    os.set_inheritable(leaking, True)
    try:
        run = command(sys.executable, "-I", "-S", "-c", LOOK, str(leaking), cwd=str(tmp_path))
        finish(run)
    finally:
        os.close(leaking)

    own = f"True True {tmp_path.resolve()}"
    assert run.output.decode().splitlines() == ["[0, 1, 2]", "False", own, "/dev/null"]


def test_a_program_is_looked_for_as_a_shell_does(tmp_path: Path) -> None:
    """In the folders of the child's own PATH, in order; an empty one is where it works."""
    for folder, said in (("first", "1"), ("second", "2"), (".", "3")):
        program = tmp_path / folder / "tool"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho {said}\n", encoding="utf-8")
        program.chmod(0o755)
    path = f"{tmp_path}/none:{tmp_path}/second:{tmp_path}/first"

    for searched, found in ((path, b"2\n"), (f":{path}", b"3\n")):
        run = command("tool", cwd=str(tmp_path))
        run.path = searched
        finish(run)
        assert run.output == found


@pytest.mark.parametrize("marker", ["", "a\0b"])
def test_a_marker_that_could_not_be_found_again_is_refused(marker: str) -> None:
    """A marker is a text."""
    run = shell("true")
    run.marker = marker

    with pytest.raises(ValueError, match="marker"):
        asyncio.run(run())


def test_four_at_once_do_not_disturb_each_other() -> None:
    """Units run side by side, each with its own output and its own survivors."""
    runs = [shell(f"setsid sleep 300 >/dev/null 2>&1 & echo {number}") for number in range(4)]

    async def together() -> list[ProcessResult]:
        return await asyncio.gather(*(run() for run in runs))

    results = asyncio.run(together())

    assert [run.output for run in runs] == [b"0\n", b"1\n", b"2\n", b"3\n"]
    assert [len(result.survivors) for result in results] == [1, 1, 1, 1]
    assert [run.left_behind() for run in runs] == [[], [], [], []]


# --- a start that fails ---------------------------------------------------------------------------


def script(folder: Path, text: str, mode: int = 0o755) -> str:
    path = folder / "cli"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return str(path)


def assert_not_started(run: Run, *words: str) -> None:
    result = finish(run)
    assert (result.ended_by, result.exit_code) == (EndedBy.START_FAILED, None)
    for word in words:
        assert word in result.start_error


def test_a_missing_program_is_named() -> None:
    """I1: a missing CLI is known from the start that failed."""
    assert_not_started(command("no-such-agent"), "ENOENT: program 'no-such-agent'")


def test_a_missing_folder_is_not_a_missing_program(tmp_path: Path) -> None:
    """The working directory is named where it is what is missing."""
    missing = str(tmp_path / "gone")

    assert_not_started(command("true", cwd=missing), f"ENOENT: working directory {missing!r}")


def test_a_file_as_folder_is_told(tmp_path: Path) -> None:
    """A working directory that is a file is named too."""
    assert_not_started(command("true", cwd=script(tmp_path, "")), "ENOTDIR: working directory")


def test_a_program_without_the_right_to_run_is_told(tmp_path: Path) -> None:
    """A file that is not executable does not start."""
    assert_not_started(command(script(tmp_path, "#!/bin/sh\n", 0o644)), "EACCES: program")


def test_a_program_that_is_none_is_told(tmp_path: Path) -> None:
    """An executable file without a known format does not start."""
    assert_not_started(command(script(tmp_path, "just text\n")), "ENOEXEC: program")


def test_a_missing_interpreter_is_not_a_missing_program(tmp_path: Path) -> None:
    """A CLI whose `#!` line names a missing program: that is what the user must install."""
    assert_not_started(command(script(tmp_path, "#!/no/such/node\n")), "ENOENT: interpreter of")


def test_an_oversized_prompt_is_told() -> None:
    """The system limits the length of one argument."""
    assert_not_started(command("true", "x" * 3_000_000), "E2BIG")


@pytest.mark.parametrize("argv", [(), ("",), ("true", "a\0b"), ("true", "\ud800")])
def test_an_impossible_command_is_told(argv: tuple[str, ...]) -> None:
    """A command that no system takes is a failed start like any other."""
    assert_not_started(command(*argv), "Error: ")


def test_running_out_of_descriptors_is_a_failed_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch goes on with the next unit."""

    def refuse() -> tuple[int, int]:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "pipe", refuse)

    assert_not_started(shell("true"), "EMFILE")


def test_a_system_without_process_groups_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an agent could not be ended with its children, none is started."""
    monkeypatch.delattr(os, "killpg")

    with pytest.raises(HarnessError, match="process groups"):
        asyncio.run(shell("true")())


# --- deadlines ------------------------------------------------------------------------------------


def test_p1_a_wall_deadline_ends_the_whole_tree() -> None:
    """P1: a descendant that holds the output does not keep the caller waiting."""
    result = finish(shell("sleep 300 & wait", wall_seconds=0.3))

    assert (result.ended_by, result.ended_by.is_deadline) == (EndedBy.WALL_DEADLINE, True)
    assert result.exit_code == -15
    assert seconds(result) < 0.3 + SLACK


def test_a_silent_agent_ends_by_the_idle_deadline() -> None:
    """I8: an agent that hangs does not run to the wall deadline."""
    run = shell("echo started; sleep 300", idle_seconds=0.4)

    result = finish(run)

    assert (result.ended_by, result.ended_by.is_deadline) == (EndedBy.IDLE_DEADLINE, True)
    assert run.output == b"started\n"
    assert 0.3 < seconds(result) < 0.4 + SLACK


def test_a_word_on_stderr_is_a_sign_of_life() -> None:
    """Progress on stderr puts the idle deadline off."""
    run = shell("for _ in 1 2 3; do sleep 0.5; echo thinking >&2; done", idle_seconds=1.2)

    result = finish(run)

    assert result.ended_by is EndedBy.EXIT
    assert run.stderr.data.count(b"thinking") == 3


def test_an_agent_that_ignores_sigterm_is_killed_after_the_grace() -> None:
    """The grace is the most that an agent can gain."""
    run = shell(STUBBORN, wall_seconds=0.6)

    result = finish(run)

    assert (result.ended_by, result.exit_code) == (EndedBy.WALL_DEADLINE, -9)
    assert 0.9 < seconds(result) < 1.0 + SLACK


def test_what_an_agent_prints_on_sigterm_is_kept() -> None:
    """Its last words, and its exit code, are part of the run."""
    last_words = "head -c 300000 /dev/zero; echo saved; exit 7"
    run = shell(
        f"trap '{last_words}' TERM; while :; do sleep 0.05; done",
        wall_seconds=0.6,
        term_grace_seconds=10.0,
    )

    result = finish(run)

    assert (result.ended_by, result.exit_code) == (EndedBy.WALL_DEADLINE, 7)
    assert run.output == b"\0" * 300_000 + b"saved\n"


def test_an_agent_that_never_stops_printing_is_ended() -> None:
    """A flood cannot keep the deadline from being seen, nor the end from coming."""
    run = shell("trap '' TERM; yes", wall_seconds=0.5, term_grace_seconds=0.2)
    run.stdout.write = lambda chunk: None  # type: ignore[method-assign]

    result = finish(run)

    assert (result.ended_by, result.exit_code) == (EndedBy.WALL_DEADLINE, -9)
    assert seconds(result) < 0.7 + SLACK


# --- the terminal event ---------------------------------------------------------------------------


def test_p2_an_agent_that_stays_after_its_result_is_ended() -> None:
    """P2: result printed, process never exits: the run is over, and it is no time-out."""
    run = shell(f"echo working; {RESULT}; sleep 300")

    result = finish(run)

    assert (result.ended_by, result.ended_by.is_deadline) == (EndedBy.TERMINAL_GRACE, False)
    assert run.output == b"working\n" + TERMINAL
    assert seconds(result) < 0.4 + SLACK


def test_later_output_starts_the_grace_anew() -> None:
    """An agent that still has something to say is heard out."""
    run = shell(
        f"{RESULT}; for _ in 1 2 3; do sleep 0.3; echo late >&2; done; sleep 300",
        terminal_grace_seconds=0.8,
    )

    result = finish(run)

    assert result.ended_by is EndedBy.TERMINAL_GRACE
    assert run.stderr.data.count(b"late") == 3


def test_a_result_just_before_the_wall_deadline_is_in_time() -> None:
    """The deadline cuts the grace short, but the agent was done."""
    run = shell(f"{RESULT}; sleep 300", wall_seconds=1.0, terminal_grace_seconds=60.0)

    result = finish(run)

    assert (result.ended_by, result.ended_by.is_deadline) == (EndedBy.TERMINAL_GRACE, False)


def test_talking_on_after_the_result_does_not_beat_the_wall_deadline() -> None:
    """An agent that goes on and on is out of time in the end."""
    run = shell(
        f"{RESULT}; while :; do echo more; sleep 0.05; done",
        wall_seconds=1.0,
        terminal_grace_seconds=0.4,
    )

    result = finish(run)

    assert (result.ended_by, result.ended_by.is_deadline) == (EndedBy.WALL_DEADLINE, True)


def test_silence_after_the_result_is_the_graces_matter() -> None:
    """An idle deadline shorter than the grace makes no time-out of a finished run."""
    run = shell(f"{RESULT}; sleep 300", idle_seconds=0.4, terminal_grace_seconds=0.8)

    result = finish(run)

    assert result.ended_by is EndedBy.TERMINAL_GRACE


# --- stopped early --------------------------------------------------------------------------------


def test_an_agent_is_ended_once_nothing_more_matters() -> None:
    """Its group and whatever it started are gone, and it is no time-out."""
    run = shell(f"setsid sleep 300 & {ENOUGH}; sleep 300; echo never")

    result = finish(run)

    assert (result.ended_by, result.ended_by.is_deadline) == (EndedBy.STOPPED_EARLY, False)
    assert run.output == SETTLED
    assert seconds(result) < 0.4 + SLACK


def test_an_agent_that_will_not_be_stopped_is_killed() -> None:
    """SIGTERM is ignored: it has the usual grace."""
    run = shell(f"trap '' TERM; {ENOUGH}; sleep 300", term_grace_seconds=0.4)

    result = finish(run)

    assert (result.ended_by, result.exit_code) == (EndedBy.STOPPED_EARLY, -9)


def test_an_agent_that_has_printed_its_result_is_not_stopped() -> None:
    """The run is over: it may exit by itself."""
    run = shell(f"printf '%s%s' '{TERMINAL.decode()}' '{SETTLED.decode()}'; sleep 0.1; exit 3")

    result = finish(run)

    assert (result.ended_by, result.exit_code) == (EndedBy.EXIT, 3)


def test_the_first_reason_to_end_counts() -> None:
    """A deadline that has passed before stays a time-out."""
    run = shell(f"end() {{ {ENOUGH}; exit 0; }}; trap end TERM; sleep 300 & wait", wall_seconds=0.3)

    result = finish(run)

    assert result.ended_by is EndedBy.WALL_DEADLINE
    assert SETTLED in run.output
