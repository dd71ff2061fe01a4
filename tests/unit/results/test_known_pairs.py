"""What is known of each pair."""

from __future__ import annotations

from routing_action.results.model import ReusedFrom
from routing_action.results.past.known_pairs import know_from_rows
from tests.support.result_rows import make_row


def test_a_reused_row_is_no_trial() -> None:
    """Nothing was run for it, and its source is counted where it was measured."""
    source = ReusedFrom(run="1", batch="b", at="2026-11-01T00:00:00Z", commit="c" * 40)
    ran = make_row(case_id="one")
    reused = make_row(case_id="two").model_copy(update={"reused_from": source})
    assert list(know_from_rows([ran, reused])) == [("one", ran.agent)]
