"""What a batch is known to have cost, and when it may not go on."""

from __future__ import annotations

from routing_action.evidence.transcript import EndedBy
from routing_action.run.budget import Budget

EXIT = EndedBy.EXIT


def test_no_further_unit_starts_once_the_cap_is_reached() -> None:
    """Reaching it is enough; the reason names cost and cap."""
    budget = Budget(0.5)
    budget.add("claude", 0.25, EXIT)
    assert budget.refusal == ""
    budget.add("claude", 0.25, EXIT)
    assert budget.refusal == (
        "not run: the batch has cost 0.5000 USD, its cap is 0.5 USD (--max-cost-usd)"
    )


def test_without_a_cap_nothing_is_refused() -> None:
    """Whatever it costs."""
    budget = Budget()
    budget.add("claude", 1e6, EXIT)
    assert budget.refusal == ""


def test_only_what_is_known_is_counted_and_the_rest_is_named() -> None:
    """A run that never started cost nothing, and is not missed."""
    budget = Budget(1.0)
    assert budget.describe() == "cost known: 0.0000 USD of 0 runs"
    budget.add("claude", 0.5, EXIT)
    for _ in range(2):
        budget.add("codex", None, EndedBy.WALL_DEADLINE)
    budget.add("copilot", None, EXIT)
    budget.add("gemini", None, EndedBy.NOT_STARTED)
    budget.add("gemini", None, EndedBy.START_FAILED)
    assert budget.known_usd == 0.5
    assert budget.describe() == (
        "cost known: 0.5000 USD of 1 run; not told and not counted: codex 2, copilot 1"
    )
