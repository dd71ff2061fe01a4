"""Where a rate changed: found where it did, and hardly ever where it did not."""

from __future__ import annotations

import random
from collections.abc import Iterable
from math import comb

import pytest

from routing_action.evidence.chance import Record
from routing_action.evidence.change_point import CHANGE_LEVEL, find_change_point


def runs(text: str) -> list[Record]:
    """A run for each sign: `+` passed, `-` failed, `0` could not be measured."""
    known = {"+": Record(1, 1), "-": Record(0, 1), "0": Record()}
    return [known[sign] for sign in text]


@pytest.mark.parametrize("text", ["", "+", "-", "0", "+" * 40, "-" * 40, "0" * 9, "+" * 20 + "-"])
def test_what_tells_too_little_has_no_change(text: str) -> None:
    """One failure at the end of twenty passes is no change of the rate."""
    assert find_change_point(runs(text)) is None


def test_one_run_whose_trials_disagree_is_no_change() -> None:
    """There is nothing before it."""
    assert find_change_point([Record(1, 2)]) is None


def test_a_rate_that_falls_and_one_that_rises_are_found_at_their_first_run() -> None:
    """Runs that measured nothing are passed over."""
    fell = find_change_point(runs("+" * 20 + "00" + "-" * 8))
    assert fell is not None
    assert (fell.place, fell.before, fell.since) == (22, Record(20, 20), Record(0, 8))
    rose = find_change_point(runs("-" * 8 + "+" * 20))
    assert rose is not None
    assert (rose.place, rose.first, rose.last) == (8, 8, 8)


def test_where_it_is_not_sure_at_which_run_the_others_are_named() -> None:
    """A pass among the failures could be the last one of before."""
    found = find_change_point(runs("+" * 20 + "-+" + "-" * 10))
    assert found is not None
    assert (found.first, found.place, found.last) == (20, 20, 22)


def test_its_chance_is_fishers_exact_test_times_the_splits() -> None:
    """Counted out here; a run can have several trials."""
    records = [*[Record(3, 3)] * 9, Record(2, 3), *[Record(0, 3), Record(1, 3)] * 2, Record(1, 3)]
    found = find_change_point(records)
    assert found is not None
    before, since = found.before, found.since
    assert (before, since) == (Record(27, 27), Record(5, 18))
    # Of 45 trials 32 passed: of all ways to choose the 32, those that hold the first 27 trials.
    ways = comb(18, 5)
    splits = len(records) - 1
    assert found.p == pytest.approx(2 * splits * ways / comb(45, 32))


def share_found(rates: Iterable[float], count: int) -> float:
    """In how many of many histories, in which every run has its rate, a change is found."""
    dice, rates = random.Random(7), list(rates)  # noqa: S311 - seeded, for the same test each time
    found = 0
    for _ in range(count):
        records = [Record(int(dice.random() < rate), 1) for rate in rates]
        found += find_change_point(records) is not None
    return found / count


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
def test_a_pair_that_never_changes_shows_a_change_more_rarely_than_promised(rate: float) -> None:
    """Of a thousand, whatever their rate."""
    assert share_found([rate] * 60, 1000) <= CHANGE_LEVEL


def test_a_real_fall_is_mostly_found_after_six_runs() -> None:
    """From 95% to 10%, after forty runs."""
    assert share_found([0.95] * 40 + [0.1] * 6, 200) > 0.8
