"""The end of a run on a terminal: the matrix, each red pair with its proof, the slowest units.

Lines keep within the width, but for commands and paths, which are there to be copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from routing_action.corpus.baseline import Status
from routing_action.report.cells import cell_width, pad, printable, shorten, shorten_middle
from routing_action.report.remedies import find_remedy
from routing_action.results.model import (
    KEPT_WORKSPACE,
    PairSummary,
    Results,
    UnitResult,
    notes_of_agents,
)
from routing_action.results.rerun import build_run_command, select_case

_MARKS = {Status.PASS: "pass", Status.FAIL: "FAIL", Status.INFRA_ERROR: "infra"}
_COLOURS = {"pass": "32", "FAIL": "31", "infra": "33", "flaky": "35"}
_NARROWEST_CASE = 20
_WIDEST_CASE = 80
_LEAST_WIDTH = 40
_INDENT = 11
_PROOF_WIDTH = 160
_CAUSE_WIDTH = 400
_MANY = 30
_SLOWEST = 5
_MOST_KEPT = 10


@dataclass(frozen=True, slots=True)
class ConsoleStyle:
    """How the text may look; `width` is the terminal's in columns."""

    colour: bool = False
    width: int = 100


def render_console(
    results: Results, *, reason: str, artifacts: str, program: str, style: ConsoleStyle
) -> str:
    """The final text of a run: matrix, reasons, totals and the artifact folder.

    `program` is how a run is started here, for the commands that are offered.
    """
    width = max(style.width, _LEAST_WIDTH)
    lines = [*_matrix(results, style.colour, width), *_agent_notes(results, width), ""]
    lines += _reasons(results, program, style)
    lines += _kept(results.results)
    lines += _slowest(results.results, width)
    lines += _flow(_totals(results), width, indent="  ")
    lines += [f"verdict: {reason}", f"artifacts: {artifacts}"]
    return "\n".join(lines)


def _agent_notes(results: Results, width: int) -> Iterator[str]:
    """Why an agent cannot pass at all: each note once."""
    for note in notes_of_agents(note for row in results.results for note in row.notes):
        yield from _flow(f"note: {printable(note)}".split(" "), width, gap=" ", indent="  ")


# --- the matrix


def _matrix(results: Results, colour: bool, width: int) -> list[str]:
    """A line for each case; agents that do not fit beside the others get a matrix of their own."""
    cases = list(dict.fromkeys(pair.case_id for pair in results.pairs))
    cells = {(pair.case_id, pair.agent): _cell(pair) for pair in results.pairs}
    widths: dict[str, int] = {}
    for (_, agent), cell in cells.items():
        widths[agent] = max(widths.get(agent, cell_width(agent)), len(cell))
    longest = max((cell_width(case) for case in cases), default=0)
    lines: list[str] = []
    for agents in _groups(widths, width - min(longest, _NARROWEST_CASE)):
        used = sum(widths[agent] + 2 for agent in agents)
        first = min(max(longest, 4), max(width - used, _NARROWEST_CASE), _WIDEST_CASE)
        head = [pad("case", first), *(pad(agent, widths[agent]) for agent in agents)]
        lines += ["", *_row(head)] if lines else _row(head)
        for case in cases:
            marks = (cells.get((case, agent), "-") for agent in agents)
            painted = [
                _painted(mark, widths[agent], colour)
                for mark, agent in zip(marks, agents, strict=True)
            ]
            lines += _row([pad(shorten_middle(printable(case), first), first), *painted])
    return lines


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


def _row(cells: Sequence[str]) -> list[str]:
    return ["  ".join(cells).rstrip()]


def _cell(pair: PairSummary) -> str:
    mark = "flaky" if pair.flaky else _MARKS[pair.status]
    return f"{mark} {pair.passed}/{pair.trials}" if pair.trials > 1 else mark


def _painted(cell: str, width: int, colour: bool) -> str:
    number = _COLOURS.get(cell.partition(" ")[0])
    return f"\x1b[{number}m{pad(cell, width)}\x1b[0m" if colour and number else pad(cell, width)


# --- what did not pass


def _reasons(results: Results, program: str, style: ConsoleStyle) -> list[str]:
    red = list(_first_red(results))
    lines = [
        line for row in red[:_MANY] for line in _reason(row, _rerun(results, row, program), style)
    ]
    if len(red) > _MANY:
        lines += [f"and {len(red) - _MANY} more; see results.json", ""]
    return lines


def _first_red(results: Results) -> Iterator[UnitResult]:
    """One row for each pair that has a trial that did not pass, the first of them."""
    seen: set[tuple[str, str]] = set()
    for row in results.results:
        if row.status is not Status.PASS and (row.agent, row.case_id) not in seen:
            seen.add((row.agent, row.case_id))
            yield row


def _rerun(results: Results, row: UnitResult, program: str) -> str:
    return select_case(build_run_command(results.options, row.agent, program), row.case_id)


def _reason(row: UnitResult, rerun: str, style: ConsoleStyle) -> list[str]:
    width = max(style.width, _LEAST_WIDTH)
    trial = f" trial {row.trial}" if row.trial > 1 else ""
    mark, kind = _MARKS[row.status], f" {row.failure_kind}" if row.failure_kind else ""
    name = printable(f"{row.agent}:{row.case_id}{trial}")
    name = shorten_middle(name, width - len(f": {mark}{kind}"))
    lines = [f"{name}: {_painted(mark, 0, style.colour)}{kind}"]
    if row.error:
        lines += _named("cause", [shorten(printable(row.error), _CAUSE_WIDTH)], width)
    if row.disallowed_hits:
        lines += _named("refused", row.disallowed_hits, width, " was used and is disallowed")
    if row.status is Status.FAIL:
        lines += _named("missing", row.missing_evidence, width)
    lines += _named("loaded", [_loaded(row, name) for name in row.loaded_skills], width)
    lines += _proofs(row, width)
    lines += _named("mend", [find_remedy(row.failure_kind)], width)
    lines += [f"  rerun    {rerun}", ""]
    return lines


def _loaded(row: UnitResult, skill: str) -> str:
    return f"{skill} (in a sub-agent)" if skill in row.subagent_skills else skill


def _named(label: str, names: Sequence[str], width: int, after: str = "") -> list[str]:
    """A label with names, on as many lines as they need; nothing without names."""
    words = f"{', '.join(printable(name) for name in names)}{after}".split(" ")
    lines = _flow(words, width - _INDENT, gap=" ")
    return [f"  {'' if n else label:<9}{line}" for n, line in enumerate(lines)] if names else []


def _proofs(row: UnitResult, width: int) -> list[str]:
    """The best that was found for each missing token, though too weak, and what was loaded."""
    lines = []
    for token in dict.fromkeys((*row.disallowed_hits, *row.missing_evidence, *row.loaded_skills)):
        hit = row.token_hits.get(token)
        if hit is not None:
            proof = _around(hit.proof_line, token, min(width, _PROOF_WIDTH) - _INDENT)
            lines += _named("found", [f"{token} at tier {hit.tier} ({hit.source_detail}):"], width)
            lines.append(f"           {proof}")
    return lines


def _around(proof: str, token: str, width: int) -> str:
    """The part of a proof line that names the token, cut to a width."""
    plain = printable(proof)
    place = plain.casefold().find(token.rpartition(":")[2].casefold())
    start = max(0, place - width // 2)
    return shorten(("…" if start else "") + plain[start:], width)


# --- the end


def _slowest(rows: Sequence[UnitResult], width: int) -> list[str]:
    """The units that took longest, where there are enough of them to tell apart."""
    if len(rows) <= _SLOWEST:
        return []
    lines = ["slowest"]
    for row in sorted(rows, key=lambda row: -row.duration_ms)[:_SLOWEST]:
        trial = f"#{row.trial}" if row.trial > 1 else ""
        late = " (timeout)" if row.timed_out else ""
        time = f"{row.duration_ms / 1000:.1f} s".rjust(9)
        name = printable(f"{row.agent}:{row.case_id}{trial}")
        lines.append(f"{time}  {shorten_middle(name, width - _INDENT - len(late))}{late}")
    return [*lines, ""]


def _kept(rows: Sequence[UnitResult]) -> list[str]:
    """Where workspaces were kept, for the first units; paths are not cut."""
    kept = [
        (row, note.removeprefix(KEPT_WORKSPACE))
        for row in rows
        for note in row.notes
        if note.startswith(KEPT_WORKSPACE)
    ]
    lines = ["kept workspaces"] if kept else []
    for row, path in kept[:_MOST_KEPT]:
        trial = f"#{row.trial}" if row.trial > 1 else ""
        lines.append(f"  {printable(f'{row.agent}:{row.case_id}{trial}')}  {printable(path)}")
    if len(kept) > _MOST_KEPT:
        lines.append(f"  and {len(kept) - _MOST_KEPT} more; see the notes in results.json")
    return [*lines, ""] if lines else []


def _totals(results: Results) -> list[str]:
    summary, rows = results.summary, results.results
    runs = "1 run" if summary.total == 1 else f"{summary.total} runs"
    seconds = sum(row.duration_ms for row in rows) / 1000
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    agents = ", ".join(dict.fromkeys(row.agent for row in rows if row.cost_usd))
    return [
        f"{runs}: {summary.passed} pass, {summary.fail} fail, {summary.infra_error} infra_error;",
        f"{seconds:.1f} s of agent time{',' if any(costs) else ''}",
        *([f"{sum(costs):.4f} USD reported by {agents}"] if any(costs) else []),
    ]


def _flow(parts: Sequence[str], width: int, *, gap: str = " ", indent: str = "") -> list[str]:
    """The parts side by side, on as many lines as the width asks for."""
    lines: list[str] = []
    for part in parts:
        if lines and cell_width(lines[-1] + gap + part) <= width:
            lines[-1] += gap + part
        else:
            before = indent if lines else ""
            lines.append(before + shorten_middle(part, width - len(before)))
    return lines
