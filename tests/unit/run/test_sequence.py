"""In which order units run."""

from __future__ import annotations

from routing_action.corpus.case import Case
from routing_action.corpus.units import Unit
from routing_action.results.model import OfferedSkill
from routing_action.results.past.history import HistoryLine
from routing_action.results.past.history_lines import digest_description
from routing_action.run.sequence import order_units


def offer(name: str, description: str) -> OfferedSkill:
    """A skill that claude is offered."""
    return OfferedSkill(name=name, agents=("claude",), path=name, description=description)


def test_pairs_whose_skill_is_described_anew_come_first() -> None:
    """Though others failed more often; a skill that was unknown then, or is gone, is no edit."""
    before = [offer(name, f"Does {name}.") for name in ("same", "edited", "gone")]
    now = [*before[:1], offer("edited", "Does something else."), offer("new", "Does new.")]
    passes = {"same": 1, "edited": 10, "gone": 9, "new": 8}
    lines = [
        HistoryLine(
            at="2026-11-01T00:00:00Z", commit="c", run="1", batch="b", case_id=name, agent="claude",
            passes=number, measured=10, trials=10,
            description=digest_description(before, name, "claude"),
        )
        for name, number in passes.items()
    ]  # fmt: skip
    units = [
        Unit(place, "claude", Case(case_id=name, prompt="p", expected_skill=name))
        for place, name in enumerate(passes)
    ]
    found = [unit.case.case_id for unit in order_units(units, lines, now)]
    assert found == ["edited", "same", "new", "gone"]
