"""Runs a command with loopback as its only network, and one port there that leads to a socket.

Where the kernel permits it, `loopback_words` put this in front of a command: `unshare` makes an
empty network namespace, and this module brings its loopback up, forwards one port of it to a Unix
socket outside, and becomes the command, with the process id that it was started with.
"""

import asyncio
import contextlib
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PORT = 8088
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1  # netdevice(7): SIOCGIFFLAGS, SIOCSIFFLAGS


def loopback_words(unix_socket: Path) -> list[str] | None:
    """What goes in front of a command; None where no namespace can be made here."""
    words = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") is None:
        return None
    tried = subprocess.run([*words, "true"], capture_output=True, check=False)
    if tried.returncode != 0:
        return None
    return [*words, sys.executable, "-P", str(Path(__file__).resolve()), str(unix_socket)]


def raise_loopback() -> None:
    """Bring the interface `lo` up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        name = b"lo".ljust(16, b"\0")
        request = fcntl.ioctl(door, _GET_FLAGS, name + b"\0" * 24)
        (flags,) = struct.unpack_from("h", request, 16)
        fcntl.ioctl(door, _SET_FLAGS, name + struct.pack("h", flags | _UP) + b"\0" * 22)


async def forward(unix_socket: str, master: int) -> None:
    """Forward the port to the socket until the process `master` is gone."""
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(os.pidfd_open(master), gone.set)

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_unix_connection(unix_socket)
        await asyncio.gather(_pump(reader, outer), _pump(inner, writer))

    server = await asyncio.start_server(connect, "127.0.0.1", PORT)
    sys.stdout.write("ready\n")
    sys.stdout.close()
    await gone.wait()
    server.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while block := await reader.read(1 << 16):
            writer.write(block)
            await writer.drain()
        writer.write_eof()


def main(arguments: Sequence[str]) -> None:
    """Become the command of the arguments that follow the socket's path."""
    unix_socket, *command = arguments
    if unix_socket == "--forward":
        asyncio.run(forward(command[0], int(command[1])))
        os._exit(0)
    raise_loopback()
    words = [sys.executable, "-P", __file__, "--forward", unix_socket, str(os.getpid())]
    # Its parent ends at once, so that it is no child of what this process becomes.
    detached = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        [sys.executable, "-P", "-c", detached, *words],
        stdin=quiet,
        stdout=subprocess.PIPE,
        stderr=quiet,
    ) as helper:
        if helper.stdout is None or helper.stdout.readline() != b"ready\n":
            raise SystemExit("the port could not be forwarded")
    os.execvp(command[0], command)  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
