"""Filters choose the cases; what they leave is planned."""

from __future__ import annotations

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import Corpus
from routing_action.errors import NothingToRunError, UsageError
from routing_action.run.plan import (
    Selection,
    build_plan,
    estimate,
    plan_shards,
    recorded_durations,
)
from tests.support.result_rows import make_results, make_row

CASES = tuple(Case(case_id=f"c{n}", prompt="p", category=f"k{n % 2}") for n in range(6))
CORPUS = Corpus("cases.json", CASES, {}, "0" * 64)


def ids(**filters: object) -> list[str]:
    """The case ids that a selection leaves."""
    selection = Selection(("claude",), **filters)  # type: ignore[arg-type]
    return [case.case_id for case in build_plan(CORPUS, selection, all_providers()).cases]


def test_filters_keep_the_files_order_and_ignore_case() -> None:
    """Ids and categories in any order and case."""
    assert ids(case_ids=("C4", "c1")) == ["c1", "c4"]
    assert ids(categories=("K1",)) == ["c1", "c3", "c5"]


def test_the_same_seed_draws_the_same_sample() -> None:
    """A sample is reproducible, and another seed gives another one."""
    assert ids(sample=3, seed=5) == ids(sample=3, seed=5)
    assert len({tuple(ids(sample=3, seed=seed)) for seed in range(20)}) > 1
    assert ids(sample=99) == [case.case_id for case in CASES]


def test_nothing_left_is_an_error_of_its_own() -> None:
    """Exit code 3 tells an empty selection from a typo in a list."""
    with pytest.raises(NothingToRunError, match="none of 6 cases passes the filters"):
        ids(case_ids=("c2",), categories=("k1",))
    for wrong in (("nope",), ("c1", "nope")):
        with pytest.raises(UsageError, match="no case 'nope'"):
            ids(case_ids=wrong)


def remedy(corpus: Corpus = CORPUS, **filters: tuple[str, ...]) -> str:
    """The next step of the error that a selection is."""
    selection = Selection(("claude",), **filters)  # type: ignore[arg-type]
    with pytest.raises((UsageError, NothingToRunError)) as raised:
        build_plan(corpus, selection, all_providers())
    return raised.value.remedy


NAMED = Corpus(
    "cases.json",
    tuple(
        Case(case_id=f"{name}-case", prompt="p", category=name) for name in ("routing", "controls")
    ),
    {},
    "0" * 64,
)


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ({"case_ids": ("controls-cas",)}, "did you mean controls-case?"),
        ({"case_ids": ("routing-case", "controls-cas")}, "did you mean controls-case?"),
        (
            {"case_ids": ("routing-cas", "zzz", "controls-cas")},
            "routing-cas: did you mean routing-case? controls-cas: did you mean controls-case?",
        ),
        ({"categories": ("Control",)}, "did you mean controls?"),
        ({"categories": ("routing", "contrls")}, "did you mean controls?"),
        ({"case_ids": ("zzz",)}, "the cases are: routing-case, controls-case"),
        ({"case_ids": ("routing-case", "zzz")}, "the cases are: routing-case, controls-case"),
        ({"categories": ("zzz",)}, "the categories are: controls, routing"),
        ({"categories": ("routing", "zzz")}, "the categories are: controls, routing"),
        (
            {"categories": ("routing",), "case_ids": ("controls-case",)},
            "leave --case-id or --category out: no case passes both",
        ),
    ],
)
def test_a_misspelt_filter_is_offered_the_name_that_was_meant(
    filters: dict[str, tuple[str, ...]], told: str
) -> None:
    """A category is told from a case id; without a name that is like it all are listed."""
    assert remedy(NAMED, **filters) == told


def test_cases_without_categories_are_said_to_have_none() -> None:
    """There is nothing to list."""
    plain = Corpus("cases.json", (Case(case_id="one", prompt="p"),), {}, "0" * 64)
    assert remedy(plain, categories=("routing",)) == "no case has a category"


def test_shards_are_balanced_by_recorded_durations() -> None:
    """The longest recorded trial of a pair counts."""
    rows = [make_row(n + 1, case_id=f"c{n}", duration_ms=1000 * (n + 1)) for n in range(6)]
    durations = recorded_durations([make_results(*rows)])
    plan = build_plan(CORPUS, Selection(("claude",)), all_providers())
    first, second = plan_shards(plan, 2, durations)
    assert (first.key, second.key) == ("claude-s1of2", "claude-s2of2")
    assert sorted(first.case_ids + second.case_ids) == [case.case_id for case in CASES]
    assert abs(first.expected_ms - second.expected_ms) <= 1000


def test_pairs_give_each_agent_its_own_cases() -> None:
    """No agent gets a case that was asked of another one."""
    asked = frozenset({("c1", "claude"), ("c2", "codex"), ("c4", "codex")})
    selection = Selection(("claude", "codex"), ("c1", "c2", "c4"), pairs=asked)
    plan = build_plan(CORPUS, selection, all_providers())
    assert {(unit.case.case_id, unit.agent) for unit in plan.units} == asked
    shards = [(one.key, one.case_ids) for one in plan_shards(plan, 2, {})]
    assert shards == [
        ("claude", ("c1",)), ("codex-s1of2", ("c2",)), ("codex-s2of2", ("c4",)),
    ]  # fmt: skip


def test_a_matrix_larger_than_github_takes_is_refused() -> None:
    """256 jobs are the limit."""
    many = Corpus("f", tuple(Case(case_id=f"c{n}", prompt="p") for n in range(200)), {}, "0")
    plan = build_plan(many, Selection(("claude", "codex")), all_providers())
    with pytest.raises(UsageError, match="more than a matrix can hold"):
        plan_shards(plan, 200, {})


def test_an_estimate_adds_up_what_earlier_runs_took_and_cost() -> None:
    """A pair that was never run is taken at half a minute; unknown cost is not invented."""
    plan = build_plan(CORPUS, Selection(("claude",), case_ids=("c0", "c1")), all_providers())
    row = make_row(1, case_id="c0", duration_ms=10_000, cost_usd=0.5)
    known = estimate(plan, [make_results(row)])
    assert (known.seconds, known.cost_usd) == (40, 0.5)
    assert estimate(plan, []).cost_usd is None
