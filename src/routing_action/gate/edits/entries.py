"""The edits of the case file and of the baseline: case by case, pair by pair."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from routing_action.corpus.baseline import Baseline, BaselineEntry, iterate_pairs
from routing_action.corpus.case import Case
from routing_action.corpus.influences import Influence
from routing_action.gate.edited_case import EditedCase
from routing_action.gate.model import Edit, EditKind, FieldEdit

Cases = Mapping[str, Case]
"""Cases by their ids."""

_DECIDES_NOTHING = ("case_id", "category")


def list_fields(before: BaseModel | None, after: BaseModel | None) -> tuple[FieldEdit, ...]:
    """The fields that differ, with their values; of something new or gone those that it sets."""
    one = before or after
    names = type(one).model_fields if one is not None else ()
    pairs = ((name, _value(before, name), _value(after, name)) for name in names)
    return tuple(FieldEdit(field=name, before=a, after=b) for name, a, b in pairs if a != b)


def _value(model: BaseModel | None, name: str) -> str:
    """A field's value as text: JSON unless it is a text; "" for one that says nothing."""
    if model is None:
        return ""
    value: Any = getattr(model, name)
    if isinstance(value, str):
        return value
    found = model.model_dump(mode="json")[name]
    return json.dumps(found, ensure_ascii=False) if found not in (None, [], {}) else ""


def find_kind(before: object | None, after: object | None) -> EditKind:
    """What happened to something that is None where it was not there."""
    if before is None or after is None:
        return "added" if before is None else "removed"
    return "edited"


def list_case_edits(before: Cases, after: Cases, path: str) -> Iterator[Edit]:
    """The cases that differ; one that is gone and one that is new with its prompt are one edit."""
    gone = {name: case for name, case in before.items() if name not in after}
    asked = {case.prompt: name for name, case in gone.items()}
    for name, case in after.items():
        earlier = before.get(name) or gone.pop(asked.get(case.prompt, ""), None)
        if earlier != case:
            yield _case_edit(earlier, case, path)
    for case in gone.values():
        yield _case_edit(case, None, path)


def _case_edit(before: Case | None, after: Case | None, path: str) -> Edit:
    name = (after or before or Case(case_id="-", prompt="-")).case_id
    told: dict[str, Any] = {"path": path, "influence": Influence.CASES, "name": name}
    if before is None or after is None:
        fields = tuple(
            one for one in list_fields(before, after) if one.field in ("prompt", "expected_skill")
        )
        return Edit(what=find_kind(before, after), fields=fields, **told)
    what: EditKind = "edited" if before.case_id == after.case_id else "renamed"
    return Edit(what=what, fields=list_fields(before, after), **told)


def find_edited_cases(before: Cases, after: Cases) -> dict[str, EditedCase]:
    """The cases that both know and that are judged in another way, by their ids."""
    found = {}
    for name, case in after.items():
        earlier = before.get(name)
        fields = list_fields(earlier, case) if earlier is not None and earlier != case else ()
        names = tuple(one.field for one in fields if one.field not in _DECIDES_NOTHING)
        if earlier is not None and names:
            found[name] = EditedCase(names, _spoken(earlier.prompt) == _spoken(case.prompt))
    return found


def _spoken(prompt: str) -> str:
    """A prompt without what no reader would hear: signs, spaces, case and invisible characters."""
    return "".join(
        sign for sign in unicodedata.normalize("NFKC", prompt).casefold() if sign.isalnum()
    )


def list_baseline_edits(before: Baseline, after: Baseline, path: str) -> Iterator[Edit]:
    """The pairs whose expectation differs."""
    earlier: dict[tuple[str, str], BaselineEntry] = dict(iterate_pairs(before))
    now: dict[tuple[str, str], BaselineEntry] = dict(iterate_pairs(after))
    for pair in dict.fromkeys((*now, *earlier)):
        was, is_now = earlier.get(pair), now.get(pair)
        if was == is_now:
            continue
        yield Edit(
            path=path,
            influence=Influence.BASELINE,
            what=find_kind(was, is_now),
            name=f"{pair[0]} on {pair[1]}",
            fields=list_fields(was, is_now),
        )
