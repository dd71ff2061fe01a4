"""Where the output of a process goes: redacted into a file, and line by line to a reader.

Holds no more than one line, and takes no notice of what the lines say.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from routing_action.errors import HarnessError
from routing_action.evidence.transcript import LINE_LIMIT
from routing_action.files.redaction import Redactor

READ_BYTES = 256 * 1024
TAIL_BYTES = 4000
"""So much of the end of a stream is kept, for people."""


class LineSplitter:
    """Cuts a stream at newline bytes alone, and hands on each line without its newline.

    U+2028, U+0085, form feeds and carriage returns end no line: they can stand in a JSON string.
    A line of more than `limit` bytes is cut to one byte more than that, by which a reader knows it.
    """

    def __init__(self, on_line: Callable[[bytes], object], limit: int = LINE_LIMIT) -> None:
        self._on_line = on_line
        self._most = limit + 1
        self._parts: list[bytes] = []
        self._room = self._most

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        *ended, rest = chunk.split(b"\n")
        if ended and self._parts:
            self._add(ended.pop(0))
            self.finish()
        for line in ended:
            self._on_line(line[: self._most])
        self._add(rest)

    def finish(self) -> None:
        """Hand on a last line that no newline ended; nothing after a newline."""
        if self._parts:
            line = b"".join(self._parts)
            self._parts.clear()
            self._room = self._most
            self._on_line(line)

    def _add(self, part: bytes) -> None:
        part = part[: self._room]
        if part:
            self._parts.append(part)
            self._room -= len(part)


def iterate_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, as a sink hands them on; OSError where it cannot be read."""
    lines: list[bytes] = []
    splitter = LineSplitter(lines.append)
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(READ_BYTES):
            splitter.feed(chunk)
            yield from lines
            lines.clear()
    splitter.finish()
    yield from lines


class TranscriptSink:
    """Writes one output stream, redacted, to a new file and feeds its lines on.

    The file is readable by its owner alone, replaces an older one, and gets each chunk at once:
    it is complete up to the last byte that the redactor did not have to hold back, even if we
    are killed. `on_line` gets the lines as a LineSplitter cuts them. `taken` counts the bytes that
    came, before secrets were taken out; `tail` is the end of what is in the file, at most
    `TAIL_BYTES` of it. Raises HarnessError where the file cannot be made, OSError where it cannot
    be written.
    """

    def __init__(
        self,
        path: Path | str,
        redactor: Redactor,
        on_line: Callable[[bytes], object],
        *,
        terminal_seen: Callable[[], bool] = lambda: False,
        settled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stream = redactor.stream()
        self._lines = LineSplitter(on_line)
        self._terminal_seen = terminal_seen
        self._settled = settled
        self.taken = 0
        self.tail = b""
        self._digest = hashlib.sha256()
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
    def sha256(self) -> str:
        """The SHA-256 of what was written, in hexadecimal digits."""
        return self._digest.hexdigest()

    def write(self, chunk: bytes) -> None:
        """Redact, store and hand on; the file comes first, so that it lacks nothing."""
        self.taken += len(chunk)
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
        self._digest.update(data)
        self.tail = (self.tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        self._lines.feed(data)


def redact_file(redactor: Redactor, path: Path, sha256: str | None) -> str:
    """Take secrets out of a transcript that was written before these were known; its new SHA-256.

    Raises HarnessError where it is not what was written.
    """
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise HarnessError(
            f"{path} was changed after it was written",
            remedy="see in the transcripts which unit did that, and start a new batch",
        )
    clean = redactor.data(data)
    path.write_bytes(clean)
    return hashlib.sha256(clean).hexdigest()


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
            remedy="check that the artifact folder can be written to and has free space",
        ) from error
    return descriptor
