"""What rows and the comment say of a pair's last runs."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from routing_action.gate.judging.past_runs import add_past_runs
from routing_action.gate.model import MOST_PAST_RUNS, DeltaEntry
from routing_action.github.publication import RunLinks
from routing_action.report.markdown import render_comment
from tests.support.report_values import make_delta, make_entry, make_regression
from tests.unit.results.test_trends import runs


def test_only_rows_worth_a_look_get_their_last_runs() -> None:
    """The newest ones, in the order of time; nothing else of the delta changes."""
    delta = make_delta(make_regression("red", "claude"), make_entry("one", "claude"))
    lines = [*runs("+" * 35 + "-0", case_id="red"), *runs("+", case_id="one")]
    found = add_past_runs(delta, lines)
    assert [len(row.history) for row in found.rows] == [MOST_PAST_RUNS, 0]
    assert found.rows[0].history[-3:] == ((1, 1), (0, 1), (0, 0))
    assert found.conclusion is delta.conclusion
    assert add_past_runs(delta, runs("+", case_id="other")) is delta


def test_the_comment_draws_them_for_each_of_the_first_pairs_of_a_cause() -> None:
    """A pair without a history has no such line."""
    rows = [
        make_regression("red", "claude", history=((1, 1), (0, 1), (0, 0))),
        make_regression("late", "codex", history=((3, 3),), error="other", timed_out=True),
        make_regression("new", "copilot"),
    ]
    text = render_comment(make_delta(*rows), RunLinks())
    assert (
        "**Before**: `▇▁·` 1 of 2 trials passed in the last 3 runs of the default branch." in text
    )
    assert "**Before**: `▇` 3 of 3 trials passed in the last run of the default branch." in text
    assert text.count("**Before**") == 2


def test_a_forged_delta_cannot_bring_more_than_a_line_of_numbers() -> None:
    """More runs, or figures that no run has, are an error; nothing is drawn above full."""
    forged = make_regression("red", "claude", history=((9, 1),))
    assert "`▇` 9 of 1 trial " in render_comment(make_delta(forged), RunLinks())
    for history in (((1, 1),) * 31, ((-1, 1),), ((10**9, 1),), (("<b>", 1),)):
        with pytest.raises(ValidationError):
            DeltaEntry.model_validate({**forged.model_dump(), "history": history})
