"""A delta as text for a terminal: what is worth a look, red first, then the verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count
from routing_action.github.publication import RunLinks
from routing_action.report.edits import edit_lines, edits_headline
from routing_action.report.escape import printable
from routing_action.report.terminal.blocks import Blocks
from routing_action.report.terminal.layout import (
    BOLD,
    GREEN,
    LEAST_WIDTH,
    RED,
    YELLOW,
    ConsoleStyle,
    wrap,
)
from routing_action.report.view import (
    changed_rows,
    count_kinds,
    find_headline,
    find_notes,
    find_word,
)

_CONCLUSIONS = {Conclusion.FAILURE: RED, Conclusion.SUCCESS: GREEN, Conclusion.NEUTRAL: YELLOW}
_MOST_EDITS = 60
_MOST_FIELDS = 30
_NOTE_LINES = 3
"""What was unusual stands whole in every other report."""


def render_delta_text(
    delta: Delta, style: ConsoleStyle, results: str = "", place: RunLinks | None = None
) -> str:
    """Rows worth a look, one block for each cause, then the counts and the gate.

    `results` is where the results lie, for the commands that are offered; at a `place` they are
    those of its run.
    """
    style = ConsoleStyle(style.colour, max(style.width, LEAST_WIDTH))
    width = style.width
    first, *rest = wrap(f"compared with {_baseline(delta)}", width, indent="  ")
    lines = [style.paint(first, BOLD), *rest]
    for note in find_notes(delta):
        lines += wrap(f"note: {printable(note)}", width, indent="  ")
    for one in delta.measured_with:
        told = wrap(f"note: {printable(one)}", width, indent="  ")
        lines += told if len(told) <= _NOTE_LINES else [*told[: _NOTE_LINES - 1], "  …"]
    changed = changed_rows(delta)
    partly = {one.agent for one in delta.left_out}
    whole = frozenset(delta.run_commands) - partly
    blocks = Blocks(delta, style, _word, results, whole, place)
    for part in (list(blocks.draw(changed)), list(_edits(delta, width, blocks.told))):
        lines += ["", *part] if part and lines[-1] else part
    lines += [""] if lines[-1] and (changed or delta.edits) else []
    counts = ", ".join(f"{number} {word}" for _, word, number in count_kinds(delta))
    left = f", {delta.not_selected} not selected" if delta.not_selected else ""
    lines += wrap(f"{counts or 'nothing was compared'}{left}", width, indent="  ")
    colour = _CONCLUSIONS[delta.conclusion]
    gate = wrap(f"gate: {find_headline(delta)}", width, indent="  ")
    lines += [style.paint(line, colour) for line in gate]
    return "\n".join(lines)


def _word(row: DeltaEntry) -> tuple[str, str]:
    colour = RED if row.gates else GREEN if row.kind is DeltaKind.IMPROVEMENT else YELLOW
    return find_word(row).value, colour


def _edits(delta: Delta, width: int, told: Collection[tuple[str, str]]) -> Iterator[str]:
    """All edits; texts that were told above are not repeated."""
    if delta.edits:
        yield from wrap(f"this change edits: {edits_headline(delta)}", width, indent="  ")
    for edit in delta.edits[:_MOST_EDITS]:
        known = {one.field for one in edit.fields if (one.before, one.after) in told}
        left = [one for one in edit.fields if one.field not in known]
        first, *fields = map(printable, edit_lines(edit.model_copy(update={"fields": left})))
        fields += [f"{one}: see above" for one in known]
        yield from (f"  {line}" for line in wrap(first, width - 2, indent="  "))
        for field in fields[:_MOST_FIELDS]:
            yield from (f"    {line}" for line in wrap(field, width - 4, indent="  "))
    if len(delta.edits) > _MOST_EDITS:
        yield f"  and {count(len(delta.edits) - _MOST_EDITS, 'more edit')}; see --format json"


def _baseline(delta: Delta) -> str:
    source = delta.baseline
    if source.commit is None:
        return f"{source.path}, {source.how}"
    missing = "" if source.present else ", where the file does not exist"
    day = (source.date or "").partition("T")[0]
    return f"{source.path} at {source.commit[:12]} of {day}, {source.how}{missing}"
