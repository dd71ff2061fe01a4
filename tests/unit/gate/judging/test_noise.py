"""What a gate is said to do, against counting what it does."""

from __future__ import annotations

import random

import pytest

from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import Sequential
from routing_action.gate.judging.noise import KnownPair, Rule, find_typical, foresee, recommend

AUTO = Rule(sequential=Sequential())
STEADY = [KnownPair((f"{n}", "claude"), Record(30, 30)) for n in range(4)]
WEAK = KnownPair(("weak", "claude"), Record(24, 30), cost_usd=0.5)
CORPUS = [*STEADY, WEAK]
LOOKS = 4000


def draw(rule: Rule, rate: float, draws: random.Random) -> tuple[bool, int]:
    """One look at one pair, trial by trial: whether it is red, and how many trials it took."""
    trials = [draws.random() >= rate for _ in range(rule.trials)]
    if sum(trials) * 2 < len(trials):
        return False, len(trials)
    trials += [draws.random() >= rate for _ in range(rule.confirm)]
    return sum(trials) * 2 >= len(trials), len(trials)


@pytest.mark.parametrize(
    "rule", [Rule(), Rule(confirm=2), Rule(trials=3), Rule(trials=2, confirm=1)]
)
def test_what_a_majority_does_is_what_is_counted(rule: Rule) -> None:
    """Of a pair whose rate is known, by drawing every trial."""
    draws = random.Random(7)  # noqa: S311 - a simulation
    pair = KnownPair(("a", "claude"), Record(), declared=0.8)
    found = foresee(rule, [pair])
    looks = [draw(rule, 0.8, draws) for _ in range(LOOKS)]
    red = sum(one for one, _ in looks) / LOOKS
    assert found.red == pytest.approx(red, abs=0.02)
    assert found.extra == pytest.approx(sum(n for _, n in looks) / LOOKS - 1, abs=0.05)
    caught = [draw(rule, 0.1, draws)[0] for _ in range(LOOKS)]
    assert found.caught[0.1][0] == pytest.approx(sum(caught) / LOOKS, abs=0.02)


def test_a_test_against_the_own_rate_is_red_less_often_and_still_finds_what_broke() -> None:
    """The order that one would expect, and the numbers of one trial."""
    once, auto = foresee(Rule(), CORPUS), foresee(AUTO, CORPUS)
    assert once.caught[0.1] == pytest.approx((0.9, 0.9))
    assert once.extra == 0
    assert once.red > 0.2
    assert auto.red < 0.01
    assert auto.low <= auto.red <= auto.high
    assert 0.85 < auto.caught[0.1][0] < 0.9
    assert auto.caught[0.1][1] < auto.caught[0.1][0]
    assert 0 < auto.extra < 3


def test_more_trials_of_every_pair_are_all_extra() -> None:
    """Whatever they come to."""
    found = foresee(Rule(trials=3, sequential=Sequential()), STEADY)
    assert found.extra > 2 * len(STEADY)
    assert found.caught[0.1][0] > 0.97


def test_costs_are_those_that_were_reported() -> None:
    """A pair without one is taken to cost as much as the others; without any nothing is said."""
    assert foresee(AUTO, STEADY).cost_usd is None
    found = foresee(AUTO, CORPUS)
    assert found.cost_usd == pytest.approx(0.5 * found.extra)


def test_the_same_seed_gives_the_same_interval() -> None:
    """And another one nearly the same."""
    assert foresee(AUTO, CORPUS) == foresee(AUTO, CORPUS)
    assert foresee(Rule(), CORPUS, seed=2).red == pytest.approx(
        foresee(Rule(), CORPUS).red, abs=0.05
    )


def test_what_is_recommended_is_seldom_red_finds_most_and_costs_least() -> None:
    """Nothing, where no setting is seldom enough red."""
    lax = Rule(sequential=Sequential(false_alarm=0.2))
    every = [foresee(rule, CORPUS) for rule in (Rule(), Rule(confirm=2), AUTO, lax)]
    best = recommend(every, 0.01)
    assert best is not None
    assert best.rule == AUTO
    free = recommend(every, 0.99)
    assert free is not None
    assert free.rule == Rule()
    assert recommend(every[:2], 0.01) is None


def test_a_rule_is_named_by_its_options() -> None:
    """So that it can be pasted behind `run`; what is the default is left out."""
    assert str(Rule()) == "one trial"
    assert str(Rule(3, 2)) == "--trials 3 --confirm 2"
    assert str(AUTO) == "--confirm auto"
    assert str(Rule(sequential=Sequential(0.5, 0.05, 4))) == (
        "--confirm auto --detect 0.5 --false-alarm 0.05 --max-confirm 4"
    )


def test_how_much_is_known_is_the_median() -> None:
    """One pair with much does not make up for many with nothing."""
    pairs = [*STEADY, KnownPair(("new", "claude"), Record()), WEAK]
    assert find_typical(pairs) == 30
