"""In which order a batch's units run, which run again, and when no more of them are needed.

Those that are most likely to fail come first: a leg that ends early, whatever ends it, has then
seen what matters most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from routing_action.corpus.baseline import Pair
from routing_action.corpus.units import Unit
from routing_action.errors import HarnessError
from routing_action.results.model import OfferedSkill
from routing_action.results.notes import GATE_DECIDED
from routing_action.results.past.history import HistoryLine
from routing_action.results.past.history_lines import digest_description
from routing_action.results.past.records import read_past
from routing_action.run.limits import Brakes
from routing_action.run.plan import Plan
from routing_action.run.process.descendants import end_orphans, find_orphans
from routing_action.run.rounds import Rounds
from routing_action.run.trials.confirm import Confirm
from routing_action.run.unit import UnitRunner

RECENT = 20
"""So many of its newest trials tell how likely a pair is to fail."""


async def measure(rounds: Rounds, plan: Plan, runner: UnitRunner, confirm: Confirm) -> None:
    """Run all units, and those again that `--confirm` asks for; HarnessError where any is left.

    A process that outlives its unit and our signals could still write results of its own.
    """
    settings, brakes = runner.settings, runner.brakes
    lines, offered = read_past(settings.history).lines, runner.parts.launcher.offered_skills()
    there = find_orphans() or frozenset()
    units = list(plan.units)
    ordered = order_units(units, lines, offered)
    size = 2 * settings.limits.max_parallel if settings.fail_fast else len(ordered)
    for part in cut_parts(ordered, size):
        await rounds.run(part)
        await _confirm(rounds, part, units, confirm, brakes)
        if settings.fail_fast and (red := confirm.find_red(rounds.measured)):
            brakes.end(f"{GATE_DECIDED}, since {red} (--fail-fast)")
    if end_orphans(there):
        raise HarnessError(
            "processes that agents started could not be ended, so no result can be believed",
            remedy="see in the transcripts which unit started them, and start a new batch",
        )


async def _confirm(
    rounds: Rounds, part: Sequence[Unit], units: list[Unit], confirm: Confirm, brakes: Brakes
) -> None:
    """Run pairs of a part again, and add the units of that to those so far."""
    pairs = {_pair(unit) for unit in part}
    for _ in range(confirm.asked.waves):
        rows = [row for row in rounds.measured if (row.case_id, row.agent) in pairs]
        again = confirm.next_units(rows, units, brakes.down)
        if not (again and rounds.complete):
            return
        units += again
        await rounds.run(again)


def order_units(
    units: Sequence[Unit], lines: Iterable[HistoryLine], offered: Sequence[OfferedSkill] = ()
) -> list[Unit]:
    """The units whose skill is described anew first, then by how often their pairs failed.

    `offered` are the skills as they are now. A pair without a history is as likely to fail as to
    pass. Equals keep their order.
    """
    risks: dict[Pair, tuple[int, int]] = {}
    described: dict[Pair, str] = {}
    for line in reversed(list(lines)):
        failed, tried = risks.get(line.pair, (0, 0))
        if tried < RECENT:
            risks[line.pair] = (failed + line.measured - line.passes, tried + line.measured)
        described.setdefault(line.pair, line.description)

    def rank(unit: Unit) -> tuple[bool, float]:
        pair = _pair(unit)
        failed, tried = risks.get(pair, (0, 0))
        before = described.get(pair, "")
        now = digest_description(offered, unit.case.expected_skill, unit.agent) if before else ""
        is_edited = bool(before and now) and before != now
        return not is_edited, -(failed + 1) / (tried + 2)

    return sorted(units, key=rank)


def cut_parts(units: Sequence[Unit], size: int) -> Iterator[list[Unit]]:
    """Parts of about so many units; the trials of a pair stay together."""
    part: list[Unit] = []
    for place, unit in enumerate(units):
        is_new = place == 0 or _pair(unit) != _pair(units[place - 1])
        if is_new and len(part) >= size:
            yield part
            part = []
        part.append(unit)
    if part:
        yield part


def _pair(unit: Unit) -> Pair:
    return (unit.case.case_id, unit.agent)
