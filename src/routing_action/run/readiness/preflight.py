"""Finds the agents that cannot work before anything is started, by what the doctor knows.

It starts nothing. In doubt an agent can work: its first failed unit stops it then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from routing_action.agents.diagnosis import Finding, Level, diagnose
from routing_action.agents.provider import Provider
from routing_action.corpus.units import Unit
from routing_action.files.program import own_program
from routing_action.run.readiness.doctor import look
from routing_action.run.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps an agent from working, and what a person does about it."""

    finding: Finding

    @property
    def is_missing_cli(self) -> bool:
        """True where its program is not there; else it cannot log in."""
        return self.finding.check == "program"

    def __str__(self) -> str:
        """For the row of each of its units."""
        return f"{self.finding.text}; {self.finding.remedy}"


@dataclass(frozen=True, slots=True)
class Preflight:
    """The agents that certainly cannot work, by name, and what to know of the others."""

    obstacles: Mapping[str, Obstacle]
    notes: tuple[str, ...] = ()


def look_ahead(providers: Mapping[str, Provider], settings: RunSettings) -> Preflight:
    """Look at each agent once. A replay starts none, so that nothing can be missing."""
    obstacles: dict[str, Obstacle] = {}
    notes: list[str] = []
    for name, one in providers.items() if not settings.replay else ():
        facts = look(one, settings.environ, settings.root, shared=settings.workspaces.shared)
        findings = diagnose(facts)
        wrong = next((each for each in findings if each.level is Level.PROBLEM), None)
        if wrong is not None:
            obstacles[name] = Obstacle(wrong)
        elif not settings.workspaces.skills and not facts.own_command:
            found = (each for each in findings if each.check == "skills" and each.remedy)
            notes += (f"{name}: {each.text}; {each.remedy}" for each in found)
    return Preflight(obstacles, tuple(notes))


def describe_obstacles(obstacles: Mapping[str, Obstacle], units: Iterable[Unit]) -> Iterator[str]:
    """One line for people for each agent of which these units are not measured."""
    pairs = {(unit.agent, unit.case.case_id) for unit in units}
    counts = Counter(agent for agent, _ in pairs)
    for agent, obstacle in obstacles.items():
        if counts[agent]:
            cases = "1 case" if counts[agent] == 1 else f"{counts[agent]} cases"
            first_step = obstacle.finding.remedy.partition(", or ")[0]
            yield (
                f"{agent}: {cases} not measured: {obstacle.finding.text}; {first_step}, "
                f"or run `{own_program()} providers doctor --agents {agent}`"
            )
