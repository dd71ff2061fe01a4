"""The edits of skills, instructions, settings and other files: fields of frontmatter, and lines."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile

from routing_action.corpus.frontmatter import FENCE, parse_fields
from routing_action.gate.model import FieldEdit
from routing_action.gate.wording import count

MOST_LINES = 1200
"""Lines of a file that are compared one by one; of a longer one they are only counted."""


def compare_skills(before: bytes, after: bytes) -> tuple[tuple[FieldEdit, ...], str]:
    """The fields of the frontmatter that differ, and how many lines of the text below do."""
    old, new = _split(before), _split(after)
    fields = [*_compare_frontmatter(old[0], new[0])]
    return tuple(fields), count_lines(old[1], new[1])


def _split(data: bytes) -> tuple[list[str], list[str]]:
    """The frontmatter with its fences, and the lines after it, split at line feeds alone."""
    lines = data.decode("utf-8", "backslashreplace").split("\n")
    if lines[0].removeprefix("\ufeff").rstrip() != FENCE:
        return [], lines
    end = 1 + sum(1 for _ in takewhile(lambda line: line.rstrip() != FENCE, lines[1:]))
    return lines[: end + 1], lines[end + 1 :]


def _compare_frontmatter(before: list[str], after: list[str]) -> Iterator[FieldEdit]:
    """Field by field, and line by line where the fields do not tell the difference.

    Agents' own YAML readers differ from ours: a key that is given twice, other line ends, a mark
    at the start or a line that is no field can mean something else to them.
    """
    old, new = parse_fields(before), parse_fields(after)
    names = sorted({*old, *new}, key=lambda name: (name != "description", name != "name"))
    texts = [
        tuple(each[name].text if name in each else "" for each in (old, new)) for name in names
    ]
    for name, (was, is_now) in zip(names, texts, strict=True):
        if was != is_now:
            yield FieldEdit(field=name, before=was, after=is_now)
    is_plain = all(map(_is_plain, (before, after)))
    if before != after and not (is_plain and any(was != is_now for was, is_now in texts)):
        yield from compare_lines(before, after, "frontmatter ")


def _is_plain(lines: list[str]) -> bool:
    """Whether every line belongs to the one field of its name."""
    keys = [line.partition(":")[0] for line in lines[1:-1] if line[:1].isalpha()]
    strange = any(line.startswith("\ufeff") or "\r" in line for line in lines)
    return not strange and len(keys) == len(set(keys))


def compare_lines(before: list[str], after: list[str], label: str = "") -> Iterator[FieldEdit]:
    """The lines that differ, each group of them with its place; none of files that are too long."""
    if len(before) + len(after) > MOST_LINES:
        return
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, to_start, to_end in matcher.get_opcodes():
        if kind != "equal":
            yield FieldEdit(
                field=f"{label}line {to_start + 1}",
                before="\n".join(before[start:end]),
                after="\n".join(after[to_start:to_end]),
            )


def compare_texts(before: bytes, after: bytes) -> tuple[tuple[FieldEdit, ...], str]:
    """The lines that differ, or how many."""
    old, new = (_lines(data) for data in (before, after))
    fields = tuple(compare_lines(old, new))
    return fields, "" if fields else count_lines(old, new)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "backslashreplace").split("\n") if data else []


def count_lines(before: list[str], after: list[str]) -> str:
    """How many lines came and went, in words; "" where the lines are the same."""
    if before == after:
        return ""
    old, new = Counter(before), Counter(after)
    added, removed = (new - old).total(), (old - new).total()
    if not (added or removed):
        return "lines moved"
    counted = ", ".join(
        f"{count(number, 'line')} {word}"
        for number, word in ((added, "added"), (removed, "removed"))
        if number
    )
    return f"text: {counted}"
