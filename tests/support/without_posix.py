"""Runs the command line with everything taken away that Python on Windows does not have.

It stands for Windows as far as imports and names go: paths, files and processes are this system's.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# What the packages import while they still can: they have their own ways on Windows.
import asyncio  # isort: skip  # noqa: F401
import multiprocessing  # isort: skip  # noqa: F401
import ssl  # isort: skip  # noqa: F401
import subprocess  # isort: skip  # noqa: F401
import tempfile  # isort: skip  # noqa: F401
import uuid  # isort: skip  # noqa: F401
import webbrowser  # isort: skip  # noqa: F401

import click  # isort: skip  # noqa: F401
import github  # isort: skip  # noqa: F401
import jinja2  # isort: skip  # noqa: F401
import psutil  # isort: skip  # noqa: F401
import pydantic  # isort: skip  # noqa: F401
import rich.console  # isort: skip
import rich.live  # isort: skip  # noqa: F401

# The availability notes of the library reference; WNOHANG stays, since subprocess needs it here.
MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
OF_OS = """
O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH P_PID WEXITED WNOWAIT chown
fchmod fchown fork geteuid getgid getgroups getloadavg getpgid getpgrp getpriority getuid killpg
lchown memfd_create mkfifo mknod openpty pidfd_open posix_spawn pread preadv pwrite
sched_getaffinity setpgid setsid statvfs sysconf tcgetpgrp uname wait3 wait4 waitid
""".split()
OF_SIGNAL = """
SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH
pthread_kill pthread_sigmask setitimer sigwait
""".split()


class _Blocked(MetaPathFinder):
    """Finds none of the modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Fail as Windows does."""
        if fullname in MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def take_away() -> None:
    """Nothing of POSIX is left to what is imported from now on."""
    sys.meta_path.insert(0, _Blocked())
    for name in MODULES:
        sys.modules.pop(name, None)
    for module, names in ((os, OF_OS), (signal, OF_SIGNAL)):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


if __name__ == "__main__":
    take_away()
    from routing_action.__main__ import main

    sys.exit(main())
