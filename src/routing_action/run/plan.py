"""What is to be run: cases and providers chosen, units built, shards balanced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from routing_action.agents.provider import Provider
from routing_action.corpus.baseline import Pair
from routing_action.corpus.case import Case, select_cases
from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.naming import fold
from routing_action.corpus.units import DEFAULT_DURATION_MS, Shard, Unit, build_shards, build_units
from routing_action.errors import NothingToRunError, UsageError
from routing_action.files.nearest import suggest
from routing_action.results.model import Results


@dataclass(frozen=True, slots=True)
class Selection:
    """The filters as they were asked for; empty means all.

    Of `pairs` the cases and agents are those of the other filters, but not each with each.
    """

    agents: tuple[str, ...]
    case_ids: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    sample: int | None = None
    seed: int | None = None
    trials: int = 1
    pairs: frozenset[Pair] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """The corpus, what was chosen of it, and the units in the order of the results."""

    corpus: Corpus
    selection: Selection
    providers: Mapping[str, Provider]
    cases: tuple[Case, ...]
    units: tuple[Unit, ...]

    def cases_of(self, agent: str) -> list[Case]:
        """What an agent is to run, in the file's order."""
        pairs = self.selection.pairs
        return [one for one in self.cases if not pairs or (one.case_id, agent) in pairs]


def build_plan(corpus: Corpus, selection: Selection, providers: Mapping[str, Provider]) -> Plan:
    """Apply the filters; an unknown case id or category is an error, an empty rest another."""
    case_ids = [case.case_id for case in corpus.cases]
    categories = sorted({case.category for case in corpus.cases} - {""})
    _refuse_unknown("case", "cases", selection.case_ids, case_ids)
    _refuse_unknown("category", "categories", selection.categories, categories)
    cases = select_cases(
        corpus.cases,
        case_ids=selection.case_ids,
        categories=selection.categories,
        sample=selection.sample,
        seed=selection.seed or 0,
    )
    if not cases or not selection.agents:
        raise NothingToRunError(
            f"{corpus.file}: none of {len(corpus.cases)} cases passes the filters",
            remedy="leave --case-id or --category out: no case passes both",
        )
    every = build_units(cases, selection.agents, selection.trials)
    units = [
        unit
        for unit in every
        if not selection.pairs or (unit.case.case_id, unit.agent) in selection.pairs
    ]
    chosen = {name: providers[name] for name in selection.agents}
    return Plan(corpus, selection, chosen, tuple(cases), tuple(units))


def _refuse_unknown(what: str, several: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    missing = _missing(wanted, known)
    if missing:
        every = f"the {several} are: {', '.join(known)}"[:500]
        raise UsageError(
            f"no {what} {', '.join(map(repr, missing))}",
            remedy=_guess(missing, known) or (every if known else f"no case has a {what}"),
        )


def _missing(wanted: Sequence[str], known: Sequence[str]) -> list[str]:
    names = {fold(name) for name in known}
    return [name for name in wanted if fold(name) not in names]


def _guess(missing: Sequence[str], known: Sequence[str]) -> str:
    """What may have been meant; of several names, which of them was."""
    near = {name: suggest(name, known) for name in missing}
    if len(near) == 1:
        return next(iter(near.values()))
    return " ".join(f"{name}: {hint}" for name, hint in near.items() if hint)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a plan is likely to take, from earlier results; None where they do not tell."""

    seconds: int
    cost_usd: float | None


def estimate(plan: Plan, results: Sequence[Results]) -> Estimate:
    """Agent time and reported cost of all units, each pair by its dearest earlier trial."""
    durations = recorded_durations(results)
    costs: dict[tuple[str, str], float] = {}
    for row in (row for result in results for row in result.results):
        if row.cost_usd is not None and not row.reused_from:
            pair = (row.agent, row.case_id)
            costs[pair] = max(costs.get(pair, 0.0), row.cost_usd)
    pairs = [(unit.agent, unit.case.case_id) for unit in plan.units]
    known = [costs[pair] for pair in pairs if pair in costs]
    milliseconds = sum(durations.get(pair, DEFAULT_DURATION_MS) for pair in pairs)
    return Estimate(round(milliseconds / 1000), sum(known) if known else None)


def recorded_durations(results: Sequence[Results]) -> dict[tuple[str, str], int]:
    """The longest duration of each pair in earlier results, in milliseconds."""
    durations: dict[tuple[str, str], int] = {}
    for row in (row for result in results for row in result.results if not row.reused_from):
        pair = (row.agent, row.case_id)
        durations[pair] = max(durations.get(pair, 0), row.duration_ms)
    return durations


def plan_shards(plan: Plan, shards: int, durations: Mapping[tuple[str, str], int]) -> list[Shard]:
    """Each provider's cases in at most `shards` parts; GitHub takes at most 256 jobs."""
    planned = [
        shard
        for agent in plan.selection.agents
        for shard in build_shards(plan.cases_of(agent), [agent], shards, durations)
    ]
    if len(planned) > MATRIX_LIMIT:
        raise UsageError(
            f"{len(planned)} jobs are more than a matrix can hold ({MATRIX_LIMIT})",
            remedy="ask for fewer --shards or agents",
        )
    return planned


MATRIX_LIMIT = 256
