"""A fake claude.

usage: python -I -S agent.py pause TRANSCRIPT SECONDS PROMPT     print it in two halves
       python -I -S agent.py flood OPENING BODY BYTES PROMPT     print the body until so much is out
       python -I -S agent.py lines TRANSCRIPT SECONDS            print it, with pauses between lines
       python -I -S agent.py hang OPENING FIFO PROMPT            stay until it is ended
       python -I -S agent.py deaf OPENING FIFO PROMPT            stay, and ignore SIGTERM
       python -I -S agent.py escape TRANSCRIPT FIFO PROMPT       end; a child holds the output open

The last three write `PID SECONDS` to the FIFO, by the monotonic clock: the process whose end is
awaited, and when that could begin. Imports nothing that a bare agent would not, to start quickly.
"""

import os
import sys
import time


def write(data: bytes) -> int:
    """Write all of it to standard output."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]
    return len(data)


def announce(pid: int) -> None:
    """Tell the benchmark which process it waits for, and since when."""
    with open(sys.argv[3], "w") as fifo:  # noqa: PTH123 - pathlib costs as much as all this
        fifo.write(f"{pid} {time.monotonic()}\n")


with open(sys.argv[2], "rb", buffering=0) as file:  # noqa: PTH123
    data = file.read()
mode = sys.argv[1]
if mode == "pause":
    middle = len(data) // 2
    write(data[:middle])
    time.sleep(float(sys.argv[3]))
    write(data[middle:])
elif mode == "lines":
    for line in data.splitlines(keepends=True):
        write(line)
        time.sleep(float(sys.argv[3]))
elif mode == "flood":
    left = int(sys.argv[4]) - write(data)
    with open(sys.argv[3], "rb", buffering=0) as file:  # noqa: PTH123
        body = file.read()
    while left > 0:
        left -= write(body)
elif mode == "escape":
    child = os.fork()
    if not child:
        os.setsid()
        time.sleep(1000)
    write(data)
    announce(child)
else:
    if mode == "deaf":
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    announce(os.getpid())
    write(data)
    time.sleep(1000)
