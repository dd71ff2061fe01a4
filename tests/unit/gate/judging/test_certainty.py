"""The gate against a pair's own rate: what is proven is red, what is not is green and named."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from routing_action.corpus.baseline import BaselineEntry, Status
from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import Finding, Sequential
from routing_action.gate.edited_case import EditedCase
from routing_action.gate.judging.certainty import Certainty
from routing_action.gate.rules import Comparison, DeltaKind
from routing_action.results.model import UnitResult
from tests.support.measured import batch, expect, judge, only, row

PAIR = ("a", "claude")
STEADY = {PAIR: Record(30, 30)}
TEST = Sequential()
WORDS = {"F": "fail", "P": "pass", "I": "infra_error", "L": "pass"}


def flaky(until: str = "2027-03-01", rate: float = 0.7, **more: Any) -> BaselineEntry:  # noqa: ANN401
    """An entry of a pair that is known to be flaky."""
    told = {"rate": rate, "until": until, "reason": "two skills are alike"}
    return BaselineEntry.model_validate({"expected_status": "pass", "flaky": told, **more})


def trials(letters: str) -> list[UnitResult]:
    """Failed, passed, not measured, or late though it passed."""
    return [
        row("a", "claude", WORDS[one], trial=n, timed_out=one == "L")  # type: ignore[arg-type]
        for n, one in enumerate(letters, 1)
    ]


def compare(
    letters: str,
    entry: str | BaselineEntry = "pass",
    current: str | BaselineEntry | None = None,
    *,
    records: dict[tuple[str, str], Record] | None = None,
    test: Sequential | None = TEST,
    today: str = "2026-11-29",
    **tree: Any,  # noqa: ANN401
) -> Comparison:
    """One of 60 pairs, with the trials of the letters."""
    known = STEADY if records is None else records
    certainty = Certainty(test, known, 60, today)
    declared = expect({PAIR: current}) if current else None
    found = batch(trials(letters))
    return judge([found], expect({PAIR: entry}), declared, certainty=certainty, **tree)


@pytest.mark.parametrize(
    ("letters", "kind", "got"),
    [
        ("P", DeltaKind.OK, Status.PASS),
        ("FFF", DeltaKind.REGRESSION, Status.FAIL),
        ("LLL", DeltaKind.REGRESSION, Status.FAIL),
        ("FFFPPPP", DeltaKind.REGRESSION, Status.FAIL),
        ("FPPPPP", DeltaKind.OK, Status.PASS),
        ("LPPPPP", DeltaKind.OK, Status.PASS),
        ("FPFPPPPPF", DeltaKind.NOT_PROVEN, Status.PASS),
        ("FPIFPIPPPPF", DeltaKind.NOT_PROVEN, Status.PASS),
    ],
)
def test_a_pair_is_red_once_a_fall_of_its_rate_is_proven(
    letters: str, kind: DeltaKind, got: Status
) -> None:
    """It passed 30 of 30 before; what could not be measured says nothing."""
    found = only(compare(letters))
    assert (found.kind, found.got) == (kind, got)
    assert found.gates == (kind is DeltaKind.REGRESSION)


@pytest.mark.parametrize(
    ("letters", "kind"),
    [
        ("F", DeltaKind.REGRESSION),
        ("FF", DeltaKind.REGRESSION),
        ("FP", DeltaKind.REGRESSION),
        ("FPP", DeltaKind.OK),
        ("FIII", DeltaKind.REGRESSION),
        ("LPP", DeltaKind.REGRESSION),
        ("I", DeltaKind.REGRESSION),
    ],
)
def test_a_pair_that_was_not_run_to_a_decision_is_left_to_the_majority(
    letters: str, kind: DeltaKind
) -> None:
    """So that a leg which runs fewer trials makes the gate no laxer."""
    found = only(compare(letters))
    assert found.kind is kind
    plain = only(compare(letters, test=None))
    assert (found.kind, found.gates, found.got) == (plain.kind, plain.gates, plain.got)
    assert found.chance is None or found.chance.finding is Finding.OPEN


def test_trials_count_in_the_order_of_their_numbers() -> None:
    """However a file lists them."""
    rows = [*reversed(trials("FFFPPPPPP"))]
    certainty = Certainty(TEST, STEADY, 60)
    found = only(judge([batch(rows)], expect({PAIR: "pass"}), certainty=certainty))
    assert found.kind is DeltaKind.REGRESSION


def test_a_row_has_its_numbers() -> None:
    """What failed, what was before, and how often an unchanged pair does that."""
    chance = only(compare("FFF")).chance
    assert chance is not None
    assert (chance.failed, chance.measured, chance.before) == (3, 3, Record(30, 30))
    assert chance.odds == pytest.approx(0.5 / 40 * 1.5 / 41 * 2.5 / 42)
    assert only(compare("P")).chance is None


def test_without_a_history_more_fails_are_needed() -> None:
    """What is thought of any pair is less than what a good record says."""
    assert only(compare("FFF", records={})).chance is not None
    assert only(compare("F" * 6, records={})).kind is DeltaKind.REGRESSION  # by majority: open
    seven = only(compare("F" * 7, records={})).chance
    assert seven is not None
    assert seven.finding is Finding.WORSE


def test_a_pair_that_mostly_failed_before_is_left_to_the_majority() -> None:
    """Else a change that was merged red would excuse the ones after it."""
    found = only(compare("FFFFFFFFF", records={PAIR: Record(2, 30)}))
    assert found.kind is DeltaKind.REGRESSION
    assert found.chance is not None
    assert found.chance.finding is Finding.NO_RATE


@pytest.mark.parametrize("expected", ["fail", "infra_error"])
def test_what_is_not_expected_to_pass_has_no_rate(expected: str) -> None:
    """The majority decides as ever."""
    assert only(compare("FPPPP", expected)).kind is DeltaKind.IMPROVEMENT


def test_a_new_pair_and_an_edited_case_are_left_to_the_majority() -> None:
    """They have no rate of their own yet."""
    certainty = Certainty(TEST, STEADY, 60)
    new = only(judge([batch(trials("FPPFF"))], {}, expect({PAIR: "pass"}), certainty=certainty))
    assert (new.kind, new.gates) == (DeltaKind.NEW, True)
    edited = {"a": EditedCase(("expected_skill",), same_prompt=True)}
    assert only(compare("FPPPPP", edited=edited)).kind is DeltaKind.CASE_EDITED


def test_an_earlier_attempt_is_judged_by_the_same_test() -> None:
    """It was red only if a fall was proven then."""
    certainty = Certainty(TEST, STEADY, 60)
    for letters, red in (("FFF", {PAIR: (1,)}), ("FPPPPP", {})):
        earlier = batch(trials(letters), file="1")
        now = batch(trials("P"), file="2", attempt=2)
        found = judge([earlier, now], expect({PAIR: "pass"}), certainty=certainty)
        assert dict(found.red_before) == red


# ---- known to be flaky


def test_a_flaky_pair_is_judged_by_the_rate_that_its_entry_declares() -> None:
    """Of one that passes 7 of 10 runs, three fails in a row prove nothing."""
    steady = {PAIR: Record(300, 300)}
    assert only(compare("FFFP", flaky(), records=steady)).kind is DeltaKind.OK
    nine = only(compare("F" * 9, flaky(), records=steady))
    assert nine.kind is DeltaKind.REGRESSION
    assert nine.chance is not None
    assert nine.chance.rate == 0.7


@pytest.mark.parametrize(
    ("entry", "current", "red"),
    [
        (flaky("2026-11-28"), flaky("2026-11-28"), True),
        (flaky("2026-11-29"), flaky("2026-11-29"), False),
        (flaky("2026-11-28"), flaky("2027-05-31"), False),
        (flaky("2026-11-28"), "pass", False),
        ("pass", flaky("2026-11-28"), False),
    ],
)
@pytest.mark.parametrize("test", [TEST, None])
def test_nobody_is_excused_after_the_date(
    entry: str | BaselineEntry,
    current: str | BaselineEntry,
    red: bool,
    test: Sequential | None,
) -> None:
    """Until a change renews or removes what is over: that one can be merged."""
    found = only(compare("P", entry, current, test=test))
    assert (found.kind is DeltaKind.EXPIRED, found.gates) == (red, red)


def test_a_change_cannot_excuse_itself() -> None:
    """The merge base's entry decides: an excuse counts once it is merged."""
    found = only(compare("FFF", "pass", flaky()))
    assert (found.kind, found.gates) == (DeltaKind.REGRESSION, True)


def test_without_a_date_nothing_ends() -> None:
    """As where no clock is known."""
    assert not Certainty().has_ended(flaky("1999-01-01").flaky)
    today = datetime(2026, 11, 29, tzinfo=UTC).date().isoformat()
    assert Certainty(today=today).has_ended(flaky("1999-01-01").flaky)
