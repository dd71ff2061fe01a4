"""Reads provider-baseline.json strictly; every error names file, line, field and the next step."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pydantic import ValidationError

from routing_action.corpus.baseline import BaselineEntry, MadeWith, Pair, Status
from routing_action.errors import DocumentError
from routing_action.files.documents import decode_text, read_bytes
from routing_action.files.json_layout import split_object
from routing_action.files.json_text import JsonText

MAX_BASELINE_BYTES = 64 * 2**20
DEFAULT_BASELINE_FILES = ("provider-baseline.json", "tests/agent-routing/provider-baseline.json")
NEW_BASELINE = "write one from results with `routing-action baseline update --init --from DIR`"

Entries = dict[str, dict[str, BaselineEntry]]
"""Entries by case id, then by provider, in the file's order."""

_SHAPE = 'a baseline is {"CASE_ID": {"PROVIDER": {"expected_status": "pass"}}}'
_RAW: msgspec.json.Decoder[dict[str, dict[str, Any]]] = msgspec.json.Decoder(
    dict[str, dict[str, msgspec.Raw]]
)


def find_baseline_file(root: Path) -> Path:
    """The baseline where none is named: beside cases.json, else the earlier harness's place."""
    for name in DEFAULT_BASELINE_FILES:
        if (root / name).is_file():
            return root / name
    raise DocumentError(
        "no baseline file", file=str(root / DEFAULT_BASELINE_FILES[0]), remedy=NEW_BASELINE
    )


def read_baseline(path: Path) -> tuple[Entries, JsonText]:
    """The entries of a file, and its text for the lines of further findings."""
    data = read_bytes(path, MAX_BASELINE_BYTES, NEW_BASELINE)
    document = JsonText(str(path), decode_text(data, str(path)))
    return _parse(document), document


def parse_baseline(data: bytes, file: str) -> Entries:
    """The entries of a file's bytes; `file` is its name for people, as `FILE at COMMIT`.

    Raises DocumentError for anything that is no baseline: bytes that are not UTF-8, a key given
    twice, an unknown field or status, a wrong type, a case without a provider.
    """
    return _parse(JsonText(file, decode_text(data, file)))


def entry_lines(document: JsonText) -> dict[Pair, int]:
    """The line, from 1, of each entry of a text that has been read."""
    text = document.text
    lines: dict[Pair, int] = {}
    line, counted = 1, 0
    for pair, offset in _entry_offsets(text):
        line += text.count("\n", counted, offset)
        counted = offset
        lines[pair] = line
    return lines


def _entry_offsets(text: str) -> Iterator[tuple[Pair, int]]:
    cases = split_object(text[text.index("{") : text.rindex("}") + 1])
    at = text.index("{") + 1
    for case in cases.members:
        at += len(case.lead) + len(case.head)
        inner = at + 1
        for entry in split_object(case.value).members:
            yield (case.key, entry.key), inner + len(entry.lead)
            inner += len(entry.lead + entry.head + entry.value + entry.trail) + 1
        at += len(case.value) + len(case.trail) + 1


def _parse(document: JsonText) -> Entries:
    entries = _parse_fast(document)
    return entries if entries is not None else _parse_strictly(document)


def _parse_fast(document: JsonText) -> Entries | None:
    """The entries of a file without faults; None where the strict way has to look.

    Entries repeat, so each distinct text is judged once, and stands in its text's place. A colon
    stands after each key: where the text has as many as what was decoded from it, no key was
    given twice.
    """
    known: dict[bytes, tuple[BaselineEntry, int]] = {}
    colons = 0
    try:
        entries = _RAW.decode(document.text)
        for case_id, found in entries.items():
            if not case_id or not found or "" in found:
                return None
            for agent, value in found.items():
                text = bytes(value)
                judged = known.get(text)
                if judged is None:
                    judged = known[text] = _judge_alone(text)
                found[agent], count = judged
                colons += count
            colons += len(found) + 1
    except (msgspec.DecodeError, RecursionError, DocumentError, ValidationError, ValueError):
        return None
    return entries if colons == document.text.count(":") else None


def _judge_alone(text: bytes) -> tuple[BaselineEntry, int]:
    """An entry's text by itself, and its colons; raises where anything is wrong with it."""
    value = JsonText("", text.decode()).decode()
    entry = BaselineEntry.model_validate_json(json.dumps(value), strict=True)
    return entry, text.count(b":")


def _parse_strictly(document: JsonText) -> Entries:
    value = document.decode()
    if not isinstance(value, dict):
        raise _error(document, (), f"must be an object, is {_kind(value)}", _SHAPE)
    return {case_id: _case(document, case_id, found) for case_id, found in value.items()}


def _case(document: JsonText, case_id: str, value: object) -> dict[str, BaselineEntry]:
    _check_name(document, (case_id,), "case id")
    if not isinstance(value, dict):
        raise _error(document, (case_id,), f"must be an object, is {_kind(value)}", _SHAPE)
    if not value:
        remedy = "remove the case, or declare one provider at least"
        raise _error(document, (case_id,), "names no provider", remedy)
    return {agent: _entry(document, case_id, agent, found) for agent, found in value.items()}


def _entry(document: JsonText, case_id: str, agent: str, value: object) -> BaselineEntry:
    path = (case_id, agent)
    _check_name(document, path, "provider name")
    if not isinstance(value, dict):
        raise _error(document, path, f"must be an object, is {_kind(value)}", _SHAPE)
    try:
        return BaselineEntry.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = tuple(first["loc"])
        cause, remedy = _explain(first["type"], first["msg"], where, first["input"])
        raise _error(document, (*path, *where), cause, remedy) from None


def _check_name(document: JsonText, path: Sequence[str], what: str) -> None:
    """Refuse a key that is empty, or that no UTF-8 text can hold."""
    if not path[-1]:
        raise _error(document, path, f"an empty {what}", "write a name, or remove the entry")
    try:
        path[-1].encode()
    except UnicodeEncodeError:
        line = document.line_of(path)
        cause, remedy = _OTHERS["json_invalid"]
        raise DocumentError(
            f"a {what} {cause}", file=document.file, line=line, remedy=remedy
        ) from None


def _explain(
    kind: str,
    message: str,
    where: Sequence[str | int],
    value: Any,  # noqa: ANN401 - any JSON
) -> tuple[str, str]:
    """Cause and remedy of what the model refused."""
    known = list((MadeWith if where[:1] == ("made_with",) else BaselineEntry).model_fields)
    if kind == "extra_forbidden":
        return "unknown field", _nearest(
            where[-1], known, f"the fields here are {', '.join(known)}"
        )
    if kind == "enum":
        cause = f"unknown status {value!r}, must be pass, fail or infra_error"
        return cause, _nearest(value, [one.value for one in Status], "write one of the three")
    if kind in _TYPES:
        wanted, remedy = _TYPES[kind]
        return f"must be {wanted}, is {_kind(value)}", remedy
    return _OTHERS.get(kind, (message, _SHAPE))


_TYPES = {
    "bool_type": ("true or false", "write true or false without quotes"),
    "string_type": ("a text", "write a text in quotes"),
    "model_type": ("an object", 'write {"cli_version": "1.2.3", "model": "NAME"}'),
}
_OTHERS = {
    "missing": ("is missing", "every entry says what it expects: pass, fail or infra_error"),
    "string_pattern_mismatch": ("is no date", "write it as YYYY-MM-DD"),
    "string_too_long": ("longer than 500 characters", "shorten it"),
    "json_invalid": ("holds half a character (a lone surrogate)", "write the character itself"),
}


def _nearest(value: object, known: Sequence[str], otherwise: str) -> str:
    close = difflib.get_close_matches(str(value).casefold(), known, n=1)
    return f"did you mean {close[0]}?" if close else otherwise


def _kind(value: object) -> str:
    """What a JSON value is, in the words of JSON."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def _error(document: JsonText, path: Sequence[str | int], cause: str, remedy: str) -> DocumentError:
    return DocumentError(
        cause,
        file=document.file,
        line=document.line_of(path) if path else 1,
        field=".".join(str(part) for part in path),
        remedy=remedy,
    )
