"""A batch's journal: what was planned and what had ended, on disk as it happens.

One JSON object a line, each appended by a single write to a file that is locked as long as its
batch runs; docs/reference/journal.md describes the records. It starts nothing and judges nothing.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.results.journal_records import RECORD, Record, Recovered, apply_record

JOURNAL_FILE = "journal.jsonl"
MAX_JOURNAL_BYTES = 512 * 2**20
PATIENCE_SECONDS = 3.0
_PAUSE_SECONDS = 0.05
_BLOCK_BYTES = 2**20
_OPEN = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_REMEDY = "start a new batch; the journal is written by the harness alone"


class Journal:
    """An open journal, locked for this process until it is closed."""

    def __init__(self, path: Path, descriptor: int, patience: float = 0.0) -> None:
        """Lock what was opened, within so many seconds; `create` and `reopen` are the ways in."""
        self.path = path
        self._descriptor = descriptor
        self._size: int | None = None  # of whole records, once one was added: nobody else adds any
        end = time.monotonic() + patience
        while not _lock(descriptor):
            if time.monotonic() >= end:
                self.close()
                raise UsageError(
                    f"the batch {path.parent.name} is still running",
                    remedy="wait for its end, or interrupt it first",
                )
            time.sleep(_PAUSE_SECONDS)

    @classmethod
    def create(cls, path: Path) -> Journal:
        """Start the journal of a new batch."""
        try:
            return cls(path, os.open(path, _OPEN | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            raise _unwritable(path, error) from None

    @classmethod
    def reopen(cls, path: Path, patience: float = 0.0) -> Journal:
        """Open a batch's journal again; UsageError where the batch is still running.

        A child that a killed harness was just about to start holds the lock until it runs its
        program: `PATIENCE_SECONDS` are enough for that.
        """
        try:
            journal = cls(path, os.open(path, _OPEN), patience)
        except FileNotFoundError:
            raise DocumentError(
                "no such file", file=str(path), remedy="name a batch that `run` left behind"
            ) from None
        except OSError as error:
            cause = f"cannot be opened: {error.strerror} (a link is not followed)"
            raise DocumentError(cause, file=str(path), line=1, remedy=_REMEDY) from None
        return journal

    def append(self, record: Record, *, durable: bool = False) -> None:
        """Add a record; with `durable` it outlives a crash of the machine too.

        Where it cannot be written whole, nothing of it stays, and HarnessError is raised.
        """
        line = record.model_dump_json(by_alias=True).encode() + b"\n"
        if self._size is None:
            self._size = os.fstat(self._descriptor).st_size
        try:
            written = os.write(self._descriptor, line)
            if written < len(line):  # the disk is full: the next write says so by its error
                written += os.write(self._descriptor, line[written:])
            if written < len(line):
                os.ftruncate(self._descriptor, self._size)
                raise HarnessError(
                    f"{self.path}: cannot be written: no space for a whole record", remedy=_SPACE
                )
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, self._size)
            raise _unwritable(self.path, error) from None
        self._size += len(line)

    def recover(self) -> Recovered:
        """Read it all and drop a torn last line, which a kill or a crash can leave.

        Raises DocumentError with the line of the first record that is none of ours.
        """
        recovered, size = _read(self._descriptor, self.path)
        os.ftruncate(self._descriptor, size)
        self._size = size
        return recovered

    def look(self) -> Recovered:
        """The same without a change to the file."""
        return _read(self._descriptor, self.path)[0]

    def close(self) -> None:
        """Unlock and close; later calls do nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _lock(descriptor: int) -> bool:
    """False where another one holds it; True also on a file system that knows no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


_SPACE = "free space there, then go on with `routing-action run --resume BATCH`"


def _unwritable(path: Path, error: OSError) -> HarnessError:
    return HarnessError(f"{path}: cannot be written: {error.strerror}", remedy=_SPACE)


def _read(descriptor: int, path: Path) -> tuple[Recovered, int]:
    """What the whole lines tell, and how many bytes they are."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_JOURNAL_BYTES:
        cause = f"not a regular file of at most {MAX_JOURNAL_BYTES} bytes"
        raise DocumentError(cause, file=str(path), line=1, remedy=_REMEDY)
    recovered: Recovered | None = None
    size = number = 0
    for number, line in enumerate(_whole_lines(descriptor), start=1):
        size += len(line)
        try:
            recovered = apply_record(recovered, RECORD.validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise _bad_record(path, number, first["msg"], first["loc"]) from None
        except ValueError as error:
            raise _bad_record(path, number, str(error), ()) from None
    if recovered is None:
        raise DocumentError(
            "holds no plan: the batch ended before anything was started",
            file=str(path),
            line=1,
            remedy="start a new batch",
        )
    return recovered, size


def _whole_lines(descriptor: int) -> Iterator[bytes]:
    """Each line with its newline; a last one without is torn, and left out."""
    offset, pending = 0, bytearray()
    while block := os.pread(descriptor, _BLOCK_BYTES, offset):
        offset += len(block)
        *lines, rest = block.split(b"\n")
        for line in lines:
            yield bytes(pending) + line + b"\n"
            pending.clear()
        pending += rest


def _bad_record(path: Path, line: int, cause: str, where: tuple[int | str, ...]) -> DocumentError:
    names = ".".join(str(part) for part in where[1:])
    if names == "journal":
        cause, names = "another version of the journal; this release reads 1", ""
        remedy = "resume it with the release of routing-action that wrote it"
        return DocumentError(cause, file=str(path), line=line, field="journal", remedy=remedy)
    return DocumentError(cause, file=str(path), line=line, field=names, remedy=_REMEDY)
