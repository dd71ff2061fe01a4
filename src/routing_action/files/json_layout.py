"""Adds to a JSON text in the layout that its author gave it; nothing else of it changes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from routing_action.files.json_text import JsonText

_INNER_LINE = re.compile(r"\n([ \t]*)\S")
_LONG_LIST = re.compile(r':\s*\[[ \t]*\r?\n\s*"')


def append_object(
    document: JsonText, path: Sequence[str | int], fields: Mapping[str, Any]
) -> tuple[str, int]:
    """The text with an object as the last item of the list at a path, and its line, from 1.

    Indentation, line ends and whether an object takes several lines are those of the last item; a
    list in it takes several where any list of texts does. The text must hold the list.
    """
    text = document.text
    start, _ = document.find(path)
    items = [at for _, at in document.members(start)]
    end = "\r\n" if "\r\n" in text else "\n"
    if not items:
        outer = _indent_at(text, start)
        unit = outer or "  "
        close = text.index("]", start)
        new = f"{end}{outer}{unit}{_render(fields, outer + unit, unit, end)}{end}{outer}"
        return text[: start + 1] + new + text[close:], document.line_at(start) + 1
    last = items[-1]
    stop = document.end_of(last)
    indent, between = _indent_at(text, last), text[text.rfind("\n", 0, last) + 1 : last]
    inner = _INNER_LINE.search(text, last, stop)
    unit = "" if inner is None else (inner[1].removeprefix(indent) or "  ")
    own_line = not between.strip(" \t") and last > start + 1
    new = _render(fields, indent, unit, end, long_lists=bool(_LONG_LIST.search(text, start)))
    joint = f",{end}{indent}" if own_line or unit else ", "
    changed = text[:stop] + joint + new + text[stop:]
    return changed, JsonText("", changed).line_at(stop + len(joint))


def _indent_at(text: str, offset: int) -> str:
    """The white space that the line of an offset begins with."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _render(
    fields: Mapping[str, Any], indent: str, unit: str, end: str, *, long_lists: bool = False
) -> str:
    """The object's text, its first line not indented; on one line where there is no unit."""
    if not unit:
        return json.dumps(fields, ensure_ascii=False)
    if long_lists:
        return json.dumps(fields, ensure_ascii=False, indent=unit).replace("\n", end + indent)
    lines = [
        f"{indent}{unit}{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in fields.items()
    ]
    return f"{{{end}{f',{end}'.join(lines)}{end}{indent}}}"
