"""What bounds a batch: the lanes of its providers, and the limits that some CLIs do not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from routing_action.evidence.reader_protocol import Provider
from routing_action.run.lanes import Lane, plan_lanes
from routing_action.run.settings import RunSettings, agent_templates
from routing_action.run.workspace.agent_home import find_login_files


@dataclass(frozen=True, slots=True)
class Bounds:
    """`lanes` holds the providers that get fewer slots than the batch has.

    `not_enforced` names, by option, the agents that it cannot hold back.
    """

    lanes: Mapping[str, Lane] = field(default_factory=dict)
    not_enforced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def find_bounds(
    providers: Mapping[str, Provider], settings: RunSettings, free_bytes: int | None
) -> Bounds:
    """The bounds of a batch; a replay starts no agent, so that memory and logins do not matter."""
    live = settings.replay is None
    lanes = plan_lanes(
        providers.values(),
        settings.provider_lanes,
        max_parallel=settings.max_parallel,
        free_bytes=free_bytes if live else None,
        serial_logins=_serial_logins(providers.values(), settings) if live else (),
    )
    return Bounds(lanes, dict(_not_enforced(providers, settings)))


def describe_bounds(bounds: Bounds) -> Iterator[str]:
    """One line for people for each lane, and for each limit that does not hold for all."""
    for name, lane in bounds.lanes.items():
        yield f"{name}: {lane.room} at once ({lane.reason})"
    for option, agents in bounds.not_enforced.items():
        yield f"{option} does not hold for {', '.join(agents)}: {_REASONS[option]}"


_REASONS = {
    "--max-cost-usd": "nothing tells what a run costs, so it counts as nothing",
    "--max-unit-cost-usd": "the CLI has no such limit, and does not tell the cost while it runs",
    "--max-turns": "the CLI has no such limit, or a command of your own starts it",
}


def _not_enforced(
    providers: Mapping[str, Provider], settings: RunSettings
) -> Iterator[tuple[str, tuple[str, ...]]]:
    own = agent_templates(providers, settings.environ)
    replayed = settings.replay is not None
    told = [one.name for one in providers.values() if replayed or one.cost_told == "never"]
    capped = [
        one.name
        for one in providers.values()
        if one.cost_told != "during" and (replayed or one.name in own or not one.budget_arguments)
    ]
    turned = [
        one.name
        for one in providers.values()
        if replayed or one.name in own or not one.turn_arguments
    ]
    for option, asked, agents in (
        ("--max-cost-usd", settings.max_cost_usd, told),
        ("--max-unit-cost-usd", settings.max_unit_cost_usd, capped),
        ("--max-turns", settings.max_turns, turned),
    ):
        if asked is not None and agents:
            yield option, tuple(agents)


def _serial_logins(providers: Iterable[Provider], settings: RunSettings) -> Iterator[str]:
    """The providers whose units would all use the user's one login file."""
    for provider in providers:
        keys = any(settings.environ.get(name) for name in provider.credential_variables)
        if provider.serial_login and not keys and find_login_files(provider, settings.environ):
            yield provider.name
