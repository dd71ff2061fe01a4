"""Totals and pair verdicts of results.json, and what the file refuses."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from routing_action.corpus.baseline import Status
from routing_action.results.model import (
    Results,
    Summary,
    UnitResult,
    summarise,
    summarise_pairs,
)
from tests.support.result_rows import make_results, make_row

PASS, FAIL, INFRA = Status.PASS, Status.FAIL, Status.INFRA_ERROR


def row(number: int, status: Status, *, case_id: str = "c1", trial: int = 1) -> UnitResult:
    return make_row(number, status=status, case_id=case_id, trial=trial)


def trials(*statuses: Status) -> list[UnitResult]:
    return [row(number, status, trial=number + 1) for number, status in enumerate(statuses)]


def results_of(rows: list[UnitResult], summary: Summary | None = None) -> Results:
    return make_results(*rows, **({"summary": summary} if summary else {}))


def test_rows_are_counted_by_status() -> None:
    """The summary's counts are those of the rows, and the file says `pass`."""
    summary = summarise(trials(PASS, FAIL, INFRA, PASS))
    expected = {"total": 4, "pass": 2, "fail": 1, "infra_error": 1}
    assert summary.model_dump(by_alias=True) == expected


def test_no_rows_are_no_results() -> None:
    """An empty batch counts nothing."""
    assert summarise([]).total == 0
    assert summarise_pairs([]) == ()


def test_a_file_whose_summary_does_not_match_its_rows_is_refused() -> None:
    """A results.json that was edited or cut is noticed."""
    assert results_of(trials(PASS)).summary.passed == 1
    with pytest.raises(ValidationError, match="summary does not match"):
        results_of(trials(PASS), summarise(trials(FAIL)))


def test_a_file_that_holds_a_unit_twice_is_refused() -> None:
    """Two rows of one unit run would count it twice."""
    with pytest.raises(ValidationError, match="unit_run_id occurs twice"):
        results_of([row(1, PASS), row(1, PASS)])


@pytest.mark.parametrize(
    ("statuses", "status", "flaky"),
    [
        ((PASS,), PASS, False),
        ((FAIL,), FAIL, False),
        ((INFRA,), INFRA, False),
        ((PASS, PASS, FAIL), PASS, True),
        ((PASS, FAIL), FAIL, True),
        ((PASS, FAIL, FAIL), FAIL, True),
        ((PASS, INFRA, INFRA), PASS, False),
        ((FAIL, INFRA, PASS, PASS), PASS, True),
        ((INFRA, INFRA), INFRA, False),
    ],
)
def test_a_pair_passes_on_a_strict_majority_of_its_measured_trials(
    statuses: tuple[Status, ...], status: Status, flaky: bool
) -> None:
    """Trials that could not be measured do not vote; disagreement is shown as flaky."""
    (pair,) = summarise_pairs(trials(*statuses))
    assert (pair.status, pair.flaky) == (status, flaky)
    assert pair.trials == len(statuses)
    assert pair.measured == len(statuses) - statuses.count(INFRA)
    assert pair.passed == statuses.count(PASS)


def test_pairs_stand_in_the_order_of_their_rows() -> None:
    """Each case of each provider has one verdict over its trials."""
    rows = [row(1, PASS, case_id="b"), row(2, FAIL, case_id="a"), row(3, PASS, case_id="b")]
    assert [(pair.case_id, pair.trials) for pair in summarise_pairs(rows)] == [("b", 2), ("a", 1)]
