"""A batch's journal: a header, then what was started and each row, on disk as it happens.

One JSON object a line, each appended by a single write to a file that is locked as long as its
batch runs; docs/reference/journal.md describes them. It starts nothing and judges nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy
from routing_action.files.plain_files import open_regular
from routing_action.files.versions import check_version
from routing_action.results.model import Count, Options, Timestamp, UnitResult, Uuid4
from routing_action.results.rerun import resume_command

JOURNAL_FILE = "journal.jsonl"
JOURNAL_VERSION: Literal[2] = 2
MAX_JOURNAL_BYTES = 512 * 2**20
PATIENCE_SECONDS = 3.0
_PAUSE_SECONDS = 0.05
_OPEN = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_START = re.compile(rb'\{"start":"([0-9a-f-]{36})"\}\n')
_RESUMED = re.compile(rb'\{"resumed_at_utc":"[0-9T:.Z-]+"\}\n')
_REMEDY = "start a new batch; only the harness writes the journal"

UnitKey: TypeAlias = tuple[str, str, int]
"""Agent, case id and trial: what a unit is, whatever attempt of it ran."""


class Header(BaseModel):
    """The first line: everything that a resumed batch needs to be the same batch.

    `arguments` are those of `run` that repeat it; `templates` the agents' own commands; `units`
    is how many were planned.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    journal: Literal[2] = JOURNAL_VERSION
    written_by: str = ""
    batch_run_id: Uuid4
    at_utc: Timestamp
    arguments: tuple[str, ...]
    templates: dict[str, str] = Field(default_factory=dict)
    options: Options
    units: Count


@dataclass(slots=True)
class EarlierRun:
    """What a journal says: the header, and the row of each unit that ended (not the cancelled).

    `running` are the attempts without a row: what a killed harness may have left running.
    """

    header: Header
    rows: dict[UnitKey, UnitResult] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)


class Journal:
    """An open journal, locked for this process until it is closed.

    `earlier` is what the batch did before it was resumed, None for a new batch.
    """

    def __init__(self, path: Path, descriptor: int, patience: float = 0.0) -> None:
        """Lock what was opened, within so many seconds; `create` and `reopen` are the ways in."""
        self.path = path
        self.earlier: EarlierRun | None = None
        self._descriptor = descriptor
        self._size = os.fstat(descriptor).st_size
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
            return cls(path, os.open(path, _OPEN), patience)
        except OSError as error:
            cause = f"cannot be opened: {error.strerror} (a link is not followed)"
            raise DocumentError(cause, file=str(path), line=1, remedy=_REMEDY) from None

    def look(self) -> EarlierRun:
        """What it says; a torn last line, which a kill or a crash can leave, says nothing.

        Raises DocumentError with the line of the first one that is not ours.
        """
        return _read(self._descriptor, self.path)[0]

    def recover(self) -> EarlierRun:
        """The same, and drop the torn line, so that others can follow."""
        self.earlier, self._size = _read(self._descriptor, self.path)
        os.ftruncate(self._descriptor, self._size)
        return self.earlier

    def begin(self, header: Header) -> None:
        """The first line, which outlives a crash of the machine too."""
        self._append(header.model_dump_json(), durable=True)

    def resume(self, at_utc: str) -> None:
        """The batch continues; nothing is left running of what had been started before."""
        self._append(f'{{"resumed_at_utc":"{at_utc}"}}')

    def start(self, unit_run_id: str) -> None:
        """An attempt is about to be made."""
        self._append(f'{{"start":"{unit_run_id}"}}')

    def end(self, row: UnitResult) -> None:
        """An attempt ended."""
        self._append(row.model_dump_json())

    def _append(self, line: str, *, durable: bool = False) -> None:
        """Where a line cannot be written whole nothing of it stays, and HarnessError is raised."""
        data = line.encode() + b"\n"
        try:
            left = data
            while left:
                left = left[os.write(self._descriptor, left) :]
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, self._size)
            raise _unwritable(self.path, error) from None
        self._size += len(data)

    def close(self) -> None:
        """Unlock and close; later calls do nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_journal(path: Path) -> EarlierRun:
    """What a journal says that no batch works on, as in an artifact; raises as `look` does."""
    try:
        with open_regular(path) as file:
            return _read(file.fileno(), path)[0]
    except OSError as error:
        cause = f"cannot be read: {error.strerror or 'it is no regular file'}"
        raise DocumentError(cause, file=str(path), line=1, remedy=_REMEDY) from None


def _lock(descriptor: int) -> bool:
    """False where another one holds it; True also on a file system that knows no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _unwritable(path: Path, error: OSError) -> HarnessError:
    return HarnessError(
        f"{path}: cannot be written: {error.strerror}",
        remedy=f"free space there, then continue with `{resume_command(path.parent)}`",
    )


def _read(descriptor: int, path: Path) -> tuple[EarlierRun, int]:
    """What the whole lines say, and how many bytes they are."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_JOURNAL_BYTES:
        cause = f"not a regular file of at most {MAX_JOURNAL_BYTES} bytes"
        raise DocumentError(cause, file=str(path), line=1, remedy=_REMEDY)
    earlier: EarlierRun | None = None
    size = 0
    for number, line in enumerate(_whole_lines(descriptor), start=1):
        size += len(line)
        try:
            if earlier is None:
                _check_version(line, path)
                earlier = EarlierRun(Header.model_validate_json(line))
            else:
                _follow(earlier, line)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise _bad_line(path, number, first["msg"], first["loc"]) from None
        except ValueError as error:
            raise _bad_line(path, number, str(error), ()) from None
    if earlier is None:
        raise DocumentError(
            "holds no plan: the batch ended before anything was started",
            file=str(path),
            line=1,
            remedy="start a new batch",
        )
    return earlier, size


def _follow(earlier: EarlierRun, line: bytes) -> None:
    """Take the next line; ValueError where it cannot follow those before it."""
    started = _START.fullmatch(line)
    if started:
        earlier.running.add(started[1].decode())
        return
    if _RESUMED.fullmatch(line):
        earlier.running.clear()
        return
    row = UnitResult.model_validate_json(line)
    key = (row.agent, row.case_id, row.trial)
    if row.unit_run_id not in earlier.running:
        raise ValueError("the row of a unit that was not started")
    if key in earlier.rows:
        raise ValueError(f"the unit {row.agent}:{row.case_id} ended twice")
    earlier.running.discard(row.unit_run_id)
    if row.outcome is not Outcome.CANCELLED and row.ended_by is not EndedBy.CANCELLED:
        earlier.rows[key] = row


def _whole_lines(descriptor: int) -> Iterator[bytes]:
    """Each line with its newline; a last one without is torn, and left out."""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        yield from (line for line in file if line.endswith(b"\n"))


def _bad_line(path: Path, line: int, cause: str, where: tuple[int | str, ...]) -> DocumentError:
    names = ".".join(str(part) for part in where)
    return DocumentError(cause, file=str(path), line=line, field=names, remedy=_REMEDY)


def _check_version(line: bytes, path: Path) -> None:
    """Raise DocumentError for the header of another version; what is no header is for others."""
    with suppress(ValueError, RecursionError):
        header = json.loads(line)
        if isinstance(header, dict) and "journal" in header:
            check_version(header, "journal", JOURNAL_VERSION, file=str(path), line=1)
