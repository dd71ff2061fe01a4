"""Reads documents that people and batches wrote; every error names file, line or field."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from routing_action.errors import DocumentError
from routing_action.files.json_text import JsonText

_LONGEST_PLACE = 200

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
        raise DocumentError(
            "not UTF-8 text", file=file, line=line, remedy="save the file as UTF-8"
        ) from None


def validate(
    model: type[Model],
    document: JsonText,
    path: Sequence[str | int],
    item: object,
    *,
    remedy: str = "",
    guide: str = "",
) -> Model:
    """Build a model, or name line, field and remedy of the first thing that is wrong.

    `guide` is the remedy for a wrong field, `remedy` the one for what has no nearer one.
    """
    try:
        return model.model_validate(item)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = [part for part in first["loc"] if part != "[key]"]
        raise DocumentError(
            explain_fault(first["type"], first["msg"], first.get("ctx", {})),
            file=document.file,
            line=document.line_of([*path, *where]),
            field=name_field((*path, *where)),
            remedy=_remedy(model, first["type"], where) or guide or remedy,
        ) from None


def explain_fault(kind: str, message: str, context: Mapping[str, object]) -> str:
    """What pydantic found wrong with a field, in words for people."""
    if kind == "extra_forbidden":
        return "unknown field"
    if kind == "missing":
        return "is missing"
    if kind in ("too_long", "string_too_long"):
        what = "entries" if kind == "too_long" else "characters"
        return f"has more than {context['max_length']} {what}"
    return message.removeprefix("Value error, ")


def name_field(where: Sequence[str | int]) -> str:
    """A place in a document as people write it: `cases[3].prompt`."""
    text = ""
    for part in where:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text if len(text) <= _LONGEST_PLACE else f"{text[:_LONGEST_PLACE]}…"


def _remedy(model: type[BaseModel], kind: str, where: Sequence[str | int]) -> str:
    if kind in ("too_long", "string_too_long"):
        return "shorten it, or split what it is for"
    if kind == "extra_forbidden" and where:
        close = difflib.get_close_matches(
            str(where[-1])[:_LONGEST_PLACE], list(model.model_fields), n=1
        )
        return f"did you mean {close[0]}?" if close else "see docs/reference/cases.md"
    return ""
