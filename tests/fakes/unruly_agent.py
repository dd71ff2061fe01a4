"""A fake agent CLI with the manners that real ones were reported for: `unruly_agent.py MANNER`.

Started as a true child process; needs nothing but the standard library.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

TERMINAL = b'{"type":"result"}\n'
LONG = 300.0


def say(data: bytes, descriptor: int = 1) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def result_then_sleep() -> None:
    say(b"working\n" + TERMINAL)
    time.sleep(LONG)


def result_then_chatter() -> None:
    """Six more lines, each within the grace, then silence."""
    say(TERMINAL)
    for number in range(6):
        time.sleep(0.15)
        say(b"late %d\n" % number, 2)
    time.sleep(LONG)


def result_then_endless_chatter() -> None:
    say(TERMINAL)
    while True:
        time.sleep(0.05)
        say(b"still here\n")


def ignore_term() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say(b"ready\n")
    time.sleep(LONG)


def flush_on_term() -> None:
    def leave(_signal: int, _frame: FrameType | None) -> None:
        say(b"x" * 300_000 + b"\nsaved\n")
        sys.exit(7)

    signal.signal(signal.SIGTERM, leave)
    say(b"ready\n")
    time.sleep(LONG)


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


def forget_children() -> None:
    """Three orphans in sessions of their own, which end before the agent does."""
    for _ in range(3):
        if os.fork() == 0:
            if os.fork() == 0:
                os.setsid()
            os._exit(0)
        os.wait()
    time.sleep(0.2)


def clear_environment() -> None:
    """A child without the marker in a session of its own, whose parent lives until the end."""
    if os.fork() == 0:
        os.setsid()
        os.execve("/bin/sleep", ["sleep", "300"], {})  # noqa: S606 - a child without a shell
    say(b"ready\n")
    time.sleep(LONG)


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


def many_children() -> None:
    for _ in range(25):
        if os.fork() == 0:
            os.setsid()
            time.sleep(LONG)
    time.sleep(0.1)


def flood() -> None:
    """As many MiB of lines as the next argument says."""
    block = (b"y" * 1023 + b"\n") * 1024
    for _ in range(int(sys.argv[2])):
        say(block)


def endless_flood() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        say(b"y" * 65_535 + b"\n")


def long_line() -> None:
    """One line of as many bytes as the next argument says, then the terminal event."""
    say(b"z" * int(sys.argv[2]) + b"\n" + TERMINAL)


def mumble() -> None:
    """Nothing on stdout, but a word on stderr every 250 ms, six times."""
    for _ in range(6):
        time.sleep(0.25)
        say(b"thinking\n", 2)


def show_stdin() -> None:
    say(b"read %d bytes\n" % len(sys.stdin.buffer.read()))


def show_environment() -> None:
    say(Path("/proc/self/environ").read_bytes())


def main() -> None:
    manners: dict[str, Callable[[], None]] = {
        manner.__name__: manner
        for manner in (
            result_then_sleep,
            result_then_chatter,
            result_then_endless_chatter,
            ignore_term,
            flush_on_term,
            double_fork,
            forget_children,
            clear_environment,
            fork_while_killed,
            many_children,
            flood,
            endless_flood,
            long_line,
            mumble,
            show_stdin,
            show_environment,
        )
    }
    manners[sys.argv[1]]()


if __name__ == "__main__":
    main()
