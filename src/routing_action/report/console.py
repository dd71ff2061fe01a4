"""The end of a run on a terminal: the matrix, and for each red pair why, the proof and a rerun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from routing_action.domain.rerun import build_run_command, select_case
from routing_action.domain.results import PairSummary, Results, UnitResult
from routing_action.domain.verdict import Status

_MARKS = {Status.PASS: "pass", Status.FAIL: "FAIL", Status.INFRA_ERROR: "infra"}
_COLOURS = {"pass": "32", "FAIL": "31", "infra": "33", "flaky": "35"}
_WIDEST_CASE = 44
_PROOF_WIDTH = 160
_MANY = 30


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
    lines = [*_matrix(results, style), *_skill_notes(results), ""]
    lines += _reasons(results, program, style)
    summary = results.summary
    runs = "1 run" if summary.total == 1 else f"{summary.total} runs"
    lines.append(
        f"{runs}: {summary.passed} pass, {summary.fail} fail, "
        f"{summary.infra_error} infra_error{_cost(results)}"
    )
    lines += [f"verdict: {reason}", f"artifacts: {artifacts}"]
    return "\n".join(lines)


def _skill_notes(results: Results) -> list[str]:
    """Why an agent was offered no skill at all, once for each agent."""
    notes = (note for row in results.results for note in row.notes if "finds no skill" in note)
    return [f"note: {note}" for note in dict.fromkeys(notes)]


def _matrix(results: Results, style: ConsoleStyle) -> list[str]:
    agents = list(dict.fromkeys(pair.agent for pair in results.pairs))
    cases = list(dict.fromkeys(pair.case_id for pair in results.pairs))
    cells = {(pair.case_id, pair.agent): _cell(pair) for pair in results.pairs}
    first = min(max([4, *(len(case) for case in cases)]), _WIDEST_CASE)
    widths = [max(len(agent), 10) for agent in agents]
    head = "  ".join(agent.ljust(width) for agent, width in zip(agents, widths, strict=True))
    lines = [f"{'case'.ljust(first)}  {head}".rstrip()]
    for case in cases:
        row = [
            _painted(cells.get((case, agent), "-"), width, style)
            for agent, width in zip(agents, widths, strict=True)
        ]
        lines.append(f"{_short(case, first).ljust(first)}  {'  '.join(row)}".rstrip())
    return lines


def _cell(pair: PairSummary) -> str:
    mark = "flaky" if pair.flaky else _MARKS[pair.status]
    return f"{mark} {pair.passed}/{pair.trials}" if pair.trials > 1 else mark


def _painted(cell: str, width: int, style: ConsoleStyle) -> str:
    colour = _COLOURS.get(cell.partition(" ")[0])
    text = cell.ljust(width)
    return f"\x1b[{colour}m{text}\x1b[0m" if style.colour and colour else text


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


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
    trial = f" trial {row.trial}" if row.trial > 1 else ""
    head = f"{row.agent}:{row.case_id}{trial}: {_MARKS[row.status]} {row.failure_kind or ''}"
    lines = [_painted(head, 0, style) if style.colour else head.rstrip()]
    if row.error:
        lines.append(f"  cause    {_printable(row.error, style.width)}")
    if row.disallowed_hits:
        lines.append(f"  refused  {', '.join(row.disallowed_hits)} was used and is disallowed")
    if row.missing_evidence:
        lines.append(f"  missing  {', '.join(row.missing_evidence)}")
    if row.loaded_skills:
        lines.append(f"  loaded   {', '.join(row.loaded_skills)}")
    lines += _proofs(row, style.width)
    lines += [f"  rerun    {rerun}", ""]
    return lines


def _proofs(row: UnitResult, width: int) -> list[str]:
    """The best that was found for each missing token, though it was too weak."""
    lines = []
    for token in (*row.disallowed_hits, *row.missing_evidence):
        hit = row.token_hits.get(token)
        if hit is not None:
            proof = _around(hit.proof_line, token, min(width, _PROOF_WIDTH) - 11)
            lines.append(f"  found    {token} at tier {hit.tier} ({hit.source_detail}):")
            lines.append(f"           {proof}")
    return lines


def _around(proof: str, token: str, width: int) -> str:
    """The part of a proof line that names the token, cut to a width."""
    plain = "".join(char if char.isprintable() else " " for char in proof)
    place = plain.casefold().find(token.rpartition(":")[2].casefold())
    start = max(0, place - width // 2)
    return _short(("…" if start else "") + plain[start:], max(width, 40))


def _printable(text: str, width: int) -> str:
    """One line without control characters, cut to a width."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    return _short(plain, max(width - 11, 40))


def _cost(results: Results) -> str:
    costs = [row.cost_usd for row in results.results if row.cost_usd is not None]
    seconds = sum(row.duration_ms for row in results.results) / 1000
    spent = f", {sum(costs):.4f} USD reported by {_agents(results.results)}" if any(costs) else ""
    return f"; {seconds:.1f} s of agent time{spent}"


def _agents(rows: Sequence[UnitResult]) -> str:
    return ", ".join(dict.fromkeys(row.agent for row in rows if row.cost_usd))
