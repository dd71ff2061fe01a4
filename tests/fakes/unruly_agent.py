"""A fake agent CLI with manners that a shell script cannot show: `unruly_agent.py MANNER`.

Started as a true child process; needs nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

TERMINAL = b'{"type":"result"}\n'
SETTLED = b'{"type":"settled"}\n'
LONG = 300.0


def say(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def leave_nothing() -> None:
    """No child at all."""


def double_fork() -> None:
    """A daemon the classic way, which lets go of the pipes."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(null, descriptor)
            time.sleep(LONG)
        os._exit(0)
    time.sleep(0.2)
    say(b"done\n")


def lose_main_thread() -> None:
    """A child whose first thread ends while another one goes on: it looks dead, and is not."""
    if os.fork() == 0:
        os.setsid()
        threading.Thread(target=time.sleep, args=(LONG,)).start()
        exit_thread = {"x86_64": 60, "aarch64": 93}[os.uname().machine]
        ctypes.CDLL(None).syscall(exit_thread, 0)
    time.sleep(0.3)


def forget_children() -> None:
    """Three orphans in sessions of their own, which end before the agent does."""
    for _ in range(3):
        if os.fork() == 0:
            if os.fork() == 0:
                os.setsid()
            os._exit(0)
        os.wait()
    time.sleep(0.2)


def fork_while_killed() -> None:
    """Two chains of processes; each link starts the next one in a new session, and ends."""
    for _ in range(2):
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            end = time.monotonic() + LONG
            while time.monotonic() < end:
                time.sleep(0.02)
                if os.fork():
                    os._exit(0)
                os.setsid()
    say(b"ready\n")
    time.sleep(LONG)


def flood() -> None:
    """As many MiB of lines as the next argument says."""
    block = (b"y" * 1023 + b"\n") * 1024
    for _ in range(int(sys.argv[2])):
        say(block)


def long_line() -> None:
    """One line of as many bytes as the next argument says, then the terminal event."""
    say(b"z" * int(sys.argv[2]) + b"\n" + TERMINAL)


def main() -> None:
    manners: dict[str, Callable[[], None]] = {
        manner.__name__: manner
        for manner in (
            leave_nothing,
            double_fork,
            lose_main_thread,
            forget_children,
            fork_while_killed,
            flood,
            long_line,
        )
    }
    manners[sys.argv[1]]()


if __name__ == "__main__":
    main()
