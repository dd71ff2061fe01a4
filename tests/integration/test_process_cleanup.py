"""The process door with real child processes: nothing is left behind, and it always comes back."""

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

from routing_action.errors import HarnessError, UsageError
from routing_action.evidence.transcript import LINE_LIMIT, EndedBy
from routing_action.run.process.process import ProcessResult
from tests.fakes.children import (
    LESSER_SYSTEMS,
    SLACK,
    STUBBORN,
    KeepingSink,
    Run,
    agent,
    command,
    finish,
    is_running,
    lacking,
    leaving_nothing,
    marked,
    open_descriptors,
    seconds,
    shell,
    zombie_children,
)

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Every test leaves no zombie and no open descriptor."""
    with leaving_nothing():
        yield


# --- what is left behind --------------------------------------------------------------------------


def test_p1_a_child_that_holds_the_output_after_the_exit_is_swept() -> None:
    """P1: the agent is gone, its child still holds the pipe: bounded, and nothing lost."""
    run = shell("sleep 300 & echo done")

    result = finish(run)

    assert (result.ended_by, result.exit_code) == (EndedBy.EXIT, 0)
    assert run.output == b"done\n"
    assert [name.split()[1] for name in result.survivors] == ["sleep"]
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
        pytest.param(agent("lose_main_thread"), 1, id="no main thread"),
    ],
)
def test_p3_processes_that_outlive_a_normal_exit_are_swept_and_named(run: Run, count: int) -> None:
    """P3: background and detached processes do not outlive the run."""
    result = finish(run)

    assert (result.ended_by, result.exit_code) == (EndedBy.EXIT, 0)
    assert len(result.survivors) == count
    for survivor in result.survivors:
        pid, name = survivor.split(" ", 1)
        assert not is_running(int(pid))
        assert name


def test_a_child_of_ours_that_is_no_unit_hides_nothing() -> None:
    """Whoever else started it: then the processes are looked through as a whole."""
    with subprocess.Popen(["sleep", "300"]) as other:
        result = finish(shell("setsid sleep 300 & echo x"))
        plain = finish(shell("echo x"))
        other.kill()

    assert [name.split()[1] for name in result.survivors] == ["sleep"]
    assert plain.survivors == ()


def test_a_child_with_neither_marker_nor_session_is_found_by_its_parent() -> None:
    """An agent that clears the environment of its tools does not hide them."""
    run = shell("env -i setsid /bin/sleep 317 & wait", wall_seconds=0.5)

    result = finish(run)

    assert result.ended_by is EndedBy.WALL_DEADLINE
    assert not children_named("sleep 317")


def unmarked(begin: Path, end: Path, more: str = "") -> Run:
    """Leaves an orphan with neither marker nor session of the unit, between these two flags."""
    orphan = "(env -i setsid /bin/sleep 319 >&- 2>&- &)"
    wait = "while [ ! -e {} ]; do sleep 0.05; done"
    return shell(f"{more} echo ready; {wait.format(begin)}; {orphan}; {wait.format(end)}")


def test_an_orphan_without_any_sign_is_swept_and_named(tmp_path: Path) -> None:
    """On Linux it is given to us, and no other unit is running."""
    run = unmarked(tmp_path, tmp_path / "end")

    async def until_orphaned() -> ProcessResult:
        running = asyncio.ensure_future(run())
        await wait_for(lambda: len(children_named("sleep 319")) == 1)
        (tmp_path / "end").touch()
        return await running

    result = asyncio.run(until_orphaned())

    assert [name.split()[1] for name in result.survivors] == ["sleep"]
    assert not children_named("sleep 319")


def test_an_orphan_without_any_sign_ends_with_the_last_unit_that_can_own_it(
    tmp_path: Path,
) -> None:
    """Units side by side do not end each other's processes, and leave none when all have ended."""
    begin = tmp_path / "begin"
    first = unmarked(begin, tmp_path / "end")
    other = unmarked(begin, tmp_path / "end-too", "setsid sleep 300 >&- 2>&- &")

    async def together() -> tuple[ProcessResult, ProcessResult]:
        running = asyncio.ensure_future(first()), asyncio.ensure_future(other())
        await wait_for(lambda: b"ready" in first.stdout.data and b"ready" in other.stdout.data)
        begin.touch()
        await wait_for(lambda: len(children_named("sleep 319")) == 2)
        (tmp_path / "end").touch()
        ended = await running[0]
        assert len(children_named("sleep 319")) == 2
        assert len(other.left_behind()) >= 2
        (tmp_path / "end-too").touch()
        return ended, await running[1]

    ended, later = asyncio.run(together())

    assert ended.survivors == ()
    assert [name.split()[1] for name in later.survivors] == ["sleep"] * 3
    assert not children_named("sleep 319")


def children_named(words: str) -> list[str]:
    listing = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in listing.stdout.splitlines() if line.endswith(words)]


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
    """A long batch does not fill the process table."""
    before = zombie_children()

    finish(agent("forget_children"))

    assert zombie_children() <= before


def collect_orphans() -> None:
    """One more run reaps what was given to us after the last look."""
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
    assert not result.ended_by.is_deadline
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


@pytest.fixture(params=list(LESSER_SYSTEMS.values()), ids=list(LESSER_SYSTEMS))
def lesser_system(request: pytest.FixtureRequest) -> Iterator[None]:
    with lacking(*request.param):
        yield


@pytest.mark.usefixtures("lesser_system")
def test_a_run_ends_as_it_should_on_lesser_systems() -> None:
    """Exit code and output do not depend on how the end is noticed."""
    run = shell("echo out; exit 3")

    result = finish(run)

    assert (result.ended_by, result.exit_code, run.output) == (EndedBy.EXIT, 3, b"out\n")


@pytest.mark.usefixtures("lesser_system")
def test_a_deadline_ends_the_group_on_lesser_systems() -> None:
    """The process group can be ended everywhere."""
    run = shell("trap '' TERM; sleep 300 & sleep 301 & wait; wait", wall_seconds=0.3)

    result = finish(run)

    assert result.ended_by is EndedBy.WALL_DEADLINE
    assert seconds(result) < 0.7 + SLACK


@pytest.mark.usefixtures("lesser_system")
def test_a_child_that_holds_the_output_is_swept_on_lesser_systems() -> None:
    """A background child of the same group never outlives the run."""
    run = shell("sleep 300 & echo done")

    result = finish(run)

    assert (result.exit_code, run.output) == (0, b"done\n")


@pytest.mark.parametrize("missing", [("pidfd",), LESSER_SYSTEMS["as macOS"]])
def test_a_detached_child_is_killed_on_lesser_systems(missing: tuple[str, ...]) -> None:
    """It is found by its marker at least."""
    with lacking(*missing):
        result = finish(shell("setsid sleep 300 & echo x"))

    assert len(result.survivors) == 1


def test_a_detached_child_that_cannot_be_found_does_not_block() -> None:
    """Without a list of processes the holder is out of reach: the run ends all the same."""
    run = shell("setsid sleep 300 & echo x")

    with lacking(*LESSER_SYSTEMS["no list of processes"]):
        result = asyncio.run(run())

    left = marked(run.marker)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert len(left) == 1
    assert (result.ended_by, run.output, result.survivors) == (EndedBy.EXIT, b"x\n", ())
    assert seconds(result) < 0.5 + SLACK


def test_a_child_that_somebody_else_reaped_has_no_known_exit_code() -> None:
    """An exit code that cannot be known is not made up."""

    class Thief(KeepingSink):
        def write(self, chunk: bytes) -> None:
            os.waitpid(int(chunk), 0)

    for missing in ((), ("pidfd",)):
        run = shell("echo $$")
        run.stdout = Thief()

        with lacking(*missing):
            result = finish(run)

        assert (result.ended_by, result.exit_code) == (EndedBy.EXIT, None)


def test_the_group_is_ended_where_processes_cannot_be_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Running out of descriptors while looking around does not stop the clean-up."""
    run = shell("trap '' TERM; sleep 300 & echo ready; wait", wall_seconds=0.3)

    def refuse(_path: str) -> list[str]:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", refuse)
        result = asyncio.run(run())

    assert result.ended_by is EndedBy.WALL_DEADLINE
    assert run.left_behind() == []


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


def test_an_end_that_leaves_nothing_takes_no_look_at_all_processes() -> None:
    """It costs milliseconds, more on a big machine; the list of our children shows it too."""
    assert probe("leave_nothing", "--without", "list of children")["looks"] > 0
    assert probe("double_fork")["looks"] > 0
    listed = Path("/proc/thread-self/children").exists()
    assert (probe("leave_nothing")["looks"] == 0) is listed


@pytest.mark.slow
def test_orphans_are_found_without_a_subreaper() -> None:
    """An orphan that went to init still bears the marker."""
    report = probe("double_fork", "--without", "subreaper")

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
@pytest.mark.parametrize("size", [200_000, 100_000_000])
def test_p4_a_line_of_any_length_takes_bounded_memory(size: int) -> None:
    """P4: one line of 200 KB, one of 100 MB."""
    report = probe("long_line", "--argument", str(size), "--wall", "100")

    assert (report["lines"], report["longest"]) == (2, min(size, LINE_LIMIT + 1))
    assert report["peak_mib"] < 80


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
