"""The only subprocess door: runs one child to its end, hands on all it prints, leaves nothing.

Does not look into the output (that is the sinks' work) and does not judge how the run went.

Nothing of `asyncio.subprocess` is used: its `wait` and `communicate` hang while a grandchild
holds a pipe, and its stream reader fails on long lines.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from routing_action.errors import HarnessError, RoutingActionError
from routing_action.evidence.transcript import EndedBy
from routing_action.run.process.capabilities import (
    Capabilities,
    become_subreaper,
    detect_capabilities,
)
from routing_action.run.process.descendants import MARKER_VARIABLE, Descendants
from routing_action.run.process.leader import Leader, reap_abandoned
from routing_action.run.process.limits import ProcessLimits
from routing_action.run.process.pipes import OutputSink
from routing_action.run.process.spawn import spawn
from routing_action.run.process.supervision import Supervisor

__all__ = ["MARKER_VARIABLE", "OutputSink", "ProcessLimits", "ProcessResult", "run_process"]


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a process ended.

    `exit_code` is negative for a signal, and None if it never started or could not be told.
    `start_error` says why it did not start, "" if it did. `survivors` lists, as `PID NAME`, the
    processes that were still there at the end and had to be killed (a bounded list). `output_cut`
    is True where something still held an output pipe when it was closed. `started_at` and
    `ended_at` are seconds since the epoch; `duration_ms` is measured on a monotonic clock.
    """

    ended_by: EndedBy
    exit_code: int | None
    start_error: str
    survivors: tuple[str, ...]
    duration_ms: int
    started_at: float
    ended_at: float
    output_cut: bool = False

    @property
    def timed_out(self) -> bool:
        """True where a deadline of ours ended the process."""
        return self.ended_by.is_deadline


async def run_process(
    argv: Sequence[str],
    *,
    cwd: str | Path,
    env: Mapping[str, str],
    stdout: OutputSink,
    stderr: OutputSink,
    limits: ProcessLimits,
    marker: str,
    cancel: asyncio.Event | None = None,
    hurry: asyncio.Event | None = None,
    capabilities: Capabilities | None = None,
    clock: Callable[[], float] = time.time,
) -> ProcessResult:
    """Run a command to its end, or end it; afterwards neither it nor its descendants are left.

    The child gets exactly `env` plus the marker, the null device as stdin, and a session of its
    own. The marker must be unique to this run: every process of our user that bears it is killed
    at the end, also after a normal exit. Both sinks are closed in any case, also where the
    process could not be started (`START_FAILED`). With `cancel` set beforehand it is not started.

    It takes at most the wall limit, the SIGTERM grace, twice the drain time and two to three
    seconds, whatever the child does. Where several reasons end a process, the first one counts.
    Setting `cancel` ends the process early, within a shorter grace, and `hurry` cuts any grace
    short; a cancellation of the calling task ends it too, and raises `CancelledError` after the
    clean-up.

    Raises `HarnessError` after the clean-up where a sink failed, and at once where the event loop
    or the system cannot run children this way.
    """
    if not marker or "\0" in marker:
        raise ValueError("the marker must be a text without a zero byte")
    capabilities = capabilities or detect_capabilities()
    _prepare(capabilities)
    times = _Times(clock)
    unwanted = cancel is not None and cancel.is_set()
    environment = {**env, MARKER_VARIABLE: marker}
    started = "" if unwanted else _start(argv, str(cwd), environment, capabilities)
    if isinstance(started, str):
        _raise_failure(_close(stdout) or _close(stderr))
        ended_by = EndedBy.CANCELLED if unwanted else EndedBy.START_FAILED
        return times.result(ended_by, start_error=started)
    leader, descriptors = started
    descendants = Descendants(marker, leader.pid, capabilities)
    supervisor = Supervisor(leader, descendants, descriptors, (stdout, stderr), limits)
    try:
        ended_by = await supervisor.run(cancel, hurry)
    finally:
        supervisor.release()
    if supervisor.cancelled:
        raise asyncio.CancelledError
    _raise_failure(supervisor.failure)
    return times.result(
        ended_by,
        exit_code=leader.exit_code,
        survivors=supervisor.survivors,
        output_cut=supervisor.output_cut,
    )


class _Times:
    """When a run began, and the result with both times."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started_at = clock()
        self._begun = time.monotonic()

    def result(
        self,
        ended_by: EndedBy,
        *,
        exit_code: int | None = None,
        start_error: str = "",
        survivors: tuple[str, ...] = (),
        output_cut: bool = False,
    ) -> ProcessResult:
        return ProcessResult(
            ended_by=ended_by,
            exit_code=exit_code,
            start_error=start_error,
            survivors=survivors,
            duration_ms=round((time.monotonic() - self._begun) * 1000),
            started_at=self._started_at,
            ended_at=self._clock(),
            output_cut=output_cut,
        )


def _prepare(capabilities: Capabilities) -> None:
    if not hasattr(os, "killpg"):
        raise HarnessError(
            "this system has no process groups, so an agent could not be ended with its children",
            remedy="run the harness on Linux or macOS (on Windows: inside WSL)",
        )
    if capabilities.subreaper:
        become_subreaper()
    reap_abandoned()


def _start(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], capabilities: Capabilities
) -> tuple[Leader, tuple[int, int]] | str:
    """The started process with the read ends of its stdout and stderr, or why it did not start."""
    descriptors: list[int] = []
    pid = 0
    try:
        for _ in range(2):
            descriptors += os.pipe()  # not inheritable, by pipe2 where the system has it
        out_read, out_write, err_read, err_write = descriptors
        pid = spawn(_checked(argv), cwd, env, out_write, err_write)
    except (OSError, ValueError) as error:
        return _explain(error, argv, cwd, env)
    finally:
        for descriptor in descriptors[1::2] if pid else descriptors:
            os.close(descriptor)
    return Leader(pid, argv[0].rpartition("/")[2], capabilities), (out_read, err_read)


def _checked(argv: Sequence[str]) -> list[str]:
    if not argv or not argv[0]:
        raise ValueError("the command is empty")
    return list(argv)


def _explain(
    error: OSError | ValueError, argv: Sequence[str], cwd: str, env: Mapping[str, str]
) -> str:
    """`ENOENT: program 'x': No such file or directory`, with what it really was that is missing."""
    if not isinstance(error, OSError):
        return f"{type(error).__name__}: {error}"
    if error.filename == cwd:
        what = f"working directory {cwd!r}"
    elif error.errno == errno.ENOENT and shutil.which(argv[0], path=env.get("PATH")):
        what = f"interpreter of program {argv[0]!r}"
    else:
        what = f"program {argv[0]!r}"
    name = errno.errorcode.get(error.errno or 0, "OSError")
    return f"{name}: {what}: {error.strerror}"


def _close(sink: OutputSink) -> Exception | None:
    try:
        sink.close()
    except Exception as error:  # a sink is another's code
        return error
    return None


def _raise_failure(error: Exception | None) -> None:
    if error is None:
        return
    if isinstance(error, RoutingActionError):
        raise error
    raise HarnessError(
        f"the output of a process could not be taken: {error}",
        remedy="see that the artifact folder can be written to and has space left",
    ) from error
