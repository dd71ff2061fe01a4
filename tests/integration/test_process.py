"""The process door with real child processes: no output lost, nothing left behind, always back."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from routing_action.domain.transcript import EndedBy
from routing_action.errors import HarnessError, UsageError
from routing_action.harness.capabilities import Capabilities
from routing_action.harness.process import ProcessResult
from tests.fakes.children import (
    SLACK,
    KeepingSink,
    Run,
    agent,
    command,
    is_running,
    marked,
    open_descriptors,
    shell,
    zombie_children,
)
from tests.fakes.unruly_agent import TERMINAL

ROOT = Path(__file__).parents[2]
STUBBORN = "trap '' TERM; echo ready; sleep 300"
RESULT = f"echo '{TERMINAL.decode().strip()}'"

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Every test leaves no zombie and no open descriptor."""
    zombies, descriptors = zombie_children(), open_descriptors()
    yield
    assert zombie_children() <= zombies
    assert open_descriptors() <= descriptors


def finish(run: Run) -> ProcessResult:
    """Run it; whatever it was, no process is left and the sinks are closed once."""
    result = asyncio.run(run())
    assert run.left_behind() == []
    assert (run.stdout.closed, run.stderr.closed) == (1, 1)
    return result


def seconds(result: ProcessResult) -> float:
    return result.duration_ms / 1000


# --- a normal run ---------------------------------------------------------------------------------


def test_both_streams_arrive_whole_and_apart() -> None:
    """What the agent prints reaches the right sink, byte for byte."""
    run = shell(r"printf 'a\0b\377\r\n'; printf err >&2; printf last")

    result = finish(run)

    assert (run.output, bytes(run.stderr.data)) == (b"a\0b\xff\r\nlast", b"err")
    assert result.ended_by is EndedBy.EXIT
    assert (result.exit_code, result.survivors, result.start_error) == (0, (), "")
    assert not result.output_cut
    assert not result.timed_out


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


def test_the_environment_is_what_was_given_and_the_marker() -> None:
    """P10: nothing of the harness' own environment reaches the agent."""
    run = command("cat", "/proc/self/environ")

    finish(run)

    entries = set(run.output.rstrip(b"\0").split(b"\0"))
    assert f"ROUTING_ACTION_UNIT={run.marker}".encode() in entries
    assert {entry.partition(b"=")[0] for entry in entries} == {b"PATH", b"ROUTING_ACTION_UNIT"}


def test_times_come_from_the_given_clock() -> None:
    """Wall-clock times are the injected clock's; the duration is not."""
    ticks = iter([1000.0, 1060.0])

    result = asyncio.run(shell("true")(clock=lambda: next(ticks)))

    assert (result.started_at, result.ended_at) == (1000.0, 1060.0)
    assert seconds(result) < SLACK


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


# --- deadlines ------------------------------------------------------------------------------------


def test_a_wall_deadline_ends_the_whole_tree() -> None:
    """P1: a descendant that holds the output does not keep the caller waiting."""
    result = finish(shell("sleep 300 & wait", wall_seconds=0.3))

    assert (result.ended_by, result.timed_out) == (EndedBy.WALL_DEADLINE, True)
    assert result.exit_code == -15
    assert seconds(result) < 0.3 + SLACK


def test_a_silent_agent_ends_by_the_idle_deadline() -> None:
    """I8: an agent that hangs does not run to the wall deadline."""
    run = shell("echo started; sleep 300", idle_seconds=0.4)

    result = finish(run)

    assert (result.ended_by, result.timed_out) == (EndedBy.IDLE_DEADLINE, True)
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


def test_an_agent_that_stays_after_its_result_is_ended() -> None:
    """P2: result printed, process never exits: the run is over, and it is no time-out."""
    run = shell(f"echo working; {RESULT}; sleep 300")

    result = finish(run)

    assert (result.ended_by, result.timed_out) == (EndedBy.TERMINAL_GRACE, False)
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

    assert (result.ended_by, result.timed_out) == (EndedBy.TERMINAL_GRACE, False)


def test_talking_on_after_the_result_does_not_beat_the_wall_deadline() -> None:
    """An agent that goes on and on is out of time in the end."""
    run = shell(
        f"{RESULT}; while :; do echo more; sleep 0.05; done",
        wall_seconds=1.0,
        terminal_grace_seconds=0.4,
    )

    result = finish(run)

    assert (result.ended_by, result.timed_out) == (EndedBy.WALL_DEADLINE, True)


def test_silence_after_the_result_is_the_graces_matter() -> None:
    """An idle deadline shorter than the grace makes no time-out of a finished run."""
    run = shell(f"{RESULT}; sleep 300", idle_seconds=0.4, terminal_grace_seconds=0.8)

    result = finish(run)

    assert result.ended_by is EndedBy.TERMINAL_GRACE


# --- what is left behind --------------------------------------------------------------------------


def test_a_child_that_holds_the_output_after_the_exit_is_swept() -> None:
    """P1: the agent is gone, its child still holds the pipe: bounded, and nothing lost."""
    run = shell("sleep 300 & echo done")

    result = finish(run)

    assert (result.ended_by, result.exit_code) == (EndedBy.EXIT, 0)
    assert run.output == b"done\n"
    assert [name.split()[1] for name in result.survivors] == ["sleep"]
    assert not result.output_cut
    assert seconds(result) < 0.3 + SLACK


def test_a_child_that_still_writes_after_the_exit_is_heard() -> None:
    """Output that comes within the drain time is kept."""
    run = shell("(sleep 0.2; echo late) & echo done", drain_seconds=10.0)

    result = finish(run)

    assert run.output == b"done\nlate\n"
    assert result.survivors == ()


@pytest.mark.parametrize(
    ("run", "count"),
    [
        pytest.param(shell("nohup sleep 300 >/dev/null 2>&1 & echo x"), 1, id="nohup"),
        pytest.param(shell("setsid sleep 300 & echo x"), 1, id="setsid"),
        pytest.param(shell("sleep 300 >&- 2>&- & sleep 301 >&- 2>&- & echo x"), 2, id="two"),
        pytest.param(shell("env -i /bin/sleep 300 >&- 2>&- & echo x"), 1, id="no environment"),
        pytest.param(shell("set -m; sleep 300 >&- 2>&- & echo x"), 1, id="own group"),
        pytest.param(agent("double_fork"), 1, id="daemon"),
    ],
)
def test_processes_that_outlive_a_normal_exit_are_swept_and_named(run: Run, count: int) -> None:
    """P3: background and detached processes do not outlive the run."""
    result = finish(run)

    assert (result.ended_by, result.exit_code) == (EndedBy.EXIT, 0)
    assert len(result.survivors) == count
    for survivor in result.survivors:
        pid, name = survivor.split(" ", 1)
        assert not is_running(int(pid))
        assert name


def test_a_child_with_neither_marker_nor_session_is_found_by_its_parent() -> None:
    """An agent that clears the environment of its tools does not hide them."""
    run = shell("env -i setsid /bin/sleep 317 & wait", wall_seconds=0.5)

    result = finish(run)

    assert result.ended_by is EndedBy.WALL_DEADLINE
    assert not children_named("sleep 317")


def children_named(words: str) -> list[str]:
    listing = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in listing.stdout.splitlines() if words in line]


@pytest.mark.slow
def test_a_tree_that_forks_while_it_is_killed_is_caught() -> None:
    """A moving target is chased for a bounded time."""
    run = agent("fork_while_killed", wall_seconds=0.8, term_grace_seconds=0.1)

    result = finish(run)

    assert result.ended_by is EndedBy.WALL_DEADLINE
    assert seconds(result) < 3.5 + SLACK
    collect_orphans()


@pytest.mark.slow
def test_orphans_that_ended_unseen_do_not_stay_as_zombies() -> None:
    """A long batch does not fill the process table: the next runs reap them."""
    before = zombie_children()

    finish(agent("forget_children"))

    assert len(zombie_children() - before) == 3
    collect_orphans()
    assert zombie_children() <= before


def collect_orphans() -> None:
    """Two more runs: one that looks, and one that looks again more than a second later."""
    finish(shell("true"))
    time.sleep(1.1)
    finish(shell("true"))


def test_the_list_of_survivors_is_bounded() -> None:
    """A crowd is counted, not listed."""
    crowd = "for _ in $(seq 25); do setsid sleep 300 >&- 2>&- & done"

    result = finish(shell(crowd))

    assert len(result.survivors) == 21
    assert result.survivors[-1] == "and 5 more"


def test_processes_of_others_are_left_alone() -> None:
    """Neither another marker nor a longer one that begins the same is ours to kill."""
    run = shell("setsid sleep 300 & echo x")
    others = [
        subprocess.Popen(["sleep", "300"], start_new_session=True, env={**os.environ, **more})
        for more in ({}, {"ROUTING_ACTION_UNIT": run.marker + "0"}, {"X": run.marker})
    ]
    try:
        result = finish(run)

        assert len(result.survivors) == 1
        assert [other.poll() for other in others] == [None, None, None]
    finally:
        for other in others:
            other.kill()
            other.wait()


# --- cancelling -----------------------------------------------------------------------------------


def test_the_cancel_event_ends_the_run() -> None:
    """An interrupted batch still gets the result of what it had started."""
    run = shell("echo begun; sleep 300 & wait")

    async def interrupted() -> ProcessResult:
        cancel = asyncio.Event()
        asyncio.get_running_loop().call_later(0.4, cancel.set)
        return await run(cancel=cancel)

    result = asyncio.run(interrupted())

    assert (result.ended_by, result.exit_code) == (EndedBy.CANCELLED, -15)
    assert not result.timed_out
    assert run.output == b"begun\n"
    assert run.left_behind() == []
    assert seconds(result) < 0.8 + SLACK


def test_nothing_is_started_after_the_cancel_event() -> None:
    """A unit that comes too late does not run at all."""
    run = shell("echo begun")

    async def too_late() -> ProcessResult:
        cancel = asyncio.Event()
        cancel.set()
        return await run(cancel=cancel)

    result = asyncio.run(too_late())

    assert (result.ended_by, result.exit_code, run.output) == (EndedBy.CANCELLED, None, b"")
    assert (run.stdout.closed, run.stderr.closed) == (1, 1)


@pytest.mark.parametrize("times", [1, 3])
def test_cancelling_the_task_cleans_up_first(times: int) -> None:
    """However often the task is cancelled, it goes only when nothing is left."""
    run = shell(STUBBORN, term_grace_seconds=0.5)

    async def cancelled() -> None:
        task = asyncio.ensure_future(run())
        await wait_for(lambda: b"ready" in run.stdout.data)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0.05)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())

    assert run.left_behind() == []
    assert (run.stdout.closed, run.stderr.closed) == (1, 1)


def test_a_run_that_nobody_waits_for_ends_with_the_event_loop() -> None:
    """Leaving asyncio ends the children too."""
    run = shell(STUBBORN, term_grace_seconds=0.2)
    kept: list[Awaitable[ProcessResult]] = []

    async def careless() -> None:
        kept.append(asyncio.ensure_future(run()))
        await wait_for(lambda: b"ready" in run.stdout.data)

    asyncio.run(careless())

    assert run.left_behind() == []


def test_a_loop_that_is_torn_down_leaves_nothing() -> None:
    """Even without an event loop to wait on, the process is killed."""
    run = shell(STUBBORN)
    loop = asyncio.new_event_loop()
    coroutine = run()
    task = loop.create_task(coroutine)
    loop.run_until_complete(wait_for(lambda: b"ready" in run.stdout.data))
    loop.close()

    with contextlib.suppress(RuntimeError):
        coroutine.close()

    assert run.left_behind() == []
    task._log_destroy_pending = False  # type: ignore[attr-defined]


async def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SLACK
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


# --- sinks that fail ------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_sink_that_fails_ends_the_run_with_an_error(stream: str) -> None:
    """A full disk is the harness' trouble: said as such, after the clean-up."""
    run = shell("echo out; echo err >&2; sleep 300")
    getattr(run, stream).failure = OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(HarnessError, match="No space left") as caught:
        asyncio.run(run())

    assert isinstance(caught.value.__cause__, OSError)
    assert run.left_behind() == []
    assert (run.stdout.closed, run.stderr.closed) == (1, 1)


def test_an_error_of_ours_from_a_sink_is_passed_on_as_it_is() -> None:
    """An error that already has a cause and a remedy keeps them."""
    run = shell("echo out; sleep 300")
    run.stdout.failure = UsageError("bad", remedy="do better")

    with pytest.raises(UsageError, match="bad"):
        asyncio.run(run())


@pytest.mark.parametrize("run", [shell("true"), command("no-such-agent")])
def test_a_sink_that_cannot_be_closed_is_an_error(run: Run) -> None:
    """What was held back until the close counts as output too."""
    run.stdout.closing_failure = OSError(errno.EIO, "Input/output error")

    with pytest.raises(HarnessError, match="Input/output error"):
        asyncio.run(run())


# --- without some of what Linux offers ------------------------------------------------------------

LACKING = {
    "no pidfd": Capabilities(pidfd=False),
    "no waitid": Capabilities(pidfd=False, waitid=False),
    "no proc": Capabilities(proc=False),
    "nothing": Capabilities(pidfd=False, waitid=False, proc=False, subreaper=False),
}


@pytest.mark.parametrize("capabilities", LACKING.values(), ids=LACKING.keys())
def test_a_run_ends_as_it_should_on_lesser_systems(capabilities: Capabilities) -> None:
    """Exit code and output do not depend on how the end is noticed."""
    run = shell("echo out; exit 3", capabilities)

    result = finish(run)

    assert (result.ended_by, result.exit_code, run.output) == (EndedBy.EXIT, 3, b"out\n")


@pytest.mark.parametrize("capabilities", LACKING.values(), ids=LACKING.keys())
def test_a_deadline_ends_the_group_on_lesser_systems(capabilities: Capabilities) -> None:
    """The process group can be ended everywhere."""
    run = shell("trap '' TERM; sleep 300 & sleep 301 & wait; wait", capabilities, wall_seconds=0.3)

    result = finish(run)

    assert result.ended_by is EndedBy.WALL_DEADLINE
    assert seconds(result) < 0.7 + SLACK


@pytest.mark.parametrize("capabilities", LACKING.values(), ids=LACKING.keys())
def test_a_child_that_holds_the_output_is_swept_on_lesser_systems(
    capabilities: Capabilities,
) -> None:
    """A background child of the same group never outlives the run."""
    run = shell("sleep 300 & echo done", capabilities)

    result = finish(run)

    assert (result.exit_code, run.output) == (0, b"done\n")
    assert not result.output_cut


def test_a_detached_child_is_killed_without_pidfd() -> None:
    """Numbers are checked against start times where there are no process descriptors."""
    result = finish(shell("setsid sleep 300 & echo x", Capabilities(pidfd=False)))

    assert len(result.survivors) == 1


def test_a_detached_child_that_cannot_be_found_does_not_block() -> None:
    """Without /proc a holder in a session of its own is out of reach: the run ends, and says so."""
    run = shell("setsid sleep 300 & echo x", Capabilities(proc=False))

    result = asyncio.run(run())

    left = marked(run.marker)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert len(left) == 1
    assert (result.ended_by, run.output, result.survivors) == (EndedBy.EXIT, b"x\n", ())
    assert result.output_cut
    assert seconds(result) < 0.5 + SLACK


# --- what needs a process of its own to be seen ---------------------------------------------------


def probe(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fakes.process_probe", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"},
        capture_output=True,
        timeout=120,
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["left"] == []
    assert report["zombies"] == []
    return report


@pytest.mark.slow
def test_orphans_are_found_without_a_subreaper() -> None:
    """An orphan that went to init still bears the marker."""
    report = probe("double_fork", "--no", "subreaper")

    assert report["exit_code"] == 0
    assert len(report["survivors"]) == 1
    collect_orphans()  # they came to us instead, if an earlier test made us a subreaper


def test_an_inherited_ignored_sigchld_does_not_hide_exit_codes() -> None:
    """A parent that ignores SIGCHLD would make every exit code vanish."""
    report = probe("no_such_manner", "--ignore-sigchld")

    assert (report["ended_by"], report["exit_code"]) == ("exit", 1)


@pytest.mark.slow
def test_a_flood_does_not_fill_the_memory() -> None:
    """200 MB of output pass through; none of it stays."""
    report = probe("flood", "--argument", "200", "--wall", "100")

    assert report["total"] == 200 * 1024 * 1024
    assert report["lines"] == 200 * 1024
    assert report["peak_mib"] < 80


@pytest.mark.slow
@pytest.mark.parametrize("size", [200_000, 50_000_000])
def test_a_line_has_no_limit_but_memory(size: int) -> None:
    """P4: one line of 200 KB, one of 50 MB."""
    report = probe("long_line", "--argument", str(size), "--wall", "100")

    assert (report["lines"], report["longest"]) == (2, size)
    assert report["peak_mib"] < 80 + 2 * size / 1_000_000


@pytest.mark.slow
def test_many_runs_leak_nothing() -> None:
    """Thirty runs, with children to sweep: as many descriptors as before, no task, no zombie."""
    before = open_descriptors()

    async def many() -> tuple[int, int]:
        for number in range(30):
            run = shell("setsid sleep 300 >&- 2>&- & echo x" if number % 3 == 0 else "echo x")
            await run(cancel=asyncio.Event())
        await asyncio.sleep(0)
        return len(asyncio.all_tasks()), open_descriptors()

    tasks, during = asyncio.run(many())

    assert tasks == 1
    assert during <= before + 4  # the loop's own
    assert open_descriptors() == before
    assert KeepingSink().closed == 0
