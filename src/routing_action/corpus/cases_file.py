"""Reads cases.json; every error names file, line and field."""

from __future__ import annotations

import hashlib
import re
import shlex
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from routing_action.corpus.case import CASE_ID, Case
from routing_action.corpus.naming import fold
from routing_action.corpus.trigger_files import parse_trigger_file
from routing_action.corpus.units import DEFAULT_CASES_FILE
from routing_action.errors import DocumentError
from routing_action.files.documents import decode_text, read_bytes, validate
from routing_action.files.json_layout import append_object
from routing_action.files.json_text import JsonText
from routing_action.files.program import own_program
from routing_action.files.versions import check_version

_PAGE = "reference/cases.md#fields"
ID_RULE = "a case_id is made of letters, digits, `.`, `_` and `-`, at most 128 of them"
CASES_SCHEMA_VERSION = 1
MAX_CASES_BYTES = 16 * 2**20
DEFAULT_CASE_FILES = (DEFAULT_CASES_FILE, "tests/agent-routing/cases.json")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The cases of a file, in its order, with the line of each and the SHA-256 of its bytes."""

    file: str
    cases: tuple[Case, ...]
    lines: dict[str, int]
    sha256: str


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
        remedy="name one with --cases FILE, or start one: "
        f"`{own_program()} cases init --skills DIR`",
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
    _refuse_triggers(document, value)
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


def add_case(data: bytes, file: str, fields: Mapping[str, Any]) -> tuple[str, int]:
    """The text of a case file with one more case at its end, and the line of that, from 1.

    The layout is the file's own; a byte order mark stays. DocumentError where it is no JSON.
    """
    document = JsonText(file, decode_text(data, file))
    path = ("cases",) if isinstance(document.decode(), dict) else ()
    text, line = append_object(document, path, fields)
    return ("\ufeff" if data.startswith(BOM_UTF8) else "") + text, line


def _refuse_triggers(document: JsonText, value: object) -> None:
    """A file that another tool tests a description with has the same prompts, in other words."""
    triggers = parse_trigger_file(document, value)
    if triggers is not None:
        named = f" --skill {shlex.quote(triggers.skill)}" if triggers.skill else ""
        file = shlex.quote(document.file)
        command = f"{own_program()} cases import {file}{named} --output imported-cases.json"
        raise DocumentError(
            "this is a trigger file, as skill-creator writes it, not a case file",
            file=document.file,
            line=1,
            remedy=f"turn it into cases: `{command}`",
        )


def _only_cases(value: dict[str, object], document: JsonText) -> object:
    if "schema_version" in value:
        line, known = document.line_of(["schema_version"]), CASES_SCHEMA_VERSION
        remedy = f"write {known}, without quotes, or leave the field out"
        check_version(value, "schema_version", known, file=document.file, line=line, remedy=remedy)
    unknown = sorted(set(value) - {"cases", "$schema", "schema_version"})
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
    case_id = item.get("case_id") if isinstance(item, dict) else None
    is_id = isinstance(case_id, str) and re.match(CASE_ID, case_id.strip())
    owner, remedy = (f"case {str(case_id).strip()}", "") if is_id else ("", ID_RULE)
    return validate(Case, document, path, item, remedy=remedy, owner=owner, page=_PAGE)


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
                remedy="give each case an id of its own (upper and lower case count as the same)",
            )
