"""A delta on a terminal: the verdict, what changed and why, and the baseline that decided."""

from __future__ import annotations

from routing_action.gate.comparison import DeltaKind
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.report.console import ConsoleStyle
from routing_action.report.escape import printable
from routing_action.report.remedies import find_remedy
from routing_action.report.view import accept_command, build_view, rerun_command

_MANY = 60
_COLOURS = {"failure": "31", "success": "32", "neutral": "33"}


def render_delta_text(delta: Delta, style: ConsoleStyle, results: str = "RESULTS") -> str:
    """Rows worth a look, then the verdict; stands after the run's own matrix.

    `results` is where the results lie, for the commands that are offered.
    """
    view = build_view(delta)
    lines = [f"delta against {view.baseline}"]
    lines += [f"note: {printable(note)}" for note in delta.notes]
    lines += [line for row in view.changed[:_MANY] for line in _row(delta, row, style, results)]
    if len(view.changed) > _MANY:
        lines.append(f"and {len(view.changed) - _MANY} more; see --format json")
    lines.append(f"{view.counts or 'nothing'}, {delta.not_selected} not selected")
    lines.append(_paint(f"gate: {view.headline}", _COLOURS[delta.conclusion.value], style))
    return "\n".join(lines)


def _row(delta: Delta, row: DeltaEntry, style: ConsoleStyle, results: str) -> list[str]:
    word = row.kind.value.ljust(11)
    colour = "31" if row.gates else "32" if row.kind is DeltaKind.IMPROVEMENT else "33"
    flaky = f" [flaky {row.passed}/{row.trials}]" if row.flaky else ""
    lines = [
        f"{_paint(word, colour, style)} {row.agent}:{row.case_id}{flaky}: {printable(row.why)}"
    ]
    lines += [f"{'':11} not alike: {printable(note)}" for note in row.not_alike]
    if row.gates and find_remedy(row.failure_kind):
        lines.append(f"{'':11} mend: {find_remedy(row.failure_kind)}")
    if row.gates and row.got is not None:
        lines.append(f"{'':11} rerun: {rerun_command(delta, row)}")
        accept = accept_command(row, results)
        lines += [f"{'':11} accept: {accept}"] if accept else []
    if row.kind is DeltaKind.IMPROVEMENT:
        lines.append(f"{'':11} lock it in: {accept_command(row, results)}")
    return lines


def _paint(text: str, colour: str, style: ConsoleStyle) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if style.colour else text
