"""What every report says of a change's edits and of how it was measured.

It is made by our own templates alone, so that no template of a user can leave it out.
"""

from __future__ import annotations

from collections.abc import Iterator

from routing_action.corpus.influences import Influence
from routing_action.gate.model import Delta, Edit
from routing_action.gate.wording import count
from routing_action.report.differences import show_change
from routing_action.report.page_rows import Values

_NOUNS = {
    Influence.CASES: "case",
    Influence.BASELINE: "baseline entry",
    Influence.SKILL: "skill file",
    Influence.TREE: "checkout setting",
}


def build_edits(delta: Delta, most: int, width: int, named: int) -> Values:
    """What the templates of edits show: the first `most` in full, of others `named` names a kind.

    `width` is the longest text of a value, in characters.
    """
    return {
        "headline": edits_headline(delta),
        "edits": [_edit(edit, width) for edit in delta.edits[:most]],
        "others": list(_others(delta.edits[most:], named)),
        "measured_with": delta.measured_with,
    }


def edits_headline(delta: Delta) -> str:
    """How much of what is edited, in one line; "" where nothing is."""
    counts: dict[Influence, int] = {}
    for edit in delta.edits:
        counts[edit.influence] = counts.get(edit.influence, 0) + 1
    return ", ".join(_count(number, influence) for influence, number in counts.items())


def _count(number: int, influence: Influence) -> str:
    noun = _NOUNS.get(influence, influence.value)
    if noun.endswith("entry") and number != 1:
        return f"{number} baseline entries"
    return count(number, noun)


def name_edit(edit: Edit) -> str:
    """What is edited, in a few words: `case deploy in cases.json`."""
    where = f"{edit.path} (before: {edit.path_before})" if edit.path_before else edit.path
    what = edit.influence.value if edit.influence is not Influence.CASES else "case"
    return f"{what} {edit.name} in {where}" if edit.name else f"{what} {where}"


def list_changes(edit: Edit, width: int) -> Iterator[tuple[str, str, str]]:
    """The fields with their values before and after, shortened to what differs."""
    for one in edit.fields:
        yield (one.field, *show_change(one.before, one.after, width))


def edit_lines(edit: Edit, width: int = 400) -> Iterator[str]:
    """An edit as plain lines, the first one says what it is."""
    yield f"{name_edit(edit)} was {edit.what}{f': {edit.summary}' if edit.summary else ''}"
    for field, before, after in list_changes(edit, width):
        yield f"{field}: {before or '(nothing)'} → {after or '(nothing)'}"


def _edit(edit: Edit, width: int) -> Values:
    fields = [
        {"field": field, "before": before, "after": after}
        for field, before, after in list_changes(edit, width)
    ]
    return {
        **edit.model_dump(exclude={"influence", "fields"}),
        "influence": "case" if edit.influence is Influence.CASES else edit.influence.value,
        "fields": fields,
    }


def _others(edits: tuple[Edit, ...], most: int) -> Iterator[Values]:
    """The names of the edits that are not shown in full, by what they are."""
    names: dict[Influence, list[str]] = {}
    for edit in edits:
        names.setdefault(edit.influence, []).append(edit.name or edit.path)
    for influence, own in names.items():
        more = len(own) - most
        yield {
            "what": _count(len(own), influence),
            "names": own[:most],
            "more": max(0, more),
        }
