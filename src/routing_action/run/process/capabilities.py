"""What the operating system offers for running children; never asks for a platform's name."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_READ_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What may be used; each one that is False has a fallback, and tests switch them off.

    `pidfd`: the end of a child is a readable descriptor; else it is polled for.
    `waitid`: a child can be found dead without being reaped; else its group is killed right
    after it was reaped. `proc`: processes can be listed with their environment; else only the
    child's own process group is ended, and survivors go unnamed. `subreaper`: orphans become
    our children; else they go to init, are found by their marker all the same, and whether they
    stay as zombies is up to init. `children`: our own children can be listed; else each
    unit's end takes a walk over all processes.
    """

    pidfd: bool = True
    waitid: bool = True
    proc: bool = True
    subreaper: bool = True
    children: bool = True


@functools.cache
def detect_capabilities() -> Capabilities:
    """What this machine offers, found by trying it; asked once a process."""
    return Capabilities(
        pidfd=_has_pidfd(),
        waitid=hasattr(os, "waitid") and hasattr(os, "WNOWAIT"),
        proc=_has_proc(),
        subreaper=_prctl() is not None,
        children=_has_children(),
    )


@functools.cache
def become_subreaper() -> bool:
    """Adopt the orphans of our children from now on; True where the system agreed.

    Also takes back an inherited `SIGCHLD: ignore` (a parent can leave one), under which the
    exit codes of all children would be lost.
    """
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    prctl = _prctl()
    return prctl is not None and prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def list_children() -> frozenset[int] | None:
    """The children of this thread, dead ones too; None where that is not told, or is not enough.

    It is enough in the main thread, the one that orphans are given to (find_alive_thread in
    kernel/exit.c of Linux). The list lacks none as long as nobody reaps them meanwhile (proc(5)).
    """
    if threading.get_native_id() != os.getpid():
        return None
    data = b""
    try:
        file = os.open("/proc/thread-self/children", os.O_RDONLY | os.O_CLOEXEC)
        try:
            while chunk := os.read(file, _READ_BYTES):
                data += chunk
        finally:
            os.close(file)
    except OSError:  # no such system, or no descriptor left
        return None
    return frozenset(map(int, data.split()))


def _prctl() -> ctypes._NamedFuncPointer | None:
    try:
        library = ctypes.CDLL(None, use_errno=True)
    except (OSError, TypeError):
        return None
    return getattr(library, "prctl", None)


def _has_pidfd() -> bool:
    """Try it: a sandbox can refuse the call where the kernel has it."""
    if not (hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def _has_children() -> bool:
    """Not every kernel is built with it (CONFIG_PROC_CHILDREN)."""
    return Path("/proc/thread-self/children").exists()


def _has_proc() -> bool:
    own = Path("/proc") / str(os.getpid())
    try:
        return bool((own / "stat").read_bytes()) and (own / "environ").exists()
    except OSError:
        return False
