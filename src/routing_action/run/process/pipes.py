"""One output of a child: what is read goes to its sink at once; keeps no output itself."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol

READ_BYTES = 64 * 1024
# More than a socket holds, unless its buffer was enlarged: socket(7), wmem_default.
_LAST_READS = 16


class OutputSink(Protocol):
    """Takes one output stream of a child, in order and exactly as it was written."""

    def write(self, chunk: bytes) -> None:
        """Take the next bytes; an exception ends the process and is reported to the caller."""
        ...

    @property
    def terminal_seen(self) -> bool:
        """True once the output holds its terminal event: the process is expected to exit."""
        ...

    @property
    def settled(self) -> bool:
        """True once nothing that may still come matters: the process may be ended."""
        ...

    def close(self) -> None:
        """Say that no more output comes; called exactly once, whatever happened."""
        ...


class Allowance:
    """How many bytes may still come."""

    def __init__(self, size: float) -> None:
        self._left = size

    @property
    def exceeded(self) -> bool:
        """True once something was dropped."""
        return self._left < 0

    def take(self, chunk: bytes) -> bytes:
        """The part that there is room for."""
        room = max(self._left, 0)
        self._left -= len(chunk)
        return chunk if len(chunk) <= room else chunk[: int(room)]


class OutputPipe:
    """Our end of a child's output on the running event loop.

    Reading never waits and continues after the sink has failed, so that the child cannot block on
    us; then the bytes are dropped, and `failure` holds the first exception. So are those that go
    beyond what is left of an allowance, which several outputs can share. Calls `on_change`
    after each chunk and at the end of the stream (`ended`).
    """

    def __init__(
        self,
        stream: socket.socket,
        sink: OutputSink,
        allowance: Allowance,
        on_change: Callable[[OutputPipe], None],
    ) -> None:
        self.sink = sink
        self.ended = False
        self.failure: Exception | None = None
        self._stream = stream
        self._allowance = allowance
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        stream.setblocking(False)
        self._loop.add_reader(self._stream.fileno(), self._read)

    def close(self) -> None:
        """Take what is there already, close our end and then the sink; call it once."""
        for _ in range(0 if self._loop.is_closed() else _LAST_READS):
            if self.ended or not self._read():
                break
        self._shut()
        self._guard(self.sink.close)

    def _read(self) -> bool:
        """Take one chunk; False where nothing is there for now, or the stream has ended."""
        try:
            chunk = self._stream.recv(READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._shut()
        elif self.failure is None and (kept := self._allowance.take(chunk)):
            self._guard(self.sink.write, kept)
        self._on_change(self)
        return bool(chunk)

    def _shut(self) -> None:
        if not self.ended:
            self.ended = True
            if not self._loop.is_closed():
                self._loop.remove_reader(self._stream.fileno())
            self._stream.close()

    def _guard(self, action: Callable[..., None], *arguments: bytes) -> None:
        try:
            action(*arguments)
        except Exception as error:  # a sink is another's code
            self.failure = self.failure or error
