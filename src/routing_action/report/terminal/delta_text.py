"""A delta as text for a terminal: what is worth a look, red first, then the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from routing_action.corpus.baseline import Status
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
from routing_action.report.view import changed_rows, find_headline, find_notes

_CONCLUSIONS = {Conclusion.FAILURE: RED, Conclusion.SUCCESS: GREEN, Conclusion.NEUTRAL: YELLOW}
_MOST_EDITS = 60
_MOST_FIELDS = 30


def render_delta_text(
    delta: Delta, style: ConsoleStyle, results: str = "RESULTS", place: RunLinks | None = None
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
    lines += _edits(delta, width)
    changed = changed_rows(delta)
    partly = {one.agent for one in delta.left_out}
    whole = frozenset(delta.run_commands) - partly
    if changed:
        lines += ["", *Blocks(delta, style, _word, results, whole, place).draw(changed)]
        lines += [""] if lines[-1] else []
    counts = ", ".join(
        f"{number} {kind.value}{_declared(delta) if kind is DeltaKind.OK else ''}"
        for kind, number in delta.counts.items()
    )
    left = f", {delta.not_selected} not selected" if delta.not_selected else ""
    lines += wrap(f"{counts or 'nothing was compared'}{left}", width, indent="  ")
    colour = _CONCLUSIONS[delta.conclusion]
    gate = wrap(f"gate: {find_headline(delta)}", width, indent="  ")
    lines += [style.paint(line, colour) for line in gate]
    return "\n".join(lines)


def _word(row: DeltaEntry) -> tuple[str, str]:
    colour = RED if row.gates else GREEN if row.kind is DeltaKind.IMPROVEMENT else YELLOW
    return row.kind.value, colour


def _declared(delta: Delta) -> str:
    """Why a gate can be green though a run shows failures."""
    fail = sum(row.kind is DeltaKind.OK and row.got is Status.FAIL for row in delta.rows)
    verb = "fails" if fail == 1 else "fail"
    return f" ({fail} of them {verb}, as the baseline declares)" if fail else ""


def _edits(delta: Delta, width: int) -> Iterator[str]:
    if delta.edits:
        yield from wrap(f"this change edits: {edits_headline(delta)}", width, indent="  ")
    for edit in delta.edits[:_MOST_EDITS]:
        first, *fields = map(printable, edit_lines(edit))
        yield from (f"  {line}" for line in wrap(first, width - 2, indent="  "))
        for field in fields[:_MOST_FIELDS]:
            yield from (f"    {line}" for line in wrap(field, width - 4, indent="  "))
    if len(delta.edits) > _MOST_EDITS:
        yield f"  and {count(len(delta.edits) - _MOST_EDITS, 'more edit')}; see --format json"
    for one in delta.measured_with:
        yield from wrap(f"note: {printable(one)}", width, indent="  ")


def _baseline(delta: Delta) -> str:
    source = delta.baseline
    if source.commit is None:
        return f"{source.path}, {source.how}"
    missing = "" if source.present else ", where the file does not exist"
    day = (source.date or "").partition("T")[0]
    return f"{source.path} at {source.commit[:12]} of {day}, {source.how}{missing}"
