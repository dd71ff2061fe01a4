"""`run --self-test`: compute_tier against built-in fixtures, for every provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from routing_action.evidence.tiers import canonical_base, canonical_call

ComputeTier = Callable[[str, str, str, int], int]

_WINDOWS = r"C:\Users\dev\.agents\skills\foo"


@dataclass(frozen=True, slots=True)
class TierFixture:
    """One line with the tier that it must have."""

    agent: str
    name: str
    token: str
    line: str
    score: int
    tier: int


def fixtures_for(agent: str) -> tuple[TierFixture, ...]:
    """A hit, an attribution miss, a weak line and a backslash path for one provider."""
    base = agent in ("codex", "copilot")
    hit = canonical_base("/repo/skills/foo/SKILL.md") if base else canonical_call("foo")
    miss = canonical_base("/repo/skills/foobar") if base else canonical_call("foobar")
    windows = f"Base directory for this skill: {_WINDOWS}"
    return (
        TierFixture(agent, "proven load", "foo", hit, 1000, 1),
        TierFixture(agent, "load of a longer name", "foo", miss, 0, 2),
        TierFixture(agent, "mere mention", "foo", "I could use foo here.", 10, 3),
        TierFixture(agent, "backslash path", "foo", windows, 700, 1 if base else 2),
        TierFixture(agent, "backslash path of another", "oo", windows, 0, 2 if base else 3),
    )


def run_self_test(agents: Iterable[str], compute_tier: ComputeTier) -> list[str]:
    """The differences, one line each; empty where every fixture holds."""
    differences = []
    for fixture in (one for agent in agents for one in fixtures_for(agent)):
        got = compute_tier(fixture.agent, fixture.token, fixture.line, fixture.score)
        if got != fixture.tier:
            differences.append(
                f"{fixture.agent}: {fixture.name}: token {fixture.token!r}\n"
                f"  line {fixture.line}\n- tier {fixture.tier}\n+ tier {got}"
            )
    return differences
