"""Reads routing.toml; every error names file, field or line, and what to do."""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from routing_action.agents.custom_model import CustomProvider, RoutingFile
from routing_action.errors import DocumentError
from routing_action.files.documents import decode_text, name_field, read_bytes

MAX_BYTES = 2**20
_GUIDE = "see docs/how-to/use-a-custom-agent.md"
_FIELDS = ["providers", *CustomProvider.model_fields]
_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True)
class OwnAgents:
    """The agents of a file by name, and the SHA-256 of its bytes."""

    file: str
    sha256: str
    providers: dict[str, CustomProvider]


def read_routing_file(path: Path) -> OwnAgents:
    """The agents of a file, in its order; DocumentError where it is not what it must be."""
    data = read_bytes(path, MAX_BYTES, f"name the file with --config FILE; {_GUIDE}")
    file = str(path)
    try:
        value = tomllib.loads(decode_text(data, file).replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        line = _LINE.search(str(error))
        cause = _LINE.sub("", str(error)).strip()[:500]
        raise DocumentError(
            f"not TOML: {cause}", file=file, line=int(line[1]) if line else None, remedy=_GUIDE
        ) from None
    try:
        parsed = RoutingFile.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = [part for part in first["loc"] if part != "[key]"]
        cause, remedy = _explain(first["type"], first["msg"], where)
        raise DocumentError(cause, file=file, field=name_field(where), remedy=remedy) from None
    return OwnAgents(file, hashlib.sha256(data).hexdigest(), dict(parsed.providers))


def _explain(kind: str, message: str, where: Sequence[str | int]) -> tuple[str, str]:
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(str(where[-1]), _FIELDS, n=1)
        return "unknown field", f"did you mean {close[0]}?" if close else _GUIDE
    if kind == "missing":
        return "is missing", _GUIDE
    if kind == "tuple_type" and where[-1:] == ["command"]:
        return (
            "must be a list of arguments, since no shell reads it",
            'write ["acme", "run", "{prompt}"]',
        )
    return message.removeprefix("Value error, "), _GUIDE
