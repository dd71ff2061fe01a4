"""Runs fake agents through the process door, and looks for what they left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import psutil

from routing_action.run.process import descendants
from routing_action.run.process.process import (
    MARKER_VARIABLE,
    ProcessLimits,
    ProcessResult,
    run_process,
)
from tests.fakes import unruly_agent

PATH = "/usr/local/bin:/usr/bin:/bin"
QUICK: dict[str, float] = {
    "wall_seconds": 20.0,
    "terminal_grace_seconds": 0.4,
    "term_grace_seconds": 0.4,
    "drain_seconds": 0.3,
}
# Ignores SIGTERM, and so does its child; says when.
STUBBORN = "trap '' TERM; echo ready; sleep 300"
# What the shared machine may add to any limit, in seconds.
SLACK = 8.0


@dataclass
class KeepingSink:
    """A sink that keeps what it is given, and can be told to fail."""

    data: bytearray = field(default_factory=bytearray)
    failure: Exception | None = None
    closing_failure: Exception | None = None
    closed: int = 0

    @property
    def terminal_seen(self) -> bool:
        return unruly_agent.TERMINAL in self.data

    @property
    def settled(self) -> bool:
        return unruly_agent.SETTLED in self.data

    def write(self, chunk: bytes) -> None:
        if self.failure is not None:
            raise self.failure
        self.data += chunk

    def close(self) -> None:
        self.closed += 1
        if self.closing_failure is not None:
            raise self.closing_failure


@dataclass
class Run:
    """One run of a command: what to look at afterwards."""

    argv: tuple[str, ...]
    limits: ProcessLimits
    cwd: str = "/"
    path: str = PATH
    marker: str = field(default_factory=lambda: uuid.uuid4().hex)
    stdout: KeepingSink = field(default_factory=KeepingSink)
    stderr: KeepingSink = field(default_factory=KeepingSink)

    async def __call__(self, cancel: asyncio.Event | None = None) -> ProcessResult:
        return await run_process(
            self.argv,
            cwd=self.cwd,
            env={"PATH": self.path},
            stdout=self.stdout,
            stderr=self.stderr,
            limits=self.limits,
            marker=self.marker,
            cancel=cancel,
        )

    @property
    def output(self) -> bytes:
        return bytes(self.stdout.data)

    def left_behind(self) -> list[int]:
        return marked(self.marker)


def command(*argv: str, cwd: str = "/", **limits: float) -> Run:
    return Run(argv, ProcessLimits(**(QUICK | limits)), cwd)


def shell(script: str, **limits: float) -> Run:
    return Run(("/bin/sh", "-c", script), ProcessLimits(**(QUICK | limits)))


def agent(manner: str, *arguments: str, **limits: float) -> Run:
    argv = (sys.executable, "-S", "-E", unruly_agent.__file__, manner, *arguments)
    return Run(argv, ProcessLimits(**(QUICK | limits)))


def finish(run: Run) -> ProcessResult:
    """Run it; whatever it was, no process is left and the sinks are closed once."""
    result = asyncio.run(run())
    assert run.left_behind() == []
    assert (run.stdout.closed, run.stderr.closed) == (1, 1)
    return result


def seconds(result: ProcessResult) -> float:
    return result.duration_ms / 1000


LACKING: dict[str, contextlib.AbstractContextManager[object]] = {
    "pidfd": mock.patch.object(os, "pidfd_open", side_effect=OSError),
    "list of processes": mock.patch.object(psutil, "PROCFS_PATH", "/nowhere", create=True),
    "list of children": mock.patch.object(descendants, "_CHILDREN_FILE", "/nowhere/{pid}"),
    "subreaper": mock.patch.object(descendants, "become_subreaper", return_value=False),
}
"""What Linux offers and another system, or a sandbox, may not."""
LESSER_SYSTEMS = {
    "no pidfd": ("pidfd",),
    "no list of processes": ("list of processes", "list of children"),
    "no list of children": ("list of children",),
    "no subreaper": ("subreaper",),
    "as macOS": ("pidfd", "list of children", "subreaper"),
}


@contextlib.contextmanager
def lacking(*names: str) -> Iterator[None]:
    """Without some of what Linux offers; dead orphans go to us all the same, and are reaped."""
    zombies = zombie_children()
    with contextlib.ExitStack() as patches:
        for name in names:
            patches.enter_context(LACKING[name])
        yield
    for pid in zombie_children() - zombies:
        os.waitpid(pid, 0)


@contextlib.contextmanager
def leaving_nothing() -> Iterator[None]:
    """What happens inside leaves no zombie and no open descriptor."""
    zombies, descriptors = zombie_children(), open_descriptors()
    yield
    assert zombie_children() <= zombies
    assert open_descriptors() <= descriptors


def marked(marker: str) -> list[int]:
    """Living processes that bear the marker; looked up without the code under test."""
    entry = f"{MARKER_VARIABLE}={marker}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue
            if entry in environment.split(b"\0"):
                found.append(int(folder.name))
    return found


def is_running(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def zombie_children() -> set[int]:
    """Dead children of this process that nobody reaped."""
    own = str(os.getpid()).encode()
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] == b"Z" and fields[1] == own:
                found.add(int(folder.name))
    return found


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
