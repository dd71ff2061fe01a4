"""Reads provider-baseline.json strictly, and writes it in one layout.

Every error names file, line, field and the next step.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from routing_action.corpus.baseline import (
    Baseline,
    BaselineEntry,
    Flaky,
    MadeWith,
    Pair,
    Status,
    iterate_pairs,
)
from routing_action.corpus.cases_file import DEFAULT_CASE_FILES
from routing_action.errors import DocumentError
from routing_action.files.atomic import write_atomically
from routing_action.files.documents import (
    decode_text,
    describe_fault,
    first_error,
    name_field,
    read_bytes,
)
from routing_action.files.json_text import JsonText
from routing_action.files.nearest import suggest
from routing_action.files.program import own_program
from routing_action.files.versions import check_version

MAX_BASELINE_BYTES = 64 * 2**20
DEFAULT_BASELINE_FILES = ("provider-baseline.json", "tests/agent-routing/provider-baseline.json")

Entries = dict[str, dict[str, BaselineEntry]]
"""Entries by case id, then by provider, in the file's order."""

_Name = Annotated[str, StringConstraints(min_length=1)]
ENTRIES: TypeAdapter[Entries] = TypeAdapter(
    dict[_Name, Annotated[dict[_Name, BaselineEntry], Field(min_length=1)]],
    config=ConfigDict(defer_build=True),
)
BASELINE_SCHEMA_VERSION = 1
_VERSION = "schema_version"
"""What a later layout would begin with; this one has cases alone."""
_SHAPE = 'a baseline is {"CASE_ID": {"PROVIDER": {"expected_status": "pass"}}}'
_LINE = re.compile(r" at line (\d+)")


def _new_baseline() -> str:
    return f"write one from results with `{own_program()} baseline update --init --from DIR`"


def has_baseline(root: Path) -> bool:
    """Whether there is a file that `find_baseline_file` finds."""
    return any((root / name).is_file() for name in DEFAULT_BASELINE_FILES)


def find_baseline_file(root: Path) -> Path:
    """The baseline where none is named: beside cases.json, else the earlier harness's place."""
    for name in DEFAULT_BASELINE_FILES:
        if (root / name).is_file():
            return root / name
    raise DocumentError(
        "no baseline file", file=str(root / DEFAULT_BASELINE_FILES[0]), remedy=_new_baseline()
    )


def read_baseline(path: Path) -> tuple[Entries, JsonText]:
    """The entries of a file, and its text for the lines of further findings."""
    data = read_bytes(path, MAX_BASELINE_BYTES, _new_baseline())
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
    lines: dict[Pair, int] = {}
    line, counted = 1, 0
    for case_id, case_at in document.members(0):
        for agent, at in document.members(case_at):
            line += document.text.count("\n", counted, at)
            counted = at
            lines[str(case_id), str(agent)] = line
    return lines


# ---- writing


@dataclass(frozen=True, slots=True)
class OpenBaseline:
    """A baseline's entries and its text; `text` is None for a file that is to be new."""

    path: Path
    entries: Entries
    text: str | None

    @property
    def is_laid_out(self) -> bool:
        """True where the file looks as `write` would write it, or is to be new."""
        return self.text is None or self.text == render_baseline(self.entries)

    def write(self, entries: Baseline) -> None:
        """Write other entries in one step; the same ones leave the file alone.

        Where entries are only removed, the others stay as they are laid out. A symbolic link stays
        one: what it leads to is written.
        """
        if entries == self.entries:
            return
        before, after = dict(iterate_pairs(self.entries)), dict(iterate_pairs(entries))
        if self.text is not None and after.items() <= before.items():
            text = _remove(self.text, before.keys() - after.keys())
        else:
            text = render_baseline(entries)
        write_atomically(Path(os.path.realpath(self.path)), text)


def open_baseline(path: Path) -> OpenBaseline:
    """An existing file; raises DocumentError where it is missing or malformed."""
    data = read_bytes(path, MAX_BASELINE_BYTES, _new_baseline())
    return OpenBaseline(path, parse_baseline(data, str(path)), data.decode("utf-8"))


def start_baseline(path: Path | None, root: Path) -> OpenBaseline:
    """A file that does not exist yet: the named one, or one beside the case file of `root`."""
    if path is None:
        both = zip(DEFAULT_CASE_FILES, DEFAULT_BASELINE_FILES, strict=True)
        there = (own for cases, own in both if any((root / x).is_file() for x in (own, cases)))
        path = root / next(there, DEFAULT_BASELINE_FILES[0])
    if os.path.lexists(path):
        raise DocumentError(
            "exists already, and --init replaces nothing",
            file=str(path),
            remedy="leave --init out to update it, or name another file with --baseline FILE",
        )
    return OpenBaseline(path, {}, None)


def render_baseline(baseline: Baseline) -> str:
    """The text of a file: sorted, two spaces a level, one field a line, ended by a newline."""
    fields = {
        case_id: {agent: _fields(entries[agent]) for agent in sorted(entries)}
        for case_id, entries in sorted(baseline.items())
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _remove(text: str, pairs: Collection[Pair]) -> str:
    """The text of a file without some entries, and without cases that have none left."""
    document = JsonText("", text)
    empty = []
    for case_id, at in reversed(list(document.members(0))):
        agents = [str(agent) for agent, _ in document.members(at)]
        gone = [agent for agent in agents if (str(case_id), agent) in pairs]
        if len(gone) == len(agents):
            empty.append(case_id)
        elif gone:
            text = JsonText("", text).without(at, gone)
    return JsonText("", text).without(0, empty)


def _fields(entry: BaselineEntry) -> dict[str, Any]:
    """An entry's fields; a reason and a fingerprint only where it has them."""
    fields: dict[str, Any] = {
        "expected_status": entry.expected_status.value,
        "allow_timeout": entry.allow_timeout,
    }
    if entry.reason:
        fields["reason"] = entry.reason
    if entry.made_with is not None:
        fields["made_with"] = entry.made_with.model_dump(exclude_none=True)
    if entry.flaky is not None:
        fields["flaky"] = entry.flaky.model_dump()
    return fields


# ---- reading


def _parse(document: JsonText) -> Entries:
    value = document.decode()  # refuses what the model cannot see: keys that are given twice
    if isinstance(value, dict) and not isinstance(value.get(_VERSION, {}), dict):
        _refuse_version(document, value)
    try:
        entries = ENTRIES.validate_json(document.text, strict=True)
        same: dict[BaselineEntry, BaselineEntry] = {}  # most are alike: hold each of them once
        return {
            case_id: {agent: same.setdefault(entry, entry) for agent, entry in found.items()}
            for case_id, found in entries.items()
        }
    except ValidationError as error:
        first, every = first_error(error), error.errors(include_url=False)
    fault = _locate(document, first)
    others = {one["loc"][:2]: one for one in reversed(every)}  # of each entry the first
    others.pop(first["loc"][:2], None)
    told = (_locate(document, one) for one in [*reversed(others.values())][:_MOST_FAULTS])
    more = "".join(f"; also line {one.line}, field {one.field}: {one.cause}" for one in told)
    raise DocumentError(
        fault.cause + more,
        file=document.file,
        line=fault.line,
        field=fault.field,
        remedy=fault.remedy,
        page="reference/baseline.md",
    )


def _refuse_version(document: JsonText, value: dict[str, Any]) -> None:
    """Raise DocumentError for a version, which a case of that name is not."""
    file, line = document.file, document.line_of([_VERSION])
    remedy = "remove the field: a baseline holds cases alone"
    check_version(value, _VERSION, BASELINE_SCHEMA_VERSION, file=file, line=line, remedy=remedy)
    raise DocumentError("unknown field", file=file, line=line, field=_VERSION, remedy=remedy)


_MOST_FAULTS = 20


class _Fault(NamedTuple):
    """What the model did not take, and where."""

    line: int | None
    field: str
    cause: str
    remedy: str


def _locate(document: JsonText, error: ErrorDetails) -> _Fault:
    kind, cause, where, remedy = describe_fault(error)
    line = document.line_of(where) if where else 1
    if kind == "json_invalid" and (match := _LINE.search(error["msg"])):
        line = int(match[1])
    model = _PARTS.get(where[2] if where[2:] else "", BaselineEntry)
    if kind == "extra_forbidden":
        known = list(model.model_fields)
        remedy = suggest(where[-1], known, f"the fields here are {', '.join(known)}")
    elif kind == "enum":
        cause = f"unknown status {error['input']!r}, must be pass, fail or infra_error"
        remedy = suggest(error["input"], [one.value for one in Status], "write one of the three")
    elif model in _EXAMPLES and kind in (*_OBJECTS, "missing"):
        remedy = f"write {_EXAMPLES[model]}"
    elif kind == "string_too_short" and model is Flaky:
        cause, remedy = "says nothing", "write why, for reviewers"
    else:
        cause, remedy = _CAUSES.get(kind, (cause, remedy))
    return _Fault(line, name_field(where), cause, remedy)


_PARTS: dict[str | int, type[BaseModel]] = {"made_with": MadeWith, "flaky": Flaky}
_EXAMPLES = {
    MadeWith: '{"cli_version": "1.2.3", "model": "NAME"}',
    Flaky: '{"rate": 0.7, "until": "2030-01-31", "reason": "WHY"}',
}
_RATE = ("must be at least 0.5 and less than 1", "write the share of runs that pass, such as 0.7")
_OBJECTS = ("dict_type", "model_type")
_CAUSES = {
    **dict.fromkeys(_OBJECTS, ("must be an object", _SHAPE)),
    "missing": ("is missing", "every entry says what it expects: pass, fail or infra_error"),
    "string_pattern_mismatch": ("is no date", "write it as YYYY-MM-DD"),
    "string_too_short": ("an empty name", "write a case id or the name of a provider"),
    "float_type": ("must be a number", "write a number such as 0.7, without quotes"),
    **dict.fromkeys(("greater_than_equal", "less_than", "finite_number"), _RATE),
    "too_short": ("names no provider", "remove the case, or declare one provider at least"),
    "json_invalid": ("holds half a character (a lone surrogate)", "write the character itself"),
}
