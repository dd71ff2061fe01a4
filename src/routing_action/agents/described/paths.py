"""Finds what a description names in a record: values by their paths, entries of a list, kinds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from routing_action.agents.described.parts import Part, Records
from routing_action.agents.reading.decoding import Record, as_record, as_text, decode_value

_MOST_ENTRIES = 1_000
_OF_THE_RECORD = "$."
_PLACE, _ITSELF = "#", "@"


def find_value(value: object, path: str | None) -> object:
    """What stands at `a.b.0`: names of fields, and numbers for places in a list; None for none.

    A text on the way is taken as the JSON that it holds.
    """
    if not path:
        return None
    for part in path.split("."):
        found = decode_value(value) if isinstance(value, str) else value
        if isinstance(found, list):
            place = int(part) if part.isdecimal() and len(part) < 6 else len(found)
            value = found[place] if place < len(found) else None
        else:
            value = as_record(found).get(part)
    return value


@dataclass(frozen=True, slots=True)
class Entry:
    """A record, or one entry of a list in it, in which paths are looked up."""

    record: Record
    value: object
    place: int = 0

    def find(self, path: str | None) -> object:
        """What stands at a path from the entry.

        `$.a` is a path from the record, `#` the place of the entry in its list, `@` the entry.
        """
        if path in (_PLACE, _ITSELF):
            return self.place if path == _PLACE else self.value
        if path and path.startswith(_OF_THE_RECORD):
            return find_value(self.record, path.removeprefix(_OF_THE_RECORD))
        return find_value(self.value, path)

    def fits(self, part: Part) -> bool:
        """True where every condition of the part holds; the number 1 is not `true`."""
        return all(
            any(type(one) is type(found) and one == found for one in wanted)
            for path, wanted in part.where.items()
            for found in (self.find(path),)
        )


def entries_of(record: Record, part: Part) -> Iterator[Entry]:
    """What a part takes of a record of its kinds: the record itself, or entries of a list in it."""
    if part.each is None:
        listed: list[object] = [record]
    else:
        found = find_value(record, part.each)
        found = decode_value(found) if isinstance(found, str) else found
        listed = found if isinstance(found, list) else [] if found is None else [found]
    entries = (Entry(record, one, place) for place, one in enumerate(listed[:_MOST_ENTRIES]))
    return (entry for entry in entries if entry.fits(part))


def kind_of(record: Record, layout: Records) -> str:
    """What the first field says that tells the kind of a record; "" where none does."""
    return next(filter(None, (as_text(find_value(record, path)) for path in layout.kind)), "")
