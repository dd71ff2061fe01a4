"""Edits the text of provider-baseline.json with the smallest possible diff.

What is not changed stays byte for byte: indentation, one-line and expanded entries, the order of
keys, line ends, a byte order mark and the end of the file. What is added looks like its
neighbours. The text must be a baseline that `store.baselines` has accepted; nothing is judged here.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from routing_action.corpus.baseline import Baseline, BaselineEntry, Pair
from routing_action.files.json_layout import (
    Layout,
    Member,
    Object,
    insert_member,
    layout_of,
    remove_member,
    replace_value,
    split_object,
)

Changes = Mapping[Pair, BaselineEntry | None]
"""The entry that each changed pair is to have; None where it is to go."""

Fields = dict[str, Any]

_DEFAULTS: Fields = {"allow_timeout": False, "reason": "", "made_with": None}
_NO_DEFAULTS: Fields = dict.fromkeys(("cli_version", "model", "corpus_sha256", "recorded_on"))
_ORDER = ("expected_status", *_DEFAULTS, *_NO_DEFAULTS)


def render_baseline(baseline: Baseline) -> str:
    """The text of a new file: sorted, two spaces a level, one field a line, ended by a newline."""
    sorted_entries = {
        case_id: {agent: entry_fields(entries[agent]) for agent in sorted(entries)}
        for case_id, entries in sorted(baseline.items())
    }
    return json.dumps(sorted_entries, indent=2, ensure_ascii=False) + "\n"


def entry_fields(entry: BaselineEntry) -> Fields:
    """The fields of an entry as a new file has them: a reason and a fingerprint only if given."""
    fields: Fields = {
        "expected_status": entry.expected_status.value,
        "allow_timeout": entry.allow_timeout,
    }
    if entry.reason:
        fields["reason"] = entry.reason
    if entry.made_with is not None:
        fields["made_with"] = entry.made_with.model_dump(exclude_none=True)
    return fields


def edit_baseline(text: str, changes: Changes) -> str:
    """The text with the changed entries set, added or removed; a case without entries goes too.

    New cases and providers stand at their sorted place where the others are sorted, else last.
    """
    start, end = text.index("{"), text.rindex("}") + 1
    by_case: dict[str, dict[str, BaselineEntry | None]] = {}
    for (case_id, agent), entry in changes.items():
        by_case.setdefault(case_id, {})[agent] = entry
    default = Layout.expanded("\r\n" if "\r\n" in text else "\n")
    edited = _edit_cases(split_object(text[start:end]), by_case, default)
    return text[:start] + edited.text + text[end:]


def _edit_cases(
    cases: Object, by_case: Mapping[str, Mapping[str, BaselineEntry | None]], default: Layout
) -> Object:
    known = {member.key: place for place, member in enumerate(cases.members)}
    changed = {
        case_id: _edit_case(split_object(cases.members[known[case_id]].value), entries)
        for case_id, entries in by_case.items()
        if case_id in known
    }
    for case_id, case in changed.items():
        if case.members:
            cases = replace_value(cases, known[case_id], case.text)
    for place in sorted((known[key] for key, case in changed.items() if not case.members))[::-1]:
        cases = remove_member(cases, place)
    added = {
        case_id: {agent: entry for agent, entry in entries.items() if entry is not None}
        for case_id, entries in by_case.items()
        if case_id not in known
    }
    return _add_cases(cases, {key: value for key, value in added.items() if value}, default)


def _add_cases(
    cases: Object, added: Mapping[str, Mapping[str, BaselineEntry]], default: Layout
) -> Object:
    keys = _keys(cases)
    is_sorted = keys == sorted(keys)
    for case_id in sorted(added) if is_sorted else added:
        place = bisect(keys, case_id) if is_sorted else len(keys)
        keys.insert(place, case_id)
        cases = _add_case(cases, place, case_id, added[case_id], default)
    return cases


def _add_case(
    cases: Object,
    place: int,
    case_id: str,
    entries: Mapping[str, BaselineEntry],
    default: Layout,
) -> Object:
    like = _neighbour(cases, place)
    if like is None:
        layout = default.nested()
        order: Sequence[str] = ()
        example = Object()
    else:
        neighbour = split_object(like.value)
        layout, order = layout_of(neighbour), _keys(neighbour)
        example = split_object(neighbour.members[0].value)
    inner = layout_of(example) if example.members else layout.nested()
    values = {
        agent: _render(entry_fields(entries[agent]), inner, example)
        for agent in sorted(entries, key=lambda name: _rank(name, order))
    }
    return insert_member(cases, place, case_id, layout.render(values), default)


def _rank(name: str, order: Sequence[str]) -> tuple[int, str]:
    """Providers in the neighbour's order where that is its own, else sorted."""
    ordered = list(order) != sorted(order) and name in order
    return (order.index(name) if ordered else len(order), name)


def _edit_case(case: Object, entries: Mapping[str, BaselineEntry | None]) -> Object:
    for agent, entry in entries.items():
        keys = _keys(case)
        if agent in keys:
            place = keys.index(agent)
            case = _edit_entry(case, place, entry)
        elif entry is not None:
            place = _place_for(agent, keys)
            like = _neighbour(case, place)
            example = split_object(like.value) if like else Object()
            layout = layout_of(example) if example.members else layout_of(case).nested()
            value = _render(entry_fields(entry), layout, example)
            case = insert_member(case, place, agent, value, layout_of(case))
    return case


def _edit_entry(case: Object, place: int, entry: BaselineEntry | None) -> Object:
    if entry is None:
        return remove_member(case, place)
    found = split_object(case.members[place].value)
    edited = _edit_fields(found, entry_fields(entry), _DEFAULTS)
    return replace_value(case, place, edited.text)


def _edit_fields(found: Object, wanted: Fields, defaults: Fields) -> Object:
    """Bring an object's fields to the wanted values; a missing field means its default."""
    for member in found.members:
        if member.key not in wanted and not _is(member, defaults.get(member.key)):
            found = remove_member(found, _keys(found).index(member.key))
    for key, value in wanted.items():
        keys = _keys(found)
        if key not in keys:
            if key not in defaults or value != defaults[key]:
                text = _render_value(value, layout_of(found))
                found = insert_member(found, _field_place(key, keys), key, text, layout_of(found))
            continue
        member = found.members[keys.index(key)]
        if isinstance(value, dict) and member.value.startswith("{"):
            text = _edit_fields(split_object(member.value), value, _NO_DEFAULTS).text
        elif _is(member, value):
            text = member.value
        else:
            text = _render_value(value, layout_of(found))
        found = replace_value(found, keys.index(key), text)
    return found


def _keys(found: Object) -> list[str]:
    return [member.key for member in found.members]


def _is(member: Member, value: object) -> bool:
    """True where a member's text already says the value; the model strips texts."""
    said = json.loads(member.value)
    return (said.strip() if isinstance(said, str) else said) == value


def _field_place(key: str, keys: Sequence[str]) -> int:
    """Behind the last of the fields that stand before it by convention."""
    before = set(_ORDER[: _ORDER.index(key)])
    return max((place + 1 for place, name in enumerate(keys) if name in before), default=0)


def _render(fields: Fields, layout: Layout, example: Object) -> str:
    """A new entry in a neighbour's layout, which may leave `allow_timeout` out."""
    keys = _keys(example)
    if keys and "allow_timeout" not in keys and not fields["allow_timeout"]:
        fields = {key: value for key, value in fields.items() if key != "allow_timeout"}
    return layout.render({key: _render_value(value, layout) for key, value in fields.items()})


def _render_value(value: object, layout: Layout) -> str:
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    nested = layout.nested()
    return nested.render({key: _render_value(part, nested) for key, part in value.items()})


def _place_for(key: str, keys: Sequence[str]) -> int:
    """The sorted place where the others are sorted, else the end."""
    if list(keys) != sorted(keys):
        return len(keys)
    return sum(other < key for other in keys)


def _neighbour(container: Object, place: int) -> Member | None:
    """The member before a place, else the one behind it."""
    members: Iterable[Member] = container.members[max(place - 1, 0) : place + 1]
    return next(iter(members), None)
