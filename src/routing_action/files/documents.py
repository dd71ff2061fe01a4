"""Reads documents that people and batches wrote; every error names file, line or field."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from routing_action.errors import DocumentError
from routing_action.files.json_slips import find_conflict
from routing_action.files.json_text import JsonText
from routing_action.files.nearest import suggest

_LONGEST_PLACE = 200
_MOST_PARTS = 12
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'")
_SHOULD = re.compile(r"^(?:Input|String|Value) should")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PLACE = re.compile(r"\(at line (\d+), column \d+\)")

Model = TypeVar("Model", bound=BaseModel)


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
        cause = "UTF-16, not UTF-8 text" if data.startswith(_UTF_16) else "not UTF-8 text"
        raise DocumentError(cause, file=file, line=line, remedy="save the file as UTF-8") from None


def parse_toml(data: bytes, file: str, remedy: str) -> dict[str, Any]:
    """The value of a file's bytes; DocumentError, with the line, for what is not TOML.

    A key of thousands of parts would keep tomllib busy for minutes; 12 are let through.
    """
    text = decode_text(data, file).replace("\r\n", "\n")
    for line, words in enumerate(_QUOTED.sub("", text).split("\n"), start=1):
        if words.partition("#")[0].count(".") > _MOST_PARTS:
            cause = f"a key of more than {_MOST_PARTS} parts"
            raise DocumentError(cause, file=file, line=line, remedy=remedy)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        if conflict := find_conflict(text):
            line = text.count("\n", 0, conflict.offset) + 1
            raise DocumentError(
                conflict.cause, file=file, line=line, remedy=conflict.remedy
            ) from None
        found = _PLACE.search(str(error))
        cause = _PLACE.sub("", str(error)).strip()[:500]
        raise DocumentError(
            f"not TOML: {cause}", file=file, line=int(found[1]) if found else None, remedy=remedy
        ) from None


def validate(
    model: type[Model],
    document: JsonText,
    path: Sequence[str | int],
    item: object,
    *,
    remedy: str = "",
    owner: str = "",
    page: str = "",
) -> Model:
    """Build a model, or name line, field and remedy of the first thing that is wrong.

    `remedy` is for what has no nearer one. With an `owner` (`case one`) a field is named from
    there on, else by its whole path. `page` is that of the documentation.
    """
    try:
        return model.model_validate(item)
    except ValidationError as error:
        fault = find_fault(error)
        near = fault.remedy
        if fault.kind == "extra_forbidden" and fault.where:
            known = model.model_fields
            near = suggest(fault.where[-1], known, f"the fields here are {', '.join(known)}")
        raise DocumentError(
            fault.cause,
            file=document.file,
            line=document.line_of([*path, *fault.where]),
            owner=owner,
            field=name_field(fault.where if owner else (*path, *fault.where)),
            remedy=near or remedy,
            page=page,
        ) from None


class Fault(NamedTuple):
    """What a model did not take: pydantic's name for it, words for people, place and remedy."""

    kind: str
    cause: str
    where: list[str | int]
    remedy: str


def find_fault(error: ValidationError) -> Fault:
    """The first thing that is wrong."""
    return describe_fault(first_error(error))


def describe_fault(first: ErrorDetails) -> Fault:
    """A fault in words; the remedy is "" where the cause says it all."""
    cause = _SHOULD.sub("must", first["msg"].removeprefix("Value error, "))
    cause, remedy = _PLAIN.get(first["type"], (cause, ""))
    if first["type"] in ("too_long", "string_too_long"):
        what = "entries" if first["type"] == "too_long" else "characters"
        cause = f"has more than {first['ctx']['max_length']} {what}"
        remedy = "shorten it, or split what it is for"
    where = [part for part in first["loc"] if part != "[key]"]
    return Fault(first["type"], cause, where, remedy)


def first_error(error: ValidationError) -> ErrorDetails:
    """The first thing that is wrong, as pydantic has it.

    A field that is missing may be there under a misspelt name, which then comes first.
    """
    first, *more = error.errors(include_url=False)
    if first["type"] == "missing":
        misspelt = (one for one in more if one["type"] == "extra_forbidden")
        beside = (one for one in misspelt if one["loc"][:-1] == first["loc"][:-1])
        first = next(beside, first)
    return first


_LIST = ("must be a list", 'write ["one", "two"]')
_OBJECT = ("must be an object", 'write {"name": "value"}')
_PLAIN = {
    **dict.fromkeys(("tuple_type", "list_type"), _LIST),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), _OBJECT),
    "extra_forbidden": ("unknown field", ""),
    "missing": ("is missing", "add it"),
    "string_type": ("must be a text", "write a text in double quotes"),
    "bool_type": ("must be true or false", "write true or false without quotes"),
}


def name_field(where: Sequence[str | int]) -> str:
    """A place in a document as people write it: `cases[3].prompt`."""
    text = ""
    for part in where:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text if len(text) <= _LONGEST_PLACE else f"{text[:_LONGEST_PLACE]}…"
