"""The only subprocess door: runs one child to its end, hands on all it prints, leaves nothing.

Does not look into the output (that is the sinks' work) and does not judge how the run went.

Nothing of `asyncio.subprocess` is used: its `wait` and `communicate` hang while a grandchild
holds a pipe, and its stream reader fails on long lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from routing_action.errors import HarnessError, RoutingActionError
from routing_action.evidence.transcript import EndedBy
from routing_action.run.process.descendants import (
    MARKER_VARIABLE,
    Descendants,
    close_to_others,
    find_orphans,
)
from routing_action.run.process.limits import ProcessLimits
from routing_action.run.process.pipes import OutputSink
from routing_action.run.process.supervision import Supervisor

__all__ = ["MARKER_VARIABLE", "OutputSink", "ProcessLimits", "ProcessResult", "run_process"]


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a process ended.

    `exit_code` is negative for a signal, and None if it never started or nobody knows it.
    `start_error` says why it did not start, "" if it did. `survivors` lists, as `PID NAME`, the
    processes that were still there at the end and had to be killed (a bounded list).
    """

    ended_by: EndedBy
    exit_code: int | None = None
    start_error: str = ""
    survivors: tuple[str, ...] = ()
    duration_ms: int = 0


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

    Raises `HarnessError` after the clean-up where a sink failed, and at once where the system
    cannot run children this way.
    """
    if not marker or "\0" in marker:
        raise ValueError("the marker must be a text without a zero byte")
    _prepare()
    if cancel is not None and cancel.is_set():
        return _not_started(EndedBy.CANCELLED, "", stdout, stderr)
    begun = time.monotonic()
    earlier = find_orphans() or frozenset()
    try:
        child, outputs = _start(argv, str(cwd), {**env, MARKER_VARIABLE: marker})
    except (OSError, ValueError) as error:
        reason = _explain(error, argv, str(cwd), env)
        return _not_started(EndedBy.START_FAILED, reason, stdout, stderr)
    descendants = Descendants(marker, child.pid, earlier)
    supervisor = Supervisor(child, descendants, outputs, (stdout, stderr), limits)
    try:
        ended_by = await supervisor.run(cancel or asyncio.Event(), hurry or asyncio.Event())
    finally:
        supervisor.release()
    if supervisor.cancelled:
        raise asyncio.CancelledError
    _raise_failure(supervisor.failure)
    return ProcessResult(
        ended_by,
        exit_code=supervisor.exit_code,
        survivors=supervisor.survivors,
        duration_ms=round((time.monotonic() - begun) * 1000),
    )


def _prepare() -> None:
    if not hasattr(os, "killpg"):
        raise HarnessError(
            "this system has no process groups, so an agent could not be ended with its children",
            remedy="run the harness on Linux or macOS (on Windows: inside WSL)",
        )
    close_to_others()
    # A parent can have left it ignored, and then the exit codes of all children would be lost.
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _start(
    argv: Sequence[str], cwd: str, env: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], tuple[socket.socket, socket.socket]]:
    """The child, and our ends of its two outputs.

    They are sockets: a pipe could be opened again by whoever sees the child in /proc, a socket
    cannot (ENXIO, open(2)), so that a tool does not write in the agent's name.
    """
    if not argv or not argv[0]:
        raise ValueError("the command is empty")
    (our_out, out), (our_err, err) = socket.socketpair(), socket.socketpair()
    try:
        with out, err:
            child = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out.fileno(),
                stderr=err.fileno(),
                start_new_session=True,
            )
    except BaseException:
        our_out.close()
        our_err.close()
        raise
    for ours in (our_out, our_err):
        ours.shutdown(socket.SHUT_WR)  # a child that reads from its output meets the end
    return child, (our_out, our_err)


def _not_started(ended_by: EndedBy, reason: str, *sinks: OutputSink) -> ProcessResult:
    failure = None
    for sink in sinks:
        try:
            sink.close()
        except Exception as error:  # a sink is another's code
            failure = failure or error
    _raise_failure(failure)
    return ProcessResult(ended_by, start_error=reason)


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


def _raise_failure(error: Exception | None) -> None:
    if error is None:
        return
    if isinstance(error, RoutingActionError):
        raise error
    raise HarnessError(
        f"the output of the agent could not be stored: {error}",
        remedy="check that the artifact folder is writable and has free space",
    ) from error
