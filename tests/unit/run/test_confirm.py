"""Only would-be regressions are run again."""

from __future__ import annotations

from routing_action.corpus.baseline import BaselineEntry, Status
from routing_action.corpus.case import Case
from routing_action.corpus.units import build_units
from routing_action.evidence.outcome import Outcome
from routing_action.run.confirm import in_order, units_to_confirm
from tests.support.measured import expect
from tests.support.result_rows import make_row

CASES = [Case(case_id=name, prompt="p") for name in ("red", "green", "known", "late", "new")]
UNITS = build_units(CASES, ["claude"], trials=1)
LATE = BaselineEntry(expected_status=Status.PASS, allow_timeout=False)
BASELINE = expect({
    ("red", "claude"): "pass", ("green", "claude"): "pass", ("known", "claude"): "fail",
    ("late", "claude"): LATE,
})  # fmt: skip
ROWS = [
    make_row(1, case_id="red", status=Status.INFRA_ERROR),
    make_row(2, case_id="green"),
    make_row(3, case_id="known", status=Status.FAIL),
    make_row(4, case_id="late", timed_out=True),
    make_row(5, case_id="new", status=Status.FAIL),
]


def test_what_would_be_a_regression_gets_more_trials() -> None:
    """A known failure, a new case and a pass are not paid for twice."""
    more = units_to_confirm(ROWS, UNITS, BASELINE, 2)
    assert [(unit.case.case_id, unit.trial, unit.index) for unit in more] == [
        ("red", 2, 5),
        ("red", 3, 6),
        ("late", 2, 7),
        ("late", 3, 8),
    ]


def test_what_was_not_run_is_not_asked_for_again() -> None:
    """A reached cost cap or a stopped agent still keeps it from running."""
    idle = make_row(1, case_id="red", status=Status.INFRA_ERROR, outcome=Outcome.NOT_RUN)
    assert units_to_confirm([idle], UNITS, BASELINE, 2) == []
    partly = make_row(2, case_id="red", status=Status.INFRA_ERROR, trial=2)
    assert len(units_to_confirm([idle, partly], UNITS, BASELINE, 2)) == 2


def test_rows_stand_in_order_whatever_round_they_came_from() -> None:
    """Trials of a pair stand side by side."""
    later = make_row(9, case_id="red", trial=2)
    assert [(row.case_id, row.trial) for row in in_order([*ROWS, later], UNITS)][:3] == [
        ("red", 1),
        ("red", 2),
        ("green", 1),
    ]
