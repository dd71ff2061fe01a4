"""What recorded runs show of a description: paths that lead nowhere, success that never differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from routing_action.agents.described.parts import PARTS, CallPart, Part, Records, ResultPart
from routing_action.agents.described.paths import Entry, entries_of, kind_of
from routing_action.agents.reading.decoding import Record

_NO_PATHS = frozenset(
    "kinds where each tools mode success_is success_pattern failure_pattern limit_codes "
    "keep".split()
)
_OF_A_TOOL = {
    "skill": "skill",
    "file": "file",
    "offset": "file",
    "command": "shell",
    "cwd": "shell",
}
"""Paths of a call that count only where a tool of this group was called."""


def find_fault_of_pairing(layout: Records) -> str:
    """Why no call could ever be paired with its result, so that nothing is a load; "" if it can."""
    alike = any(set(one.kinds) & set(other.kinds) for one in layout.call for other in layout.result)
    by_id = any(one.id for one in layout.call) and any(one.id for one in layout.result)
    if alike or by_id:
        return ""
    return "call and result can never be paired: give both an id, or a kind in common"


def advise(layout: Records, records: Sequence[Record]) -> Iterator[str]:
    """What may be wrong, by the records of all runs that there are; each a line for people."""
    if fault := find_fault_of_pairing(layout):
        yield fault
    for name in PARTS:
        parts: tuple[Part, ...] = getattr(layout, name)
        for place, part in enumerate(parts):
            where = f"records.{name}" + (f"[{place}]" if len(parts) > 1 else "")
            yield from _of_part(where, part, layout, records)


def _of_part(where: str, part: Part, layout: Records, records: Sequence[Record]) -> Iterator[str]:
    entries = [
        entry
        for record in records
        if kind_of(record, layout) in part.kinds
        for entry in entries_of(record, part)
    ]
    if not entries:
        yield f"{where}: no record fits"
        return
    for name, path in _paths(part):
        own = [entry for entry in entries if _concerns(name, part, entry, layout)]
        if own and all(entry.find(path) is None for entry in own):
            yield f'{where}.{name} = "{path}" leads nowhere'
    if isinstance(part, ResultPart) and part.success is not None:
        yield from _of_success(where, part.success, entries)


def _concerns(name: str, part: Part, entry: Entry, layout: Records) -> bool:
    if not isinstance(part, CallPart) or name not in _OF_A_TOOL:
        return True
    return entry.find(part.tool) in getattr(layout.tools, _OF_A_TOOL[name])


def _of_success(where: str, path: str, entries: Sequence[Entry]) -> Iterator[str]:
    values = {repr(entry.find(path)) for entry in entries}
    if len(values) == 1 and len(entries) > 1:
        yield (
            f'{where}.success = "{path}" is {values.pop()} in all {len(entries)} results; '
            "try a run in which a tool fails"
        )


def _paths(part: Part) -> Iterator[tuple[str, str]]:
    for name, value in part:
        if name not in _NO_PATHS and value:
            yield from ((name, path) for path in ((value,) if isinstance(value, str) else value))
