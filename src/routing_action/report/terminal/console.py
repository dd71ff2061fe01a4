"""The end of a run, and a delta, as text for a terminal.

Lines of a run keep within the width, but for commands and paths, which are there to be copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count
from routing_action.report.edits import edit_lines, edits_headline
from routing_action.report.escape import excerpt, printable
from routing_action.report.remedies import find_remedy
from routing_action.report.terminal.cells import cell_width, pad, shorten, shorten_middle, visible
from routing_action.report.view import (
    changed_rows,
    find_headline,
    find_notes,
    list_steps,
)
from routing_action.results.model import (
    KEPT_WORKSPACE,
    PairSummary,
    Results,
    UnitResult,
    notes_of_agents,
)
from routing_action.results.rerun import build_run_command, select_case

_RED, _GREEN, _YELLOW, _MAGENTA = "31", "32", "33", "35"
_MARKS = {
    Status.PASS: ("pass", _GREEN),
    Status.FAIL: ("FAIL", _RED),
    Status.INFRA_ERROR: ("infra", _YELLOW),
}
_CONCLUSIONS = {Conclusion.FAILURE: _RED, Conclusion.SUCCESS: _GREEN, Conclusion.NEUTRAL: _YELLOW}
_NARROWEST_CASE = 20
_WIDEST_CASE = 80
_LEAST_WIDTH = 40
_INDENT = 11
_PROOF_WIDTH = 160
_CAUSE_WIDTH = 400
_MOST_RED = 30
_MOST_CHANGED = 60
_SLOWEST = 5
_MOST_KEPT = 10


@dataclass(frozen=True, slots=True)
class ConsoleStyle:
    """How the text may look; `width` is the terminal's in columns."""

    colour: bool = False
    width: int = 100

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour (SGR number), where colours are wanted."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colour and colour else text


def render_console(
    results: Results, *, reason: str, artifacts: str, program: str, style: ConsoleStyle
) -> str:
    """The final text of a run: matrix, reasons, totals and the artifact folder.

    `program` is how a run is started here, for the commands that are offered.
    """
    style = ConsoleStyle(style.colour, max(style.width, _LEAST_WIDTH))
    lines = [*_matrix(results, style), *_agent_notes(results, style.width), ""]
    lines += _reasons(results, program, style)
    lines += _kept(results.results)
    lines += _slowest(results.results, style.width)
    lines += _flow(_totals(results), style.width, indent="  ")
    lines += [f"verdict: {reason}", f"artifacts: {artifacts}"]
    return "\n".join(lines)


def _agent_notes(results: Results, width: int) -> Iterator[str]:
    """Why an agent cannot pass at all: each note once."""
    for note in notes_of_agents(note for row in results.results for note in row.notes):
        yield from _flow(f"note: {visible(note)}".split(" "), width, indent="  ")


# --- the matrix


def _matrix(results: Results, style: ConsoleStyle) -> Iterator[str]:
    """A line for each case; agents that do not fit beside the others get a matrix of their own."""
    cases = list(dict.fromkeys(pair.case_id for pair in results.pairs))
    cells = {(pair.case_id, pair.agent): _cell(pair) for pair in results.pairs}
    widths: dict[str, int] = {}
    for (_, agent), (mark, _) in cells.items():
        widths[agent] = max(widths.get(agent, cell_width(agent)), len(mark))
    longest = max((cell_width(case) for case in cases), default=0)
    groups = _groups(widths, style.width - min(longest, _NARROWEST_CASE))
    for number, agents in enumerate(groups):
        used = sum(widths[agent] + 2 for agent in agents)
        first = min(max(longest, 4), max(style.width - used, _NARROWEST_CASE), _WIDEST_CASE)
        if number:
            yield ""
        head = [pad("case", first), *(pad(agent, widths[agent]) for agent in agents)]
        yield "  ".join(head).rstrip()
        for case in cases:
            line = [pad(shorten_middle(visible(case), first), first)]
            for agent in agents:
                mark, colour = cells.get((case, agent), ("-", ""))
                line.append(style.paint(pad(mark, widths[agent]), colour))
            yield "  ".join(line).rstrip()


def _groups(widths: Mapping[str, int], room: int) -> list[list[str]]:
    """The agents in groups whose columns fit side by side."""
    groups: list[list[str]] = [[]]
    left = room
    for agent, width in widths.items():
        if width + 2 > left and groups[-1]:
            groups.append([])
            left = room
        groups[-1].append(agent)
        left -= width + 2
    return groups


def _cell(pair: PairSummary) -> tuple[str, str]:
    mark, colour = ("flaky", _MAGENTA) if pair.flaky else _MARKS[pair.status]
    return (f"{mark} {pair.passed}/{pair.trials}" if pair.trials > 1 else mark), colour


# --- what did not pass


def _reasons(results: Results, program: str, style: ConsoleStyle) -> Iterator[str]:
    """One trial of each pair that did not pass, the first of them."""
    red: dict[tuple[str, str], UnitResult] = {}
    for row in results.results:
        if row.status is not Status.PASS:
            red.setdefault((row.agent, row.case_id), row)
    for row in list(red.values())[:_MOST_RED]:
        command = build_run_command(results.options, row.agent, program)
        yield from _reason(row, select_case(command, row.case_id), style)
    if len(red) > _MOST_RED:
        yield from (f"and {len(red) - _MOST_RED} more; see results.json", "")


def _reason(row: UnitResult, rerun: str, style: ConsoleStyle) -> Iterator[str]:
    width = style.width
    (mark, colour), kind = _MARKS[row.status], f" {row.failure_kind}" if row.failure_kind else ""
    name = shorten_middle(_name(row, " trial "), width - len(f": {mark}{kind}"))
    yield f"{name}: {style.paint(mark, colour)}{kind}"
    if row.error:
        yield from _named("cause", [shorten(visible(row.error), _CAUSE_WIDTH)], width)
    yield from _named("used", row.disallowed_hits, width, " though disallowed")
    if row.status is Status.FAIL:
        yield from _named("missing", row.missing_evidence, width)
    yield from _named("loaded", [_loaded(row, name) for name in row.loaded_skills], width)
    yield from _proofs(row, width)
    remedy = find_remedy(row.failure_kind, row.error)
    yield from _named("fix", [remedy] if remedy else [], width)
    yield from (f"  rerun    {rerun}", "")


def _name(row: UnitResult, before_trial: str) -> str:
    trial = f"{before_trial}{row.trial}" if row.trial > 1 else ""
    return visible(f"{row.agent}:{row.case_id}{trial}")


def _loaded(row: UnitResult, skill: str) -> str:
    return f"{skill} (in a sub-agent)" if skill in row.subagent_skills else skill


def _named(label: str, names: Sequence[str], width: int, after: str = "") -> Iterator[str]:
    """A label with names, on as many lines as they need; nothing without names."""
    words = f"{', '.join(visible(name) for name in names)}{after}".split(" ")
    for number, line in enumerate(_flow(words, width - _INDENT) if names else ()):
        yield f"  {'' if number else label:<9}{line}"


def _proofs(row: UnitResult, width: int) -> Iterator[str]:
    """The best that was found for each missing token, though too weak, and what was loaded."""
    for token in dict.fromkeys((*row.disallowed_hits, *row.missing_evidence, *row.loaded_skills)):
        hit = row.token_hits.get(token)
        if hit is not None:
            yield from _named(
                "found", [f"{token} at tier {hit.tier} ({hit.source_detail}):"], width
            )
            room = min(width, _PROOF_WIDTH) - _INDENT
            yield f"{'':11}{shorten(excerpt(visible(hit.proof_line), token, room), room)}"


# --- the end of a run


def _slowest(rows: Sequence[UnitResult], width: int) -> list[str]:
    """The units that took longest, where there are enough of them to tell apart."""
    if len(rows) <= _SLOWEST:
        return []
    lines = ["slowest"]
    for row in sorted(rows, key=lambda row: -row.duration_ms)[:_SLOWEST]:
        late = " (timeout)" if row.timed_out else ""
        time = f"{row.duration_ms / 1000:.1f} s".rjust(9)
        lines.append(f"{time}  {shorten_middle(_name(row, '#'), width - 11 - len(late))}{late}")
    return [*lines, ""]


def _kept(rows: Sequence[UnitResult]) -> list[str]:
    """Where workspaces were kept, for the first units; paths are not cut."""
    kept = [
        f"  {_name(row, '#')}  {visible(note.removeprefix(KEPT_WORKSPACE))}"
        for row in rows
        for note in row.notes
        if note.startswith(KEPT_WORKSPACE)
    ]
    if len(kept) > _MOST_KEPT:
        more = f"  and {len(kept) - _MOST_KEPT} more; see the notes in results.json"
        kept[_MOST_KEPT:] = [more]
    return ["kept workspaces", *kept, ""] if kept else []


def _totals(results: Results) -> Iterator[str]:
    summary, rows = results.summary, results.results
    counts = f"{summary.passed} pass, {summary.fail} fail, {summary.infra_error} infra_error"
    yield f"{count(summary.total, 'run')}: {counts};"
    costs = [row.cost_usd for row in rows if row.cost_usd]
    seconds = sum(row.duration_ms for row in rows) / 1000
    yield f"{seconds:.1f} s of agent time{',' if costs else ''}"
    if costs:
        agents = ", ".join(dict.fromkeys(row.agent for row in rows if row.cost_usd))
        yield f"{sum(costs):.4f} USD reported by {agents}"


def _flow(parts: Iterator[str] | Sequence[str], width: int, *, indent: str = "") -> list[str]:
    """The parts side by side, on as many lines as the width asks for."""
    lines: list[str] = []
    for part in parts:
        if lines and cell_width(f"{lines[-1]} {part}") <= width:
            lines[-1] += f" {part}"
        else:
            before = indent if lines else ""
            lines.append(before + shorten_middle(part, width - len(before)))
    return lines


# --- a delta


def render_delta_text(delta: Delta, style: ConsoleStyle, results: str = "RESULTS") -> str:
    """Rows worth a look, then the verdict; stands after the run's own matrix.

    `results` is where the results lie, for the commands that are offered.
    """
    changed = changed_rows(delta)
    lines = [f"delta against {_baseline(delta)}"]
    lines += [f"note: {printable(note)}" for note in find_notes(delta)]
    lines += _edits(delta)
    for row in changed[:_MOST_CHANGED]:
        lines += _delta_row(delta, row, style, results)
    if len(changed) > _MOST_CHANGED:
        lines.append(f"and {len(changed) - _MOST_CHANGED} more; see --format json")
    counts = ", ".join(f"{number} {kind.value}" for kind, number in delta.counts.items())
    lines.append(f"{counts or 'nothing'}, {delta.not_selected} not selected")
    lines.append(style.paint(f"gate: {find_headline(delta)}", _CONCLUSIONS[delta.conclusion]))
    return "\n".join(lines)


def _edits(delta: Delta) -> Iterator[str]:
    if delta.edits:
        yield f"this change edits: {edits_headline(delta)}"
    for edit in delta.edits[:_MOST_CHANGED]:
        first, *fields = edit_lines(edit)
        yield f"  {printable(first)}"
        yield from (f"    {printable(field)}" for field in fields[:_MOST_RED])
    if len(delta.edits) > _MOST_CHANGED:
        yield f"  and {count(len(delta.edits) - _MOST_CHANGED, 'more edit')}; see --format json"
    yield from (f"measured with: {printable(one)}" for one in delta.measured_with)


def _baseline(delta: Delta) -> str:
    source = delta.baseline
    if source.commit is None:
        return f"{source.path}, {source.how}"
    missing = "" if source.present else ", where the file does not exist"
    return f"{source.path} at {source.commit[:12]} of {source.date}, {source.how}{missing}"


def _delta_row(delta: Delta, row: DeltaEntry, style: ConsoleStyle, results: str) -> Iterator[str]:
    colour = _RED if row.gates else _GREEN if row.kind is DeltaKind.IMPROVEMENT else _YELLOW
    flaky = f" [flaky {row.passed}/{row.trials}]" if row.flaky else ""
    word = style.paint(row.kind.value.ljust(11), colour)
    yield f"{word} {printable(f'{row.agent}:{row.case_id}')}{flaky}: {printable(row.why)}"
    for note in row.not_alike:
        yield f"{'':11} not comparable: {printable(note)}"
    if row.gates or row.kind is DeltaKind.IMPROVEMENT:
        for label, text in list_steps(delta, row, results):
            yield f"{'':11} {label}: {text}"
