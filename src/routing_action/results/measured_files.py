"""Finds and loads results.json files for a comparison, fast and as lean rows.

It reads what jobs uploaded: every file is hostile until its types and its rows are checked.
`store.documents.read_results` reads one file in full; this module leaves out what no comparison
needs.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import msgspec

from routing_action.errors import DocumentError
from routing_action.files.documents import decode_text, read_bytes
from routing_action.files.json_text import JsonText
from routing_action.results.batch_folder import RESULTS_FILE
from routing_action.results.measured import (
    MeasuredBatch,
    MeasuredOptions,
    MeasuredRow,
    NamedBatch,
)
from routing_action.results.row_blocks import has_run_layout, split_rows

MAX_BYTES = 512 * 2**20
MAX_DEPTH = 6
MAX_FILES = 2000
SCHEMA_VERSION = 1

_MAX_LINE_BYTES = 32 * 2**20
"""Above this size an error names the field alone: finding the line would take seconds."""

_ARTIFACT = re.compile(r"routing-results-(?P<key>.+)-a(?P<attempt>[1-9]\d{0,5})")
_PLACE = re.compile(r"^(?P<cause>.*) - at `(?P<path>\$[^`]*)`$", re.DOTALL)
_STEP = re.compile(r"\.(?P<name>\w+)|\[(?P<index>\d+)\]")
_BYTE = re.compile(r" \(byte (?P<offset>\d+)\)$")
_BOM = b"\xef\xbb\xbf"
_NO_FOLDER = "name a batch's folder, an artifacts folder, or a results.json"
_DAMAGED = "run again, or download the artifact again: the file is not what a run writes"

_CAUSES = {
    "Expected `str` of length >= 1": "is empty",
    "Expected `int` >= 1": "counts from 1",
}
_BATCH = msgspec.json.Decoder(MeasuredBatch)
_ROWS = msgspec.json.Decoder(list[MeasuredRow])


class _Version(msgspec.Struct):
    schema_version: int | None = None


_VERSION = msgspec.json.Decoder(_Version)


def read_batches(paths: Sequence[Path]) -> list[NamedBatch]:
    """Load each results.json that a path is, or that a folder holds, in a stable order.

    Folders are searched `MAX_DEPTH` levels deep; hidden folders and symbolic links are passed
    over. A file that several paths lead to is read once. Key and attempt come from the folder
    `routing-results-<key>-a<attempt>` that a file lies in, else from the batch's options. Raises
    DocumentError with file, field and line where one of them cannot be compared.
    """
    return [_read_batch(file) for file in find_result_files(paths)]


def find_result_files(paths: Sequence[Path]) -> list[Path]:
    """Each results.json that a path is, or that a folder holds, once and in a stable order."""
    files = {os.path.realpath(file): file for path in paths for file in _find_files(path)}
    return list(files.values())


def _find_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found: list[Path] = []
    waiting = [(path, 0)]
    while waiting:
        folder, depth = waiting.pop()
        below: list[Path] = []
        for name, is_folder in _list_folder(folder):
            if is_folder and depth < MAX_DEPTH:
                below.append(folder / name)
            elif not is_folder and name == RESULTS_FILE:
                found.append(folder / name)
        if len(found) > MAX_FILES:
            raise DocumentError(
                f"holds more than {MAX_FILES} files called {RESULTS_FILE}",
                file=str(path),
                remedy="name the folder of one run",
            )
        waiting += [(child, depth + 1) for child in reversed(below)]
    if not found:
        raise DocumentError(
            f"holds no {RESULTS_FILE} within {MAX_DEPTH} levels", file=str(path), remedy=_NO_FOLDER
        )
    return found


def _list_folder(folder: Path) -> list[tuple[str, bool]]:
    """Names of plain files and visible folders, sorted, and whether each is a folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if entry.is_file(follow_symlinks=False)
                or (entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."))
            )
    except OSError as error:
        raise DocumentError(
            f"cannot be listed: {error.strerror}", file=str(folder), remedy=_NO_FOLDER
        ) from None


def _read_batch(path: Path) -> NamedBatch:
    file = str(path)
    batch = _read_in_blocks(path) or _read_whole(path, file)
    _check(batch, file)
    key, attempt = name_batch(path, batch.options)
    return NamedBatch(file=file, batch=batch, key=key, attempt=attempt)


def _read_in_blocks(path: Path) -> MeasuredBatch | None:
    """A file as a run writes it, in little memory; None where it has to be read in one piece.

    That is a file in another layout, one that is no plain file, and one with anything wrong.
    """
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            if not has_run_layout(stream, MAX_BYTES):
                return None
            head, blocks = split_rows(stream)
            batch = _BATCH.decode(head)
            rows = itertools.chain.from_iterable(map(_ROWS.decode, blocks))
            return msgspec.structs.replace(batch, results=tuple(rows))
    except (OSError, ValueError, RecursionError):
        return None


def _read_whole(path: Path, file: str) -> MeasuredBatch:
    data = read_bytes(path, MAX_BYTES, _NO_FOLDER).removeprefix(_BOM)
    try:
        return _BATCH.decode(data)
    except msgspec.ValidationError as error:
        raise _wrong_field(data, file, str(error)) from None
    except msgspec.DecodeError as error:
        raise _no_json(data, file, str(error)) from None
    except UnicodeDecodeError:
        decode_text(data, file)  # names the line
        raise
    except RecursionError:
        raise DocumentError("nested too deeply", file=file, remedy=_DAMAGED) from None


def name_batch(path: Path, options: MeasuredOptions) -> tuple[str, int]:
    """The key and attempt of a batch: its artifact's, else those that it was planned with."""
    for parent in path.absolute().parents:
        match = _ARTIFACT.fullmatch(parent.name)
        if match:
            return match["key"], int(match["attempt"])
    return options.matrix_key or ",".join(options.agents), options.attempt


def _wrong_field(data: bytes, file: str, message: str) -> DocumentError:
    version = _version_of(data)
    if version != SCHEMA_VERSION:
        return _other_version(file, version)
    match = _PLACE.match(message)
    cause, place = (match["cause"], match["path"]) if match else (message, "$")
    steps = [
        found["name"] or int(found["index"])
        for found in _STEP.finditer(place.partition("[...]")[0])
    ]
    cause = _CAUSES.get(cause, cause).replace("`", "'")
    field = place.removeprefix("$").removeprefix(".")
    line = _line_of(data, file, steps)
    return DocumentError(cause, file=file, line=line, field=field, remedy=_DAMAGED)


def _line_of(data: bytes, file: str, steps: Sequence[str | int]) -> int | None:
    """The line of a field; None where looking for it costs too much, or leads astray."""
    if len(data) > _MAX_LINE_BYTES:
        return None
    try:
        return JsonText(file, data.decode("utf-8", "replace")).line_of(steps)
    except (ValueError, RecursionError):
        return None


def _version_of(data: bytes) -> int | None:
    try:
        return _VERSION.decode(data).schema_version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _other_version(file: str, version: int | None) -> DocumentError:
    return DocumentError(
        f"schema_version is {version!r}, this release reads {SCHEMA_VERSION}",
        file=file,
        field="schema_version",
        remedy="use the release of routing-action that wrote it",
    )


def _no_json(data: bytes, file: str, message: str) -> DocumentError:
    match = _BYTE.search(message)
    offset = int(match["offset"]) if match else len(data)
    cause = _BYTE.sub("", message).removeprefix("JSON is malformed: ")
    line = data.count(b"\n", 0, offset) + 1
    return DocumentError(f"no valid JSON: {cause}", file=file, line=line, remedy=_DAMAGED)


def _check(batch: MeasuredBatch, file: str) -> None:
    """Refuse a row that is there twice; which one it is, is sought only where one is."""
    if batch.schema_version != SCHEMA_VERSION:
        raise _other_version(file, batch.schema_version)
    rows = batch.results
    # Sets that are built in C: a loop over the rows costs several times as much.
    trials = set(map(attrgetter("agent", "case_id", "trial"), rows))
    ids = set(map(attrgetter("unit_run_id"), rows))
    if len(trials) < len(rows) or len(ids) < len(rows):
        raise _bad_row(rows, file)


def _bad_row(rows: Sequence[MeasuredRow], file: str) -> DocumentError:
    """The first row that repeats another one."""
    trials: dict[tuple[str, str, int], int] = {}
    ids: dict[str, int] = {}
    for place, row in enumerate(rows):
        first = trials.setdefault((row.agent, row.case_id, row.trial), place)
        if first != place:
            what = f"{row.agent}:{row.case_id} trial {row.trial} is already results[{first}]"
            return _row_error(file, place, "trial", what)
        first = ids.setdefault(row.unit_run_id, place)
        if first != place:
            what = f"{row.unit_run_id} is already that of results[{first}]"
            return _row_error(file, place, "unit_run_id", what)
    raise AssertionError("no row is bad")  # pragma: no cover - called for a bad row alone


def _row_error(file: str, place: int, name: str, cause: str) -> DocumentError:
    return DocumentError(cause, file=file, field=f"results[{place}].{name}", remedy=_DAMAGED)
