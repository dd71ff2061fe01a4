"""The built-in check of the tier rules can fail, and says how."""

from __future__ import annotations

from routing_action.agents.discovery import all_providers
from routing_action.evidence.tiers import compute_tier
from routing_action.run.evaluate import run_self_test, tier_fixtures


def test_every_provider_passes_its_fixtures() -> None:
    """A hit, an attribution miss, a weak line and a backslash path, for each of them."""
    assert run_self_test(all_providers(), compute_tier) == []
    assert all({due for *_, due in tier_fixtures(name)} == {1, 2, 3} for name in all_providers())


def test_a_wrong_rule_is_shown_as_a_diff() -> None:
    """What was expected and what came stand side by side."""
    (*_, last) = run_self_test(["codex"], lambda agent, token, line, score: 3)
    assert "- tier 2\n+ tier 3" in last
