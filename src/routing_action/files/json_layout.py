"""JSON objects as text: taken apart and put together again without losing a byte.

It knows nothing of what the objects mean, and takes text that is valid JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Member:
    """One key and its value as they stand.

    `lead` is the white space before the key, `head` the key's text with the colon and the space
    around it, `trail` the space between the value and a comma.
    """

    lead: str
    key: str
    head: str
    value: str
    trail: str = ""

    @property
    def separator(self) -> str:
        """What stands between the key and the value."""
        return self.head[_DECODER.raw_decode(self.head)[1] :]


@dataclass(frozen=True, slots=True)
class Object:
    """An object's members in order, and the white space before its closing brace."""

    members: tuple[Member, ...] = ()
    tail: str = ""

    @property
    def text(self) -> str:
        """The object's text."""
        inner = ",".join(f"{one.lead}{one.head}{one.value}{one.trail}" for one in self.members)
        return f"{{{inner}{self.tail}}}"


@dataclass(frozen=True, slots=True)
class Layout:
    """How an object is written: the space before its first member, between members, at its end."""

    first: str
    between: str
    tail: str
    separator: str = ": "

    @classmethod
    def expanded(cls, newline: str) -> Layout:
        """The outermost object of a file with one member a line, two spaces a level."""
        return cls(f"{newline}  ", f"{newline}  ", newline)

    def nested(self) -> Layout:
        """The layout of an object that is a member's value in this one, one level deeper."""
        if "\n" not in self.first:
            return self
        unit = _indent(self.first).removeprefix(_indent(self.tail)) or "  "
        return replace(
            self, first=self.first + unit, between=self.first + unit, tail=_line(self.first)
        )

    def render(self, values: Mapping[str, str]) -> str:
        """An object of the rendered values."""
        members = tuple(
            Member(self.between if place else self.first, key, self.head(key), value)
            for place, (key, value) in enumerate(values.items())
        )
        return Object(members, self.tail).text if members else "{}"

    def head(self, key: str) -> str:
        """A key with what stands before its value."""
        return json.dumps(key, ensure_ascii=False) + self.separator


def split_object(text: str) -> Object:
    """Take an object's text apart; the text begins with its brace and ends with it."""
    members: list[Member] = []
    at = 1
    while True:
        start, at = at, _skip(text, at)
        if text[at] == "}":
            return Object(tuple(members), text[start:at])
        key, key_end = _DECODER.raw_decode(text, at)
        value_at = _skip(text, _skip(text, key_end) + 1)
        _, value_end = _DECODER.raw_decode(text, value_at)
        after = _skip(text, value_end)
        trail = text[value_end:after]
        last = text[after] == "}"
        members.append(
            Member(
                text[start:at],
                key,
                text[at:value_at],
                text[value_at:value_end],
                "" if last else trail,
            )
        )
        if last:
            return Object(tuple(members), trail)
        at = after + 1


def layout_of(found: Object) -> Layout:
    """How an object's members are written; the two-space default where it has none."""
    if not found.members:
        return Layout.expanded("\n")
    first = found.members[0]
    between = found.members[1].lead if len(found.members) > 1 else _between(first.lead)
    return Layout(_line(first.lead), _line(between), _line(found.tail), first.separator)


def replace_value(found: Object, place: int, value: str) -> Object:
    """Give the member at a place another value."""
    members = list(found.members)
    members[place] = replace(members[place], value=value)
    return replace(found, members=tuple(members))


def remove_member(found: Object, place: int) -> Object:
    """Take a member away; on one line the next first one moves up to the brace."""
    members = list(found.members)
    gone = members.pop(place)
    if members and place == 0 and "\n" not in gone.lead + members[0].lead:
        members[0] = replace(members[0], lead=gone.lead)
    return replace(found, members=tuple(members))


def insert_member(found: Object, place: int, key: str, value: str, empty: Layout) -> Object:
    """Put a member at a place, laid out as the others; by `empty` where there are none."""
    members = list(found.members)
    if not members:
        only = Member(empty.first, key, empty.head(key), value)
        return Object((only,), found.tail if "\n" in found.tail else empty.tail)
    layout = layout_of(found)
    lead = layout.between
    if place == 0:
        lead = layout.first
        members[0] = replace(members[0], lead=_displaced(members[0].lead, layout))
    members.insert(place, Member(lead, key, layout.head(key), value))
    return replace(found, members=tuple(members))


def _displaced(lead: str, layout: Layout) -> str:
    """The space before a first member that became the second one."""
    return lead if "\n" in lead else layout.between


def _between(first: str) -> str:
    """The space between members, from that before the only one."""
    return first if "\n" in first else " "


def _line(space: str) -> str:
    """One line end and the indentation after it, without blank lines; one-line space as it is."""
    if "\n" not in space:
        return space
    newline = "\r\n" if "\r\n" in space else "\n"
    return newline + _indent(space)


def _indent(space: str) -> str:
    return space.rpartition("\n")[2]


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
