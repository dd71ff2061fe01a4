"""Where the output of a process goes: redacted into a file, and line by line to a reader.

Holds no more than one line, and takes no notice of what the lines say.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

from routing_action.errors import HarnessError
from routing_action.harness.redaction import Redactor

LINE_LIMIT = 64 * 1024 * 1024


def _never() -> bool:
    return False


class LineSplitter:
    """Cuts a stream at newline bytes alone, and hands on each line without its newline.

    U+2028, U+0085, form feeds and carriage returns end no line: they can stand in a JSON string.
    Of a line longer than the limit (bytes) only its beginning is handed on.
    """

    def __init__(self, on_line: Callable[[bytes], None], limit: int = LINE_LIMIT) -> None:
        self._on_line = on_line
        self._limit = limit
        self._pending = io.BytesIO()  # grows in place, and gives its buffer away without a copy

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        *complete, rest = chunk.split(b"\n")
        if complete:
            self._append(complete[0])
            self._end_line()
            for line in complete[1:]:
                self._on_line(line[: self._limit])
        self._append(rest)

    def finish(self) -> None:
        """Hand on a last line that no newline ended; nothing after a newline."""
        if self._pending.tell():
            self._end_line()

    def _append(self, part: bytes) -> None:
        room = self._limit - self._pending.tell()
        if part and room > 0:
            self._pending.write(part[:room])

    def _end_line(self) -> None:
        line, self._pending = self._pending.getvalue(), io.BytesIO()
        self._on_line(line)


class TranscriptSink:
    """Writes one output stream, redacted, to a new file and feeds its complete lines on.

    The file is readable by its owner alone, replaces an older one, and gets each chunk at once:
    it is complete up to the last byte that the redactor did not have to hold back, even if we
    are killed. `on_line` gets each line as it is in the file, without its newline; a line beyond
    `line_limit` bytes is cut for `on_line`, and whole in the file. Raises HarnessError where the
    file cannot be made, OSError where it cannot be written.
    """

    def __init__(
        self,
        path: Path,
        redactor: Redactor,
        on_line: Callable[[bytes], None],
        *,
        terminal_seen: Callable[[], bool] = _never,
        line_limit: int = LINE_LIMIT,
    ) -> None:
        self._stream = redactor.stream()
        self._lines = LineSplitter(on_line, line_limit)
        self._terminal_seen = terminal_seen
        self._descriptor = _create(path)

    @property
    def terminal_seen(self) -> bool:
        """What the reader says of the lines so far."""
        return self._terminal_seen()

    def write(self, chunk: bytes) -> None:
        """Redact, store and hand on; the file comes first, so that it lacks nothing."""
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
        self._lines.feed(data)


class MemorySink:
    """Keeps the first `limit` bytes of a stream, for short answers such as a version."""

    terminal_seen = False

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


def _create(path: Path) -> int:
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
