"""Reads results.json files, a block of rows at a time.

It reads what jobs uploaded: every file is hostile until its types and its rows are checked. One in
the layout that a run writes is never held in memory as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from routing_action.corpus.baseline import Pair
from routing_action.errors import DocumentError
from routing_action.files.documents import decode_text, find_fault, name_field, read_bytes
from routing_action.files.json_text import JsonText
from routing_action.files.versions import check_version
from routing_action.results.find import (
    NO_RESULTS,
    find_artifact,
    find_result_files,
    name_batch,
    split_attempts,
)
from routing_action.results.measured import MeasuredBatch
from routing_action.results.model import (
    SCHEMA_VERSION,
    BatchHead,
    MeasuredRow,
    Results,
    UnitResult,
)
from routing_action.results.row_checks import DAMAGED, check_counts, check_once

MAX_BYTES = 512 * 2**20
BLOCK_BYTES = 2**20

_MAX_LINE_BYTES = 32 * 2**20
"""Above this size an error names the field alone: finding the line would take seconds."""

_START = b'{\n  "'
_HEAD_END = b'\n  "results": [\n'
_ROW_END = b"\n    },\n"
_FILE_END = b"\n  ]\n}"
_SPACE = b" \t\r\n"

Row = TypeVar("Row", bound=MeasuredRow)
_MEASURED = TypeAdapter(list[MeasuredRow])
_WHOLE = TypeAdapter(list[UnitResult])


def read_results(path: Path) -> Results:
    """A whole results.json of this schema version, its counts checked.

    Raises DocumentError with file and field, and the line where it is known.
    """
    head, rows = _open(path, _WHOLE)
    try:
        return Results(**dict(head), results=tuple(rows))
    except ValidationError as error:
        raise _refuse(path, error) from None


def read_batches(paths: Sequence[Path]) -> list[MeasuredBatch]:
    """Load each results.json that a path is, or that a folder holds, in a stable order.

    A file that several paths lead to is read once. Key and attempt come from the outermost folder
    `routing-results-<key>-a<attempt>` that a file lies in, never from one inside it, which an agent
    may have made; without such a folder, from the batch's options. Raises DocumentError with file,
    field and line where one of them cannot be compared, where an artifact holds two of them, or
    where its options name another key or attempt.
    """
    batches = [_read_batch(file) for file in find_result_files(paths)]
    _check_artifacts(batches)
    return batches


def stream_rows(paths: Sequence[Path]) -> Iterator[tuple[Path, Iterator[UnitResult]]]:
    """The rows of each file that `read_batches` would find; of each key the highest attempt's.

    Of batches beside each other, which are no artifacts, the newest one's of each pair.
    """
    files, _ = split_attempts(find_result_files(paths))
    owners: dict[Pair, Path] = {}
    if len(files) > 1:
        heads = {file: _open(file, _WHOLE)[0] for file in files}
        named = [(file, *name_batch(file, head.options)) for file, head in heads.items()]
        best = {key: attempt for _, key, attempt in sorted(named, key=lambda one: one[2])}
        files = [file for file, key, attempt in named if attempt == best[key]]
        alone = [file for file in files if find_artifact(file) is None]
        for file in sorted(alone, key=lambda one: heads[one].generated_at_utc.rstrip("Z")):
            owners |= {(pair.case_id, pair.agent): file for pair in heads[file].pairs}
    for file in files:
        rows = _open(file, _WHOLE)[1]
        yield file, (row for row in rows if owners.get((row.case_id, row.agent), file) == file)


def read_ids(paths: Sequence[Path]) -> set[str]:
    """The id of each batch that `read_batches` would load."""
    return {_open(file, _MEASURED)[0].batch_run_id for file in find_result_files(paths)}


def _read_batch(path: Path) -> MeasuredBatch:
    head, found = _open(path, _MEASURED)
    rows = tuple(map(_shrink, found))
    check_once(rows, path)
    check_counts(head, rows, path)
    key, attempt = name_batch(path, head.options)
    artifact = find_artifact(path)
    planned = (head.options.matrix_key, head.options.attempt)
    if artifact is not None and planned[0] is not None and planned != (key, attempt):
        raise DocumentError(
            f"is attempt {planned[1]} of {planned[0]!r} and lies in the artifact {artifact.name}",
            file=str(path),
            field="options",
            remedy=DAMAGED,
        )
    content = (head.complete, head.options, head.skills, rows)
    told = (str(artifact or ""), head.generated_at_utc)
    batch_run_id = head.batch_run_id
    return MeasuredBatch(str(path), key, attempt, *content, *told, batch_run_id=batch_run_id)


_NO_FIELDS: set[str] = set()


def _shrink(row: MeasuredRow) -> MeasuredRow:
    """The same row without its sets of field names, which nobody asks for: a third of its size."""
    for one in (row, *filter(None, row.token_hits.values())):
        object.__setattr__(one, "__pydantic_fields_set__", _NO_FIELDS)
    return row


def _check_artifacts(batches: Sequence[MeasuredBatch]) -> None:
    """An artifact holds what one run of one leg measured, and nothing beside it."""
    owners: dict[str, str] = {}
    for batch in batches:
        first = owners.setdefault(batch.artifact or batch.file, batch.file)
        if first != batch.file:
            raise DocumentError(
                f"is a second results.json in one artifact, beside {first}",
                file=batch.file,
                remedy="run the leg again: an agent may have written into its artifact",
            )


def _open(path: Path, model: TypeAdapter[list[Row]]) -> tuple[BatchHead, Iterator[Row]]:
    """A results.json without its rows, and the rows, which are read as they are asked for."""
    blocks = _cut_blocks(path) if _has_run_layout(path) else _cut_whole(path)
    data = next(blocks)
    try:
        value = json.loads(data)
    except ValueError:  # it only looked like the layout of a run
        blocks = _cut_whole(path)
        value = json.loads(data := next(blocks))
    content = value if isinstance(value, dict) else {}
    check_version(content, "schema_version", SCHEMA_VERSION, file=str(path))
    try:
        head = BatchHead.model_validate_json(data, strict=True)
    except ValidationError as error:
        raise _refuse(path, error) from None
    return head, _validate(path, blocks, model)


def _validate(
    path: Path, blocks: Iterator[bytes], model: TypeAdapter[list[Row]], count: int = 0
) -> Iterator[Row]:
    """The rows of the blocks, before which `count` rows came."""
    for block in blocks:
        try:
            rows = model.validate_json(block, strict=True)
        except ValidationError as error:
            if error.errors()[0]["type"] != "json_invalid":
                raise _refuse(path, error, count) from None
            _, whole = _cut_whole(path)  # it only looked like the layout of a run
            found = json.loads(whole)
            left = json.dumps(found[count:] if isinstance(found, list) else found).encode()
            yield from _validate(path, iter((left,)), model, count)
            return
        yield from rows
        count += len(rows)


def _refuse(path: Path, error: ValidationError, count: int | None = None) -> DocumentError:
    """What is wrong first, with its place; of a block of rows with the `count` of those before."""
    kind, cause, where, _ = find_fault(error)
    if count is not None:
        where = ["results", *[int(row) + count for row in where[:1]], *where[1:]]
    is_small = path.is_file() and path.stat().st_size <= _MAX_LINE_BYTES
    return DocumentError(
        "is empty" if kind == "string_too_short" else cause,
        file=str(path),
        line=_read_whole(path).line_of(where) if is_small else None,
        field=name_field(where),
        remedy=DAMAGED,
    )


def _has_run_layout(path: Path) -> bool:
    """Whether the rows stand last in the file, indented by four."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return False
        with path.open("rb") as stream:
            start = stream.read(64)
            stream.seek(max(0, path.stat().st_size - 64))
            end = stream.read().rstrip(_SPACE)
    except OSError:
        return False
    return start.startswith(_START) and end.endswith(b"\n    }" + _FILE_END)


def _cut_blocks(path: Path) -> Iterator[bytes]:
    """The batch without its rows, then lists of whole rows, all as JSON.

    Only a line's start can look like the layout of a run: a JSON string holds no raw line end, so
    what is looked for cannot occur inside one.
    """
    with path.open("rb") as stream:
        data = bytearray()
        place = -1
        while place < 0 and (block := stream.read(BLOCK_BYTES)):
            searched = max(0, len(data) - len(_HEAD_END))
            data += block
            place = data.find(_HEAD_END, searched)
        cut = place + len(_HEAD_END)
        yield bytes(data[:cut]) + b"]}"
        parts = [b"[", bytes(data[cut:])]
        while block := stream.read(BLOCK_BYTES):
            cut = block.rfind(_ROW_END)
            if cut < 0:
                parts.append(block)
                continue
            # Without the comma and the line end behind the row.
            yield b"".join((*parts, memoryview(block)[: cut + len(_ROW_END) - 2], b"]"))
            parts = [b"[", block[cut + len(_ROW_END) :]]
        yield b"".join(parts).rstrip(_SPACE).removesuffix(_FILE_END) + b"]"


def _cut_whole(path: Path) -> Iterator[bytes]:
    """The same of a file in any layout, with all rows in one list."""
    document = _read_whole(path)
    try:
        value = document.decode()
    except DocumentError as error:
        error.remedy = DAMAGED  # nobody wrote it by hand
        raise
    rows = value.pop("results", None) if isinstance(value, dict) else None
    yield json.dumps(value).encode()
    yield json.dumps(rows).encode()


def _read_whole(path: Path) -> JsonText:
    return JsonText(str(path), decode_text(read_bytes(path, MAX_BYTES, NO_RESULTS), str(path)))
