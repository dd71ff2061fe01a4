"""Which pairs get more trials before they count, and when a pair has had enough of them."""

from __future__ import annotations

import pytest

from routing_action.corpus.baseline import BaselineEntry, Status
from routing_action.corpus.case import Case
from routing_action.corpus.units import Unit, build_units
from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import Sequential
from routing_action.evidence.outcome import Outcome
from routing_action.results.model import UnitResult
from routing_action.run.trials.confirm import MOST_LOST, Confirm, Confirming
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
TWICE = Confirm(Confirming(2), BASELINE)
PAIR = ("red", "claude")
STEADY = Confirm(Confirming(sequential=Sequential()), BASELINE, {PAIR: Record(30, 30)})
PASS, FAIL, INFRA = Status.PASS, Status.FAIL, Status.INFRA_ERROR


def trials(*statuses: Status) -> tuple[list[UnitResult], list[Unit]]:
    """The rows and the units of so many trials of one pair."""
    units = [Unit(place, "claude", CASES[0], place + 1) for place in range(len(statuses))]
    rows = [
        make_row(place, case_id="red", status=status, trial=place + 1)
        for place, status in enumerate(statuses)
    ]
    return rows, units


def test_what_would_be_a_regression_gets_more_trials() -> None:
    """A known failure, a new case and a pass are not paid for twice."""
    more = TWICE.next_units(ROWS, UNITS)
    assert [(unit.case.case_id, unit.trial, unit.index) for unit in more] == [
        ("red", 2, 5),
        ("red", 3, 6),
        ("late", 2, 7),
        ("late", 3, 8),
    ]


def test_what_was_not_run_is_not_asked_for_again() -> None:
    """A reached cost cap or a stopped agent still keeps it from running."""
    idle = make_row(1, case_id="red", status=Status.INFRA_ERROR, outcome=Outcome.NOT_RUN)
    assert TWICE.next_units([idle], UNITS) == []
    partly = make_row(2, case_id="red", status=Status.INFRA_ERROR, trial=2)
    assert len(TWICE.next_units([idle, partly], UNITS)) == 2


@pytest.mark.parametrize("asked", [TWICE, STEADY])
def test_what_an_outage_explains_is_not_asked_for_again(asked: Confirm) -> None:
    """Each of its trials would end as the first one did."""
    assert asked.next_units(ROWS, UNITS, stopped={"claude"}) == []


def test_a_test_asks_for_one_more_trial_of_each_open_pair() -> None:
    """Then it looks again."""
    more = STEADY.next_units(ROWS, UNITS)
    assert [(unit.case.case_id, unit.trial) for unit in more] == [("red", 2), ("late", 2)]


@pytest.mark.parametrize(
    "statuses",
    [
        (FAIL, FAIL),  # proven
        (FAIL, *(PASS,) * 5),  # as an unchanged pair does
        (PASS,),
        (INFRA,) * MOST_LOST,
        (FAIL, *(INFRA,) * MOST_LOST),
        (FAIL, *(PASS, FAIL) * 4),  # undecided after all trials
    ],
)
def test_a_decided_pair_gets_no_more_trials(statuses: tuple[Status, ...]) -> None:
    """Nor does one of which more trials say nothing new."""
    assert STEADY.next_units(*trials(*statuses)) == []


@pytest.mark.parametrize("statuses", [(INFRA,), (FAIL, INFRA), (FAIL, PASS), (INFRA, FAIL)])
def test_an_open_pair_goes_on(statuses: tuple[Status, ...]) -> None:
    """What could not be measured says nothing, neither for nor against it."""
    (more,) = STEADY.next_units(*trials(*statuses))
    assert (more.trial, more.index) == (len(statuses) + 1, len(statuses))


def test_a_pair_that_never_passes_is_left_to_the_majority() -> None:
    """More trials would prove no fall: there is nothing to fall from."""
    broken = Confirm(STEADY.asked, BASELINE, {PAIR: Record(2, 30)})
    assert broken.next_units(*trials(FAIL)) == []


def test_a_rate_that_the_baseline_declares_counts_in_place_of_the_history() -> None:
    """What proves a fall of a steady pair does not of one that is known to be flaky."""
    flaky = {"rate": 0.7, "until": "2027-03-01", "reason": "two skills are alike"}
    entry = BaselineEntry.model_validate({"expected_status": "pass", "flaky": flaky})
    asked = Confirm(STEADY.asked, expect({PAIR: entry}), STEADY.records)
    assert len(asked.next_units(*trials(FAIL, FAIL))) == 1


def test_so_many_trials_may_follow() -> None:
    """The bound of a batch, whatever its trials come to."""
    assert (Confirming().waves, Confirming().most) == (0, 0)
    assert (Confirming(3).waves, Confirming(3).most) == (1, 3)
    assert (STEADY.asked.waves, STEADY.asked.most) == (8, 8)
