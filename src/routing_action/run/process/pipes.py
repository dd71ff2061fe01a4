"""One output pipe of a child: what is read goes to its sink at once; keeps no output itself."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Callable
from typing import Protocol

READ_BYTES = 256 * 1024
# More than the buffer of a pipe holds by default.
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


class OutputPipe:
    """The read end of a pipe on the event loop.

    Reading never waits and goes on after a sink has failed, so that the child cannot block on
    us; then the bytes are dropped. Calls `on_output` after each chunk, `on_failure` for the
    first exception of the sink, `on_end` at the end of the stream.
    """

    def __init__(
        self,
        descriptor: int,
        sink: OutputSink,
        *,
        on_output: Callable[[OutputSink], None],
        on_failure: Callable[[Exception], None],
        on_end: Callable[[], None],
    ) -> None:
        self.sink = sink
        self._descriptor = descriptor
        self._on_output = on_output
        self._on_failure = on_failure
        self._on_end = on_end
        self._failed = False
        self._sink_open = True
        self._loop = asyncio.get_running_loop()
        os.set_blocking(descriptor, False)
        _widen(descriptor)

    def open(self) -> None:
        """Start reading."""
        self._loop.add_reader(self._descriptor, self._read)

    @property
    def ended(self) -> bool:
        """True once the stream has ended or was closed."""
        return self._descriptor < 0

    def close(self) -> bool:
        """Take what is in the pipe already and close the read end; the sink stays open.

        False where something may still write: more output could have come.
        """
        for _ in range(0 if self._loop.is_closed() else _LAST_READS):
            if self.ended or not self._read():
                break
        whole = self.ended
        self._shut()
        return whole

    def close_sink(self) -> None:
        """Close the sink unless that was done; its exception goes to `on_failure`."""
        if self._sink_open:
            self._sink_open = False
            self._guard(self.sink.close)

    def _read(self) -> bool:
        """Take one chunk; False where nothing is there for now, or the stream has ended."""
        try:
            chunk = os.read(self._descriptor, READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._shut()
            self._on_end()
            return False
        if not self._failed:
            self._guard(self.sink.write, chunk)
        self._on_output(self.sink)
        return True

    def _shut(self) -> None:
        if not self.ended:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _guard(self, action: Callable[..., None], *arguments: bytes) -> None:
        try:
            action(*arguments)
        except Exception as error:  # a sink is another's code
            self._failed = True
            self._on_failure(error)


def _widen(descriptor: int) -> None:
    """Let a pipe hold a whole chunk, where the system can do that and allows it."""
    with contextlib.suppress(AttributeError, OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, READ_BYTES)
