"""TOML text, decoded in a time that its size bounds."""

from __future__ import annotations

import re
import tomllib

from routing_action.errors import DocumentError
from routing_action.files.documents import decode_text

_MOST_PARTS = 12
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'")
_PLACE = re.compile(r"\(at line (\d+), column \d+\)")


def parse_toml(data: bytes, file: str, remedy: str) -> object:
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
        found = _PLACE.search(str(error))
        cause = _PLACE.sub("", str(error)).strip()[:500]
        raise DocumentError(
            f"not TOML: {cause}", file=file, line=int(found[1]) if found else None, remedy=remedy
        ) from None
