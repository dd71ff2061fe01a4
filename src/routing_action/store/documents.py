"""Reads the documents that people and batches wrote; every error names file, line or field."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from routing_action.domain.case import Case
from routing_action.domain.naming import fold
from routing_action.domain.plan import DEFAULT_CASES_FILE
from routing_action.domain.results import Results
from routing_action.errors import DocumentError
from routing_action.store.json_text import JsonText

Model = TypeVar("Model", bound=BaseModel)

MAX_CASES_BYTES = 16 * 2**20
MAX_RESULTS_BYTES = 256 * 2**20
DEFAULT_CASE_FILES = (DEFAULT_CASES_FILE, "tests/agent-routing/cases.json")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The cases of a file, in its order, with the line of each and the SHA-256 of its bytes."""

    file: str
    cases: tuple[Case, ...]
    lines: dict[str, int]
    sha256: str


def read_text(path: Path, limit: int, *, remedy: str = "") -> str:
    """The text of a UTF-8 file, without a BOM, of at most `limit` bytes."""
    return decode_text(read_bytes(path, limit, remedy), str(path))


def read_bytes(path: Path, limit: int, remedy: str) -> bytes:
    """The content of a file of at most `limit` bytes; `remedy` is for a file that is not there."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise DocumentError("no such file", file=str(path), remedy=remedy) from None
    except IsADirectoryError:
        raise DocumentError("this is a folder", file=str(path), remedy=remedy) from None
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", file=str(path)) from None
    if len(data) > limit:
        raise DocumentError(f"larger than {limit} bytes", file=str(path), remedy="split it")
    return data


def decode_text(data: bytes, file: str) -> str:
    """Decode UTF-8 and name the line of the first bad byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(
            "not UTF-8 text", file=file, line=line, remedy="save the file as UTF-8"
        ) from None


def find_cases_file(root: Path) -> Path:
    """The case file where none is named: `cases.json`, else the earlier harness's place."""
    for name in DEFAULT_CASE_FILES:
        if (root / name).is_file():
            return root / name
    above = [
        folder for folder in root.resolve().parents if (folder / DEFAULT_CASE_FILES[0]).is_file()
    ]
    if above:
        raise DocumentError(
            "no case file in this folder",
            file=str(root / DEFAULT_CASE_FILES[0]),
            remedy=f"run from {above[0]}, which has one, or name it with --cases FILE",
        )
    raise DocumentError(
        "no case file",
        file=str(root / DEFAULT_CASE_FILES[0]),
        remedy="name one with --cases FILE, or start one: `routing-action cases init --skills DIR`",
    )


def read_cases(path: Path) -> Corpus:
    """The cases of a file: a list, or an object with a list under `cases`."""
    return parse_cases(
        read_bytes(path, MAX_CASES_BYTES, "name the case file with --cases FILE"), str(path)
    )


def parse_cases(data: bytes, file: str) -> Corpus:
    """The cases of a file's bytes; `file` is its name for people."""
    document = JsonText(file, decode_text(data, file))
    value = document.decode()
    prefix: tuple[str | int, ...] = ()
    if isinstance(value, dict):
        prefix = ("cases",)
        value = _only_cases(value, document)
    if not isinstance(value, list):
        raise DocumentError(
            "must be a list of cases",
            file=file,
            line=1,
            remedy='write [ {"case_id": ...}, ... ] or {"cases": [ ... ]}',
        )
    cases = tuple(_case(document, (*prefix, place), item) for place, item in enumerate(value))
    places = document.lines_of_items(prefix)
    lines = {case.case_id: line for case, line in zip(cases, places, strict=True)}
    _refuse_duplicates(document, prefix, cases)
    return Corpus(file, cases, lines, hashlib.sha256(data).hexdigest())


def _only_cases(value: dict[str, object], document: JsonText) -> object:
    unknown = sorted(set(value) - {"cases", "$schema"})
    if unknown or "cases" not in value:
        field = unknown[0] if unknown else "cases"
        cause = "unknown key" if unknown else "is missing"
        raise DocumentError(
            cause,
            file=document.file,
            line=document.line_of([field] if unknown else []),
            field=field,
            remedy='the file is a list of cases, or {"cases": [ ... ]}',
        )
    return value["cases"]


def _case(document: JsonText, path: tuple[str | int, ...], item: object) -> Case:
    return validate(Case, document, path, item)


def validate(
    model: type[Model],
    document: JsonText,
    path: Sequence[str | int],
    item: object,
    *,
    remedy: str = "",
) -> Model:
    """Build a model, or name line, field and remedy of the first thing that is wrong.

    `remedy` is for what has no nearer one.
    """
    try:
        return model.model_validate(item)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = [part for part in first["loc"] if part != "[key]"]
        raise DocumentError(
            _cause(first["msg"], first["type"]),
            file=document.file,
            line=document.line_of([*path, *where]),
            field=name_field((*path, *where)),
            remedy=_remedy(model, first["type"], where) or remedy,
        ) from None


def _cause(message: str, kind: str) -> str:
    if kind == "extra_forbidden":
        return "unknown field"
    if kind == "missing":
        return "is missing"
    return message.removeprefix("Value error, ")


def name_field(where: Sequence[str | int]) -> str:
    """A place in a document as people write it: `cases[3].prompt`."""
    text = ""
    for part in where:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _remedy(model: type[BaseModel], kind: str, where: Sequence[str | int]) -> str:
    if kind == "extra_forbidden" and where:
        close = difflib.get_close_matches(str(where[-1]), list(model.model_fields), n=1)
        return f"did you mean {close[0]}?" if close else "see docs/reference/cases.md"
    return "see docs/reference/cases.md" if model is Case else ""


def _refuse_duplicates(
    document: JsonText, prefix: tuple[str | int, ...], cases: Sequence[Case]
) -> None:
    first: dict[str, int] = {}
    for place, case in enumerate(cases):
        earlier = first.setdefault(fold(case.case_id), place)
        if earlier != place:
            raise DocumentError(
                f"case_id {case.case_id!r} is also given on line "
                f"{document.line_of((*prefix, earlier))}",
                file=document.file,
                line=document.line_of((*prefix, place)),
                field="case_id",
                remedy="give each case an id of its own (case does not tell them apart)",
            )


def read_results(path: Path) -> Results:
    """A results.json of this schema version, its counts checked."""
    text = read_text(path, MAX_RESULTS_BYTES, remedy="run `routing-action run` first")
    document = JsonText(str(path), text)
    value = document.decode()
    version = value.get("schema_version") if isinstance(value, dict) else None
    if version != 1:
        raise DocumentError(
            f"schema_version is {version!r}, this release reads 1",
            file=str(path),
            field="schema_version",
            remedy="use the release of routing-action that wrote it",
        )
    return validate(Results, document, (), value)
