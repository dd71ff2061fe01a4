"""The verdicts of a run as a table: a line for each case, a column for each agent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from routing_action.corpus.baseline import Pair, Status
from routing_action.report.terminal.cells import cell_width, pad, shorten_middle, visible
from routing_action.report.terminal.layout import (
    BOLD,
    GREEN,
    MAGENTA,
    RED,
    YELLOW,
    ConsoleStyle,
)
from routing_action.results.model import PairSummary, Results

MARKS = {
    Status.PASS: ("pass", GREEN),
    Status.FAIL: ("FAIL", RED),
    Status.INFRA_ERROR: ("infra", YELLOW),
}
_NARROWEST_CASE = 20
_WIDEST_CASE = 80


def draw_matrix(
    results: Results,
    style: ConsoleStyle,
    *,
    leave_out: Collection[str] = (),
    doubtful: Collection[Pair] = (),
) -> Iterator[str]:
    """A line for each case; agents that do not fit beside the others get a matrix of their own.

    `leave_out` are agents of which a table says nothing; without any other there is none.
    `doubtful` are pairs that are not proven to fail.
    """
    pairs = [pair for pair in results.pairs if pair.agent not in leave_out]
    if not pairs:
        return
    cases = list(dict.fromkeys(pair.case_id for pair in pairs))
    cells = {(pair.case_id, pair.agent): _cell(pair, doubtful) for pair in pairs}
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
        yield style.paint("  ".join(head).rstrip(), BOLD)
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


def _cell(pair: PairSummary, doubtful: Collection[Pair]) -> tuple[str, str]:
    is_unsure = pair.flaky or (pair.case_id, pair.agent) in doubtful
    mark, colour = ("flaky", MAGENTA) if is_unsure else MARKS[pair.status]
    return (f"{mark} {pair.passed}/{pair.trials}" if pair.trials > 1 else mark), colour
