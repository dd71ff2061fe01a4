"""The end of a run as text for a terminal.

Lines keep within the width, but for commands and paths, which are there to be copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from routing_action.corpus.baseline import Status
from routing_action.corpus.cases_file import Corpus
from routing_action.evidence.outcome import Outcome
from routing_action.gate.judging.settle import Weighed
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count, format_duration
from routing_action.report.causes import group_rows
from routing_action.report.terminal.alone import judge_alone
from routing_action.report.terminal.blocks import Blocks
from routing_action.report.terminal.cells import shorten_middle, visible
from routing_action.report.terminal.layout import (
    BOLD,
    GREEN,
    LEAST_WIDTH,
    RED,
    YELLOW,
    ConsoleStyle,
    flow,
    wrap,
)
from routing_action.report.terminal.matrix import MARKS, draw_matrix
from routing_action.report.view import is_worth_a_look
from routing_action.results.model import Results, UnitResult
from routing_action.results.notes import KEPT_WORKSPACE, notes_of_agents

_NOTHING = Weighed()
_ORDER = (Status.FAIL, Status.INFRA_ERROR, Status.PASS)
_SLOWEST = 5
_SLOW_MS = 5000
_MOST_KEPT = 10


def render_console(
    results: Results,
    *,
    reason: str,
    artifacts: str,
    program: str,
    style: ConsoleStyle,
    corpus: Corpus | None = None,
    weighed: Weighed = _NOTHING,
    is_compared: bool = False,
) -> str:
    """The final text of a run: matrix, a block for each cause, totals and the artifact folder.

    `program` is how a run is started here, for the commands that are offered. `weighed` is
    what a comparison will say of its pairs. `is_compared`: one follows at once, which says what
    failed and gives the verdict.
    """
    style = ConsoleStyle(style.colour, max(style.width, LEAST_WIDTH))
    delta = judge_alone(results, program, corpus, weighed)
    rows = [row for row in delta.rows if is_worth_a_look(row)]
    rows.sort(key=lambda row: (not row.gates, _ORDER.index(row.got)))
    lines = [
        *draw_matrix(results, style, leave_out=_unmeasured(delta, rows), doubtful=weighed.unproven)
    ]
    lines += [""] if lines else []
    if not is_compared:
        lines += _agent_notes(results, style.width)
        lines += _blocks(results, delta, rows, style)
    lines += _kept(results.results)
    lines += _slowest(results.results, style)
    lines += flow(_totals(results), style.width, indent="  ")
    if not is_compared:
        verdict = wrap(f"verdict: {reason}", style.width, indent="  ")
        lines += [style.paint(line, _colour(results)) for line in verdict]
        lines += [f"artifacts: {artifacts}"]
    return "\n".join(lines)


def _colour(results: Results) -> str:
    failed = any(pair.status is Status.FAIL for pair in results.pairs)
    passed = all(pair.status is Status.PASS for pair in results.pairs)
    return RED if failed else GREEN if passed and results.complete else YELLOW


def _unmeasured(delta: Delta, rows: Sequence[DeltaEntry]) -> frozenset[str]:
    """The agents of which nothing was measured for one cause: a column would say no more."""
    sizes = Counter(row.agent for row in delta.rows)
    lost = (one for one in group_rows(delta, rows) if one[0].got is Status.INFRA_ERROR)
    counts = (Counter(row.agent for row in group).items() for group in lost)
    return frozenset(agent for one in counts for agent, number in one if number == sizes[agent])


def _agent_notes(results: Results, width: int) -> Iterator[str]:
    """Why an agent cannot pass at all: each note once."""
    notes = notes_of_agents(note for row in results.results for note in row.notes)
    for note in notes:
        yield from wrap(f"note: {note}", width, indent="  ")
    if notes:
        yield ""


def _blocks(
    results: Results, delta: Delta, rows: Sequence[DeltaEntry], style: ConsoleStyle
) -> Iterator[str]:
    chosen = results.options
    is_part = any((chosen.case_ids, chosen.categories, chosen.sample, chosen.shard))
    whole = frozenset[str]() if is_part else frozenset(chosen.agents)
    lines = list(Blocks(delta, style, _word, None, whole).draw(rows))
    yield from lines
    if lines and lines[-1]:
        yield ""


def _word(row: DeltaEntry) -> tuple[str, str]:
    if row.kind is DeltaKind.EXPIRED:
        return row.kind.value, RED
    if row.kind is DeltaKind.NOT_PROVEN:
        return row.kind.value, YELLOW
    if row.chance and not row.gates:
        return row.kind.value, GREEN
    return ("flaky", YELLOW) if row.got is Status.PASS or row.got is None else MARKS[row.got]


# --- the end of a run


def _slowest(rows: Sequence[UnitResult], style: ConsoleStyle) -> Iterator[str]:
    """The units that took longest, where there are enough of them and any took its time."""
    slow = sorted((row for row in rows if row.duration_ms > _SLOW_MS), key=lambda r: -r.duration_ms)
    if not slow or len(rows) <= _SLOWEST:
        return
    yield style.paint("slowest", BOLD)
    for row in slow[:_SLOWEST]:
        late = " (timeout)" if row.timed_out else ""
        time = format_duration(row.duration_ms).rjust(12)
        yield f"{time}  {shorten_middle(_name(row), style.width - 14 - len(late))}{late}"
    yield ""


def _name(row: UnitResult) -> str:
    trial = f"#{row.trial}" if row.trial > 1 else ""
    return visible(f"{row.agent}:{row.case_id}{trial}")


def _kept(rows: Sequence[UnitResult]) -> list[str]:
    """Where workspaces were kept, for the first units; paths are not cut."""
    kept = [
        f"  {_name(row)}  {visible(note.removeprefix(KEPT_WORKSPACE))}"
        for row in rows
        for note in row.notes
        if note.startswith(KEPT_WORKSPACE)
    ]
    if len(kept) > _MOST_KEPT:
        more = f"  and {len(kept) - _MOST_KEPT} more; see the notes in results.json"
        kept[_MOST_KEPT:] = [more]
    return ["kept workspaces", *kept, ""] if kept else []


def _totals(results: Results) -> Iterator[str]:
    summary = results.summary
    rows = [row for row in results.results if not row.reused_from]
    reused = len(results.results) - len(rows)
    left = sum(row.outcome is Outcome.NOT_RUN for row in rows)
    infra = summary.infra_error - left
    counts = {"pass": summary.passed, "fail": summary.fail, "infra": infra}
    told = ", ".join(f"{number} {word}" for word, number in counts.items() if number)
    recorded = bool(results.options.replay)  # no agent spent anything now
    spent = 0 if recorded else sum(row.duration_ms for row in rows)
    times = {"took {}": _busy_ms(rows), "{} of agent time": spent}
    facts = [text.format(format_duration(time)) for text, time in times.items() if time]
    costs = [row.cost_usd for row in rows if row.cost_usd]
    if costs:
        agents = ", ".join(dict.fromkeys(row.agent for row in rows if row.cost_usd))
        known = sum(row.cost_usd is not None for row in rows)
        part = f" for {known} of them" if known < len(rows) else ""
        told_when = " when recorded" if recorded else ""
        facts.append(f"{sum(costs):.4f} USD reported by {agents}{part}{told_when}")
    kind = "recorded run" if recorded else "run"
    ran = count(summary.total - reused - left, kind)
    told = f"{told or 'none ended'}{f'; {left} not started' if left else ''}"
    yield f"{ran}{f', {reused} reused' if reused else ''}: {told}{';' if facts else ''}"
    yield from (f"{fact}," for fact in facts[:-1])
    yield from facts[-1:]


def _busy_ms(rows: Sequence[UnitResult]) -> int:
    """For how long anything ran; a pause before a batch was resumed does not count."""
    spans = sorted(
        (datetime.fromisoformat(row.started_at_utc), datetime.fromisoformat(row.ended_at_utc))
        for row in rows
        if row.started_at_utc and row.ended_at_utc
    )
    total, until = 0.0, None
    for start, end in spans:
        begin = start if until is None else max(start, until)
        total += max((end - begin).total_seconds(), 0)
        until = end if until is None else max(end, until)
    return round(total * 1000)
