"""From the bytes of a line to a record, and safe access to fields of any type; never raises."""

from __future__ import annotations

import json
import math
import re
import shlex
from typing import Any

import msgspec

Record = dict[str, Any]

_SURROGATES = re.compile("[\ud800-\udfff]")
_BETWEEN = re.compile(r"[ \t\r,]*")
_SHORT = 1000
_LARGEST_AMOUNT = 1e12
_LARGEST_NESTED = 1_000_000
_MOST_DIGITS = 1_000


def decode_record(line: bytes) -> Record | None:
    """The JSON object of a line, None where the line is none.

    Survives a BOM, NUL bytes, invalid UTF-8, lone surrogates and deep nesting.
    """
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = _decode_leniently(line)
    return value if isinstance(value, dict) else None


def _decode_leniently(line: bytes) -> object:
    body = line.strip().removeprefix(b"\xef\xbb\xbf").strip()
    if not body.startswith(b"{") or not body.endswith(b"}"):
        return None
    text = body.decode("utf-8", "replace").replace("\x00", "")
    try:
        value = json.loads(text, strict=False, parse_int=_parse_int)
    except (ValueError, RecursionError):
        return None
    return _without_surrogates(value)


def decode_objects(text: str, start: int) -> tuple[list[tuple[Record, str]], str]:
    """The JSON objects that stand one after the other from `start` on, each with its own text.

    Commas and blanks may stand between them. The text after the last one comes with them.
    """
    found: list[tuple[Record, str]] = []
    place = start
    while text.startswith("{", place):
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        record = as_record(_without_surrogates(value))
        found.append((record, _SURROGATES.sub("\ufffd", text[place:end])))
        start = end
        between = _BETWEEN.match(text, end)
        place = between.end() if between else end
    return found, text[start:]


def _parse_int(digits: str) -> int | float:
    """A number of any length is a number: Python refuses those of thousands of digits."""
    if len(digits) < _MOST_DIGITS:
        return int(digits)
    return -math.inf if digits.startswith("-") else math.inf


_DECODER = json.JSONDecoder(strict=False, parse_int=_parse_int)


def decode_value(text: str) -> object:
    """A JSON value inside a string field, None where it is none or too large."""
    if len(text) > _LARGEST_NESTED:
        return None
    try:
        return _without_surrogates(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


def _without_surrogates(value: object) -> object:
    """The same value, changed in place, with lone surrogates replaced: it can be written as UTF-8.

    Not recursive: the depth of a record must not decide whether it is one.
    """
    whole = [value]
    waiting: list[Any] = [whole]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            items = [(_clean(key), _clean(item)) for key, item in one.items()]
            one.clear()
            one.update(items)
            waiting += one.values()
        elif isinstance(one, list):
            one[:] = map(_clean, one)
            waiting += one
    return whole[0]


def _clean(value: object) -> object:
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else value


def as_record(value: object) -> Record:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    """The value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_list(value: object) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_count(value: object) -> int | None:
    """The value where it is a whole number of zero or more, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def as_amount(value: object) -> float | None:
    """The value where it is a finite number of zero or more, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _LARGEST_AMOUNT else None


def flatten_text(value: object) -> str:
    """The text of a content field: a string, or the texts of a list of content blocks."""
    if isinstance(value, str):
        return value
    parts = (as_text(as_record(item).get("text")) or as_text(item) for item in as_list(value))
    return "\n".join(part for part in parts if part)


def render_arguments(arguments: Record) -> str:
    """The short, single-line arguments of a tool call: its target, never written content."""
    shown = (
        f"{key}={value}"
        for key, value in arguments.items()
        if isinstance(value, str) and len(value) <= _SHORT and "\n" not in value
    )
    return " ".join(shown)


def command_text(value: object) -> str:
    """A command as a stream gives it, a string or a list of arguments, as one string."""
    if isinstance(value, list):
        return shlex.join(str(part) for part in value)
    return as_text(value)


_SKILL_KEYS = ("skill", "command", "name", "skill_name", "skillName")


def called_skill(arguments: object) -> str:
    """The skill that a native call names, under any key that a release has used; "" for none.

    Arguments that come as JSON text are decoded.
    """
    fields = as_record(decode_value(arguments) if isinstance(arguments, str) else arguments)
    found = (as_text(fields.get(key)).strip().lstrip("/") for key in _SKILL_KEYS)
    return next((name for name in found if name), "")
