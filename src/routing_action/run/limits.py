"""What bounds a batch: how many units of an agent run at once, what it may cost, who is stopped.

It says which units may start; what is running is not touched. Source of the rules:
docs/how-to/bound-time-and-cost.md, docs/how-to/throttling-and-lanes.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from routing_action.agents.provider import Provider
from routing_action.corpus.units import DEFAULT_OUTAGE_AFTER
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy, Reading
from routing_action.results.model import UnitResult
from routing_action.run.settings import RunSettings, agent_templates
from routing_action.run.workspace.agent_home import find_login_files

MEMORY_SHARE = 0.75
"""Of the memory that is free so much is given to agents; their tools and we need some too."""


@dataclass(frozen=True, slots=True)
class Lane:
    """How many units of a provider run at once, and why it is no more; at least 1."""

    room: int
    reason: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """`lanes` holds the providers that get fewer slots than the batch has.

    `not_enforced` names, by option, the agents that it cannot hold back.
    """

    lanes: Mapping[str, Lane] = field(default_factory=dict)
    not_enforced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def rooms(self) -> dict[str, int]:
        """How many units at once, by provider."""
        return {name: lane.room for name, lane in self.lanes.items()}

    def describe(self) -> Iterator[str]:
        """One line for people for each lane, and for each limit that does not hold for all."""
        for name, lane in self.lanes.items():
            yield f"{name}: {lane.room} at once ({lane.reason})"
        for option, agents in self.not_enforced.items():
            yield f"{option} is not enforced for {', '.join(agents)}: {_REASONS[option]}"


_REASONS = {
    "--max-cost-usd": "the CLI does not report what a run costs, so it counts as nothing",
    "--max-unit-cost-usd": "the CLI has no such limit, and reports no cost while it runs",
    "--max-turns": "the CLI has no such limit, or a command of your own starts it",
}


def find_bounds(
    providers: Mapping[str, Provider], settings: RunSettings, free_bytes: int | None
) -> Bounds:
    """The bounds of a batch; a replay starts no agent, so that memory and logins do not matter."""
    live = settings.replay is None
    lanes = plan_lanes(
        providers.values(),
        settings.limits.provider_lanes,
        max_parallel=settings.limits.max_parallel,
        free_bytes=free_bytes if live else None,
        serial_logins=_serial_logins(providers.values(), settings.environ) if live else (),
    )
    return Bounds(lanes, _not_enforced(providers, settings))


def plan_lanes(
    providers: Iterable[Provider],
    asked: Mapping[str, int],
    *,
    max_parallel: int,
    free_bytes: int | None,
    serial_logins: Iterable[str] = (),
) -> dict[str, Lane]:
    """The lane of every provider that gets fewer slots than the batch has.

    A number that was asked for stands. Else memory is shared evenly between the providers:
    `free_bytes` of it, None where it is not known. `serial_logins` are the providers that would
    use one login in several homes. Every lane has room for one unit, whatever it takes.
    """
    chosen, serial = list(providers), set(serial_logins)
    lanes: dict[str, Lane] = {}
    for one in chosen:
        if one.name in asked:
            lanes[one.name] = Lane(asked[one.name], "as asked")
        elif one.name in serial:
            lanes[one.name] = Lane(1, "its login file can be refreshed by one process only")
        elif free_bytes is not None:
            room = free_bytes * MEMORY_SHARE / len(chosen) // (one.memory_mb * 2**20)
            reason = f"{one.memory_mb} MB each of {free_bytes // 2**20} MB free"
            lanes[one.name] = Lane(max(1, int(room)), reason)
    return {name: lane for name, lane in lanes.items() if lane.room < max_parallel}


def _not_enforced(
    providers: Mapping[str, Provider], settings: RunSettings
) -> dict[str, tuple[str, ...]]:
    own = agent_templates(providers, settings.environ)
    limits, replayed = settings.limits, settings.replay is not None

    def missing(asked: object, is_missing: Callable[[Provider], bool]) -> tuple[str, ...]:
        names = (one.name for one in providers.values() if is_missing(one))
        return () if asked is None else tuple(names)

    def flagless(one: Provider, arguments: tuple[str, ...]) -> bool:
        return replayed or one.name in own or not arguments

    found = {
        "--max-cost-usd": missing(
            limits.max_cost_usd, lambda one: replayed or one.reports_cost == "never"
        ),
        "--max-unit-cost-usd": missing(
            limits.max_unit_cost_usd,
            lambda one: one.reports_cost != "during" and flagless(one, one.budget_arguments),
        ),
        "--max-turns": missing(limits.max_turns, lambda one: flagless(one, one.turn_arguments)),
    }
    return {option: agents for option, agents in found.items() if agents}


def _serial_logins(providers: Iterable[Provider], environ: Mapping[str, str]) -> Iterator[str]:
    """The providers whose units would all use the user's one login file."""
    for provider in providers:
        keys = any(environ.get(name) for name in provider.credential_variables)
        if provider.serial_login and not keys and find_login_files(provider, environ):
            yield provider.name


_HOPELESS = (Outcome.AUTH, Outcome.QUOTA, Outcome.CLI_MISSING, Outcome.MCP_SERVER)
_OUTAGE = (
    Outcome.RATE_LIMIT,
    Outcome.SERVER_ERROR,
    Outcome.API_ERROR,
    Outcome.NEVER_RAN,
    Outcome.NO_OUTPUT,
)
_SILENT = (Outcome.NOT_RUN, Outcome.CANCELLED)
"""They say nothing about the service."""


class Brakes:
    """Stops an agent that cannot work, and all once the cost cap is reached.

    Costs are US dollars; what an agent does not report counts as nothing.
    """

    def __init__(
        self,
        cap_usd: float | None = None,
        *,
        live: bool = True,
        outage_after: int = DEFAULT_OUTAGE_AFTER,
    ) -> None:
        """So many units in a row that the service failed stop an agent; with 0, none do.

        A replay (not `live`) is never stopped: it needs no credentials and costs nothing.
        """
        self._cap = cap_usd if live else None
        self._live = live
        self._outage_after = outage_after
        self._stopped: dict[str, str] = {}
        self._ended = ""
        self._failed: dict[str, int] = {}
        self._worked: set[str] = set()
        self._running: dict[str, int] = {}
        self._moved = asyncio.Condition()
        self._reported = 0
        self._unreported: dict[str, int] = {}
        self.known_usd = 0.0

    @asynccontextmanager
    async def turn(self, agent: str) -> AsyncIterator[None]:
        """Wait until a unit of an agent may start, and count it as running until it ended.

        Until one has worked, no more run than may fail before the agent is stopped: an outage
        costs no more units where many run at once.
        """
        async with self._moved:
            await self._moved.wait_for(lambda: self._has_room(agent))
            self._running[agent] = self._running.get(agent, 0) + 1
        try:
            yield
        finally:
            async with self._moved:
                self._running[agent] -= 1
                self._moved.notify_all()

    def _has_room(self, agent: str) -> bool:
        if self.refusal(agent) or not self._outage_after or not self._live:
            return True
        if agent in self._worked:
            return True
        at_stake = self._running.get(agent, 0) + self._failed.get(agent, 0)
        return at_stake < self._outage_after

    @property
    def stopped(self) -> frozenset[str]:
        """The agents of which no further unit may start, whatever it costs."""
        return frozenset(self._stopped)

    @property
    def down(self) -> frozenset[str]:
        """Those, and the agents whose service failed and that never worked: none is confirmed."""
        never = {agent for agent, failed in self._failed.items() if failed} - self._worked
        return self.stopped | never

    def refusal(self, agent: str) -> str:
        """Why no further unit of an agent may start; "" while it may."""
        if self._ended or agent in self._stopped:
            return self._ended or self._stopped[agent]
        if self._cap is None or self.known_usd < self._cap:
            return ""
        return (
            f"not run: the batch has cost {self.known_usd:.4f} USD, "
            f"its cap is {self._cap:g} USD (--max-cost-usd)"
        )

    def end(self, cause: str) -> None:
        """No further unit may start, of any agent."""
        self._ended = self._ended or cause

    def spend(self, agent: str, cost_usd: float | None, ended_by: EndedBy) -> None:
        """A unit ended, or an attempt of it."""
        if cost_usd is not None:
            self._reported += 1
            self.known_usd += cost_usd
        elif ended_by not in (EndedBy.START_FAILED, EndedBy.NOT_STARTED):
            self._unreported[agent] = self._unreported.get(agent, 0) + 1

    def judge(self, row: UnitResult, reading: Reading | None = None) -> None:
        """A unit ended: what keeps it from working does not go away within a batch.

        A deadline before the model said anything is a failure of the service too.
        """
        if not self._live or row.outcome in _SILENT:
            return
        if row.outcome in _HOPELESS:
            self._stop(row, row.outcome.value)
        elif row.outcome in _OUTAGE or (
            row.outcome is Outcome.TIMEOUT and reading is not None and not reading.is_answered
        ):
            self._failed[row.agent] = self._failed.get(row.agent, 0) + 1
            if self._failed[row.agent] == self._outage_after:
                self._stop(row, _count_failures(self._outage_after))
        else:
            self._failed[row.agent] = 0
            if row.outcome in (Outcome.COMPLETED, Outcome.TIMEOUT, Outcome.LIMIT):
                self._worked.add(row.agent)

    def _stop(self, row: UnitResult, cause: str) -> None:
        reason = row.error or row.outcome.value
        self._stopped.setdefault(
            row.agent, f"not run: {row.agent} was stopped after {cause} ({reason})"
        )

    def carry(self, row: UnitResult) -> None:
        """A unit had ended in an earlier life of the batch."""
        self.spend(row.agent, row.cost_usd, row.ended_by)
        self.judge(row)

    def describe_cost(self) -> str:
        """One line for people: what is known, and whose cost is not."""
        runs = "1 run" if self._reported == 1 else f"{self._reported} runs"
        line = f"cost known: {self.known_usd:.4f} USD of {runs}"
        rest = ", ".join(f"{agent} {count}" for agent, count in sorted(self._unreported.items()))
        return f"{line}; not reported, so not counted: {rest}" if rest else line


def _count_failures(number: int) -> str:
    return (
        "a failure of its service" if number == 1 else f"{number} failures of its service in a row"
    )
