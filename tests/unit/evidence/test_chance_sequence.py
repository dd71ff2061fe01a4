"""How many failed trials prove a fall: by a library's tables, and by counting every sequence."""

from __future__ import annotations

import itertools
import re

import pytest

from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import (
    PRIOR,
    Belief,
    Bounds,
    Finding,
    Sequential,
    believe,
    find_bounds,
)
from tests.support.command_line import ROOT

TEST = Sequential()
ALPHA = 0.01 / 60
BELIEFS = (PRIOR, believe(Record(29, 30)), believe(Record(70, 100)), believe(Record(), 0.7))
_RECORDS_IN_WORDS = {"noth": Record(), "half": Record(15, 30)}
RECORDS = [
    (Record(), "7 of 7"),
    (Record(22, 30), "9 of 9"),
    (Record(29, 30), "4 of 4"),
    (Record(30, 30), "3 of 3"),
    (Record(200, 200), "2 of 2"),
]


def test_the_page_says_what_proves_a_fall() -> None:
    """Its table, of 60 pairs: the fewest fails of so many trials."""
    page = (ROOT / "docs" / "explanation" / "how-sure.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+) \| (failed .+|cannot be proven) \|$", page, re.MULTILINE)
    assert len(rows) == 7
    for before, proof in rows:
        known = re.match(r"(\d+) of (\d+)$", before)
        record = Record(int(known[1]), int(known[2])) if known else _RECORDS_IN_WORDS[before[:4]]
        worse = TEST.find_bounds(believe(record), 60).worse
        found = [(int(failed), int(of)) for failed, of in re.findall(r"(\d+) of (\d+)", proof)]
        assert all(worse[of - 1] == failed for failed, of in found), before
        assert (found == []) == (worse[-1] > len(worse)), before
        first = next((n for n, least in enumerate(worse, start=1) if least <= n), 0)
        assert not found or found[0] == (first, first), before


# scipy 1.17.1, `betabinom.sf(failed - 1, trials, fails, passes)`: a package of 35 MB for one table.
@pytest.mark.parametrize(
    ("belief", "failed", "trials", "chance"),
    [
        (Belief(9.5, 0.5), 1, 1, 0.05),
        (Belief(9.5, 0.5), 1, 3, 0.1309659091),
        (Belief(9.5, 0.5), 4, 4, 0.0003824300699),
        (Belief(9.5, 0.5), 3, 9, 0.03829727581),
        (Belief(38.5, 1.5), 2, 2, 0.002286585366),
        (Belief(38.5, 1.5), 4, 4, 1.994115145e-05),
        (Belief(38.5, 1.5), 9, 9, 2.101202212e-09),
        (Belief(31.5, 8.5), 1, 3, 0.5020960366),
        (Belief(31.5, 8.5), 3, 9, 0.3034844371),
        (Belief(109.5, 0.5), 3, 9, 0.0001003216046),
        (Belief(109.5, 0.5), 9, 9, 2.076117056e-14),
    ],
)
def test_the_chance_of_an_unchanged_pair_is_that_of_the_library(
    belief: Belief, failed: int, trials: int, chance: float
) -> None:
    """Of a rate that is known by a record alone."""
    assert belief.chance(failed, trials) == pytest.approx(chance, rel=1e-8)


def test_no_fails_are_certain_and_a_declared_rate_is_taken_as_known() -> None:
    """Of a pair that passes 7 of 10 runs, 4 of 4 fail by 0.3 to the power of 4."""
    assert PRIOR.chance(0, 5) == pytest.approx(1)
    assert believe(Record(), 0.7).chance(4, 4) == pytest.approx(0.3**4, rel=1e-4)
    assert believe(Record(9, 9), 0.7) == believe(Record(), 0.7)


def count_sequences(belief: Belief, bounds: Bounds) -> float:
    """The chance that an unchanged pair is called worse, over every sequence of trials."""
    total = 0.0
    for sequence in itertools.product((False, True), repeat=len(bounds.worse)):
        if bounds.judge(sequence) is Finding.WORSE:
            chance, passes, fails = 1.0, belief.passes, belief.fails
            for failed in sequence:
                chance *= (fails if failed else passes) / (passes + fails)
                passes, fails = passes + (not failed), fails + failed
            total += chance
    return total


@pytest.mark.parametrize("alpha", [0.01, ALPHA])
@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.parametrize("detect", [0.1, 0.25, 0.8])
def test_an_unchanged_pair_is_called_worse_as_seldom_as_promised(
    belief: Belief, alpha: float, detect: float
) -> None:
    """Whenever one stops to look, since a proof stands whatever follows it."""
    assert count_sequences(belief, find_bounds(belief, alpha, detect, 9)) <= alpha


@pytest.mark.parametrize(("record", "least"), RECORDS)
def test_the_better_the_record_the_fewer_fails_prove_a_fall(record: Record, least: str) -> None:
    """The table of the documentation, for 60 pairs."""
    bounds = TEST.find_bounds(believe(record), 60)
    proven = next(n for n, bound in enumerate(bounds.worse, 1) if bound <= n)
    assert f"{bounds.worse[proven - 1]} of {proven}" == least


@pytest.mark.parametrize("record", [Record(500, 500), Record(10**6, 10**6)])
def test_neither_one_trial_nor_fewer_fails_than_passes_prove_anything(record: Record) -> None:
    """However good the record is: what a majority passes is never red."""
    for trials, bound in enumerate(find_bounds(believe(record), 0.01, 0.25, 30).worse, 1):
        assert bound >= max(2, trials / 2)


@pytest.mark.parametrize(
    ("trials", "finding"),
    [
        ("", Finding.OPEN),
        ("F", Finding.OPEN),
        ("FF", Finding.OPEN),
        ("FFF", Finding.WORSE),
        ("FFFPPPPPP", Finding.WORSE),  # a proof stands
        ("FP", Finding.OPEN),
        ("FPPFPPPFP", Finding.NOT_PROVEN),
        ("FPPPP", Finding.OPEN),  # four more fails would prove it
        ("FPPPPP", Finding.SAME),
        ("P", Finding.OPEN),
    ],
)
def test_trials_are_judged_in_their_order(trials: str, finding: Finding) -> None:
    """A pair that passed 30 of 30, one of 60."""
    failed = [one == "F" for one in trials]
    assert TEST.judge(believe(Record(30, 30)), 60, failed) is finding


def test_a_pair_that_mostly_fails_has_no_rate_to_fall_from() -> None:
    """Its baseline expects what it does not do: the majority decides, as ever."""
    assert TEST.judge(believe(Record(2, 30)), 60, [True] * 9) is Finding.NO_RATE


def test_more_trials_than_the_test_asks_for_are_judged_too() -> None:
    """Of `--trials 20`, each counts."""
    assert TEST.judge(believe(Record(22, 30)), 60, [True] * 20) is Finding.WORSE
    mixed = [True, False] * 10
    assert TEST.judge(believe(Record(30, 30)), 60, mixed) is Finding.WORSE
    assert TEST.judge(believe(Record(70, 100)), 60, mixed) is Finding.SAME


def test_what_more_trials_cannot_prove_is_not_tried() -> None:
    """A weak pair would have to fail 9 of 9: once it passed, no more is to be found out."""
    assert TEST.judge(believe(Record(70, 100)), 60, [True]) is Finding.OPEN
    assert TEST.judge(believe(Record(70, 100)), 60, [True, False]) is Finding.NOT_PROVEN


def test_a_single_trial_is_all_that_there_may_be() -> None:
    """Then nothing can be proven, and nothing is open."""
    bounds = find_bounds(PRIOR, ALPHA, 0.25, 1)
    assert bounds.judge([True]) is Finding.NOT_PROVEN
