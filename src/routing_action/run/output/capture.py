"""Where the output of a process goes: redacted into a file, and in blocks of lines to a reader.

Holds no more than one line, and takes no notice of what the lines say.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from routing_action.errors import HarnessError
from routing_action.evidence.transcript import split_lines
from routing_action.files.redaction import Redactor
from routing_action.run.output.condense import Condenser

LINE_LIMIT = 8 * 1024 * 1024
"""Bytes of a line that are held; of a longer one the long strings are condensed."""
READ_BYTES = 256 * 1024
_JOINED_BYTES = 64 * 1024
"""So much of a line is copied rather than that a block is made of one line."""
TAIL_BYTES = 4000
"""So much of the end of a stream is kept, for people."""


def _never() -> bool:
    return False


class LineBlocks:
    """Cuts a stream at newline bytes alone, and hands on blocks of whole lines.

    Every line of a block is ended by its newline, but for a last one that none ended. U+2028,
    U+0085, form feeds and carriage returns end no line: they can stand in a JSON string. A line
    that comes in several chunks and is longer than the limit (bytes) is condensed, and then cut.
    """

    def __init__(self, on_block: Callable[[bytes], None], limit: int = LINE_LIMIT) -> None:
        self._on_block = on_block
        self._limit = limit
        self._pending = io.BytesIO()  # grows in place, and gives its buffer away without a copy
        self._condenser: Condenser | None = None

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        start, begun = 0, self._pending.tell()
        if 0 < begun <= _JOINED_BYTES and begun + len(chunk) <= self._limit:
            chunk = self._take_pending() + chunk
        elif self._condenser is not None or begun:
            start = chunk.find(b"\n") + 1
            self._append(chunk[:start] if start else chunk)
            if not start:
                return
            self._end_line()
        end = chunk.rfind(b"\n", start) + 1
        if end > start:
            self._on_block(chunk[start:end])
        self._append(chunk[max(start, end) :])

    def finish(self) -> None:
        """Hand on a last line that no newline ended; nothing after a newline."""
        if self._condenser is not None or self._pending.tell():
            self._end_line()

    def _append(self, part: bytes) -> None:
        if self._condenser is None and self._pending.tell() + len(part) > self._limit:
            self._condenser = Condenser(self._limit)
            self._condenser.feed(self._take_pending())
        if self._condenser is None:
            self._pending.write(part)
        else:
            self._condenser.feed(part)

    def _end_line(self) -> None:
        line = self._take_pending() if self._condenser is None else self._condenser.finish()
        self._condenser = None
        self._on_block(line)

    def _take_pending(self) -> bytes:
        data, self._pending = self._pending.getvalue(), io.BytesIO()
        return data


def each_line(on_line: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Takes blocks, and hands on each line without its newline."""

    def on_block(block: bytes) -> None:
        for line in split_lines(block):
            on_line(line)

    return on_block


def iterate_blocks(path: Path) -> Iterator[bytes]:
    """The lines of a file in blocks, as a sink hands them on; OSError where it cannot be read."""
    blocks: list[bytes] = []
    splitter = LineBlocks(blocks.append)
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(READ_BYTES):
            splitter.feed(chunk)
            yield from blocks
            blocks.clear()
    splitter.finish()
    yield from blocks


class TranscriptSink:
    """Writes one output stream, redacted, to a new file and feeds its lines on in blocks.

    The file is readable by its owner alone, replaces an older one, and gets each chunk at once:
    it is complete up to the last byte that the redactor did not have to hold back, even if we
    are killed. `on_block` gets whole lines as they are in the file; a line beyond `line_limit`
    bytes is condensed for it, and whole in the file. Raises HarnessError where the
    file cannot be made, OSError where it cannot be written.
    """

    def __init__(
        self,
        path: Path | str,
        redactor: Redactor,
        on_block: Callable[[bytes], None],
        *,
        terminal_seen: Callable[[], bool] = _never,
        settled: Callable[[], bool] = _never,
        line_limit: int = LINE_LIMIT,
    ) -> None:
        self._stream = redactor.stream()
        self._lines = LineBlocks(on_block, line_limit)
        self._terminal_seen = terminal_seen
        self._settled = settled
        self._taken = 0
        self._tail = b""
        self._descriptor = _create(path)

    @property
    def terminal_seen(self) -> bool:
        """What the reader says of the lines so far."""
        return self._terminal_seen()

    @property
    def settled(self) -> bool:
        """What is said of the verdict so far."""
        return self._settled()

    @property
    def taken(self) -> int:
        """Bytes that came, before secrets were taken out."""
        return self._taken

    @property
    def tail(self) -> bytes:
        """The end of what is in the file, at most `TAIL_BYTES` of it."""
        return self._tail

    def write(self, chunk: bytes) -> None:
        """Redact, store and hand on; the file comes first, so that it lacks nothing."""
        self._taken += len(chunk)
        self._store(self._stream.feed(chunk))

    def close(self) -> None:
        """Store what was held back, feed the last line, close the file; later calls do nothing."""
        if self._descriptor < 0:
            return
        try:
            self._store(self._stream.flush())
            self._lines.finish()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1

    def _store(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]
        self._tail = (self._tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        self._lines.feed(data)


class MemorySink:
    """Keeps the first `limit` bytes of a stream, for short answers such as a version."""

    terminal_seen = False
    settled = False

    def __init__(self, limit: int = 1024 * 1024) -> None:
        self._limit = limit
        self._data = bytearray()

    @property
    def data(self) -> bytes:
        """What was kept."""
        return bytes(self._data)

    def write(self, chunk: bytes) -> None:
        """Keep what there is room for."""
        self._data += chunk[: self._limit - len(self._data)]

    def close(self) -> None:
        """Nothing is open."""


def _create(path: Path | str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
        os.fchmod(descriptor, 0o600)  # it may have been there with another mode
    except OSError as error:
        raise HarnessError(
            f"the transcript {path} cannot be written: {error.strerror}",
            remedy="see that the artifact folder can be written to and has space left",
        ) from error
    return descriptor
