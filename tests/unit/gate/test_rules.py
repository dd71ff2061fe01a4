"""The table of the gate, and everything that could be done to escape it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.corpus.baseline import BaselineEntry, MadeWith
from routing_action.gate.conclusion import Conclusion, Gate, Policy, decide_gate
from routing_action.gate.judging.tree import Tree
from routing_action.gate.rules import DeltaKind, compare
from routing_action.results.measured import gather
from routing_action.results.notes import GATE_DECIDED
from tests.support.measured import Entries, Word, batch, expect, judge, only, row

PAIR = ("a", "claude")


@pytest.mark.parametrize(
    ("was", "got", "kind", "gates"),
    [
        ("pass", "pass", "OK", False),
        ("pass", "fail", "REGRESSION", True),
        ("pass", "infra_error", "REGRESSION", True),
        ("fail", "fail", "OK", False),
        ("fail", "pass", "IMPROVEMENT", False),
        ("fail", "infra_error", "INFRA", False),
        ("infra_error", "pass", "IMPROVEMENT", False),
        ("infra_error", "fail", "CHANGED", False),
        ("infra_error", "infra_error", "OK", False),
    ],
)
def test_every_cell_of_the_table(was: str, got: Word, kind: str, gates: bool) -> None:
    """What the merge base expects against what was measured."""
    found = only(judge([batch([row(*PAIR, got)])], expect({PAIR: was})))
    assert (found.kind.value, found.gates, found.expected, found.got) == (kind, gates, was, got)


def test_a_timeout_is_a_regression_whatever_the_status() -> None:
    """Unless the merge base's entry allows it."""
    late = [batch([row(*PAIR, "pass", timed_out=True)])]
    assert only(judge(late, expect({PAIR: "pass"}))).kind is DeltaKind.REGRESSION
    allowed = BaselineEntry.model_validate({"expected_status": "pass", "allow_timeout": True})
    assert only(judge(late, expect({PAIR: allowed}))).kind is DeltaKind.OK


def test_editing_the_baseline_does_not_turn_red_into_green() -> None:
    """The merge base decides for every pair that it knows."""
    lowered = BaselineEntry.model_validate({"expected_status": "fail", "allow_timeout": True})
    found = only(
        judge([batch([row(*PAIR, "fail")])], expect({PAIR: "pass"}), expect({PAIR: lowered}))
    )
    assert (found.kind, found.gates) == (DeltaKind.REGRESSION, True)


@pytest.mark.parametrize(
    ("declared", "got", "gates"),
    [
        ("pass", "pass", False),
        ("pass", "fail", True),
        ("pass", "infra_error", True),
        ("fail", "fail", False),
        ("fail", "pass", False),
        ("fail", "infra_error", False),
    ],
)
def test_a_new_case_is_held_to_its_own_declaration(declared: str, got: Word, gates: bool) -> None:
    """Adding a case never deadlocks; declaring pass and failing is red."""
    found = only(judge([batch([row(*PAIR, got)])], {}, expect({PAIR: declared})))
    assert (found.kind, found.gates) == (DeltaKind.NEW, gates)


def test_g3_without_a_baseline_at_the_merge_base_every_pair_is_new() -> None:
    """No file there is not an error, and nothing is silently judged against nothing."""
    found = only(judge([batch([row(*PAIR)])], None, expect({PAIR: "pass"})))
    assert found.kind is DeltaKind.NEW


def test_results_without_an_entry_are_red() -> None:
    """An undeclared pair says so; each report offers the command that adds its entry."""
    found = only(judge([batch([row(*PAIR)])], {}, {}, case_ids=["a"]))
    assert (found.kind, found.gates) == (DeltaKind.UNDECLARED, True)
    assert found.why == "has results but no baseline entry"


def test_deleting_the_entry_of_a_case_that_still_exists_is_red() -> None:
    """With results or without: the entry must come back."""
    ref = expect({PAIR: "pass", ("b", "claude"): "pass"})
    kept = expect({("b", "claude"): "pass"})
    measured = batch([row("a", "claude", "fail"), row("b", "claude")])
    (first, _) = judge([measured], ref, kept, case_ids=["a", "b"]).rows
    assert (first.pair, first.kind, first.gates) == (PAIR, DeltaKind.REMOVED, True)
    unmeasured = batch([row("b", "claude")])
    (first, _) = judge([unmeasured], ref, kept, case_ids=["a", "b"]).rows
    assert (first.pair, first.kind, first.gates) == (PAIR, DeltaKind.REMOVED, True)


def test_deleting_a_case_but_not_its_entry_is_red_and_both_is_listed() -> None:
    """A case that went away with its entry is listed, and is no reason to be red."""
    ref = expect({PAIR: "pass", ("b", "claude"): "pass"})
    measured = [batch([row("b", "claude")])]
    half = judge(measured, ref, ref, case_ids=["b"]).rows[0]
    whole = judge(measured, ref, expect({("b", "claude"): "pass"}), case_ids=["b"]).rows[0]
    assert [(r.pair, r.kind, r.gates) for r in (half, whole)] == [
        (PAIR, DeltaKind.REMOVED, True),
        (PAIR, DeltaKind.REMOVED, False),
    ]


@pytest.mark.parametrize("name", ["a-gone", "z-gone"])
@pytest.mark.parametrize("got", ["fail", "infra_error"])
def test_what_is_red_stands_above_what_is_only_listed(got: Word, name: str) -> None:
    """A removal, a new case and an improvement never stand above a regression."""
    ref = expect({(name, "claude"): "pass", ("m", "claude"): "pass", ("b", "claude"): "fail"})
    now = expect({("m", "claude"): "pass", ("b", "claude"): "fail", ("new", "claude"): "pass"})
    measured = batch([row("b", "claude"), row("m", "claude", got), row("new", "claude")])
    rows = judge([measured], ref, now, case_ids=["b", "m", "new"]).rows
    assert [one.kind for one in rows] == [
        DeltaKind.REGRESSION, DeltaKind.REMOVED, DeltaKind.NEW, DeltaKind.IMPROVEMENT,
    ]  # fmt: skip


def test_results_of_a_case_that_was_removed_with_its_entry_are_judged_all_the_same() -> None:
    """They are of before the change, and say what the merge base expects of them."""
    ref = expect({PAIR: "pass"})
    row_of = judge([batch([row(*PAIR, "fail")])], ref, {}, case_ids=["b"])
    assert only(row_of).kind is DeltaKind.REGRESSION


def test_no_longer_asking_for_a_provider_is_red_while_it_has_entries() -> None:
    """Dropping a leg of the matrix does not drop its regressions."""
    ref = expect({PAIR: "pass", ("a", "codex"): "pass"})
    measured = [batch([row(*PAIR)])]
    asked = frozenset({"claude"})
    red = judge(measured, ref, ref, providers=asked).rows[0]
    gone = judge(measured, ref, expect({PAIR: "pass"}), providers=asked).rows[0]
    assert [(r.pair[1], r.kind, r.gates) for r in (red, gone)] == [
        ("codex", DeltaKind.REMOVED, True),
        ("codex", DeltaKind.REMOVED, False),
    ]


def test_a_partial_run_is_judged_on_its_selection_alone() -> None:
    """Pairs that were not selected are counted, never judged."""
    ref = expect({(case, agent): "pass" for case in "abc" for agent in ("claude", "codex")})
    result = judge([batch([row("a", "claude")])], ref)
    assert (only(result).kind, len(result.left_out)) == (DeltaKind.OK, 5)


def test_a_selected_pair_without_a_result_is_red() -> None:
    """A lost row is never a pass."""
    ref = expect({PAIR: "pass", ("b", "claude"): "pass"})
    result = judge([batch([row(*PAIR)], selected=["a", "b"])], ref)
    assert (result.rows[0].pair, result.rows[0].kind) == (("b", "claude"), DeltaKind.MISSING)
    assert result.rows[0].gates


def test_a_lost_leg_is_red_and_one_that_could_not_run_is_not_measured() -> None:
    """The marker of a fork's leg tells the two apart."""
    ref = expect({PAIR: "pass", ("a", "codex"): "pass"})
    asked = frozenset({"claude", "codex"})
    lost = judge([batch([row(*PAIR)])], ref, providers=asked)
    assert (lost.rows[0].kind, lost.rows[0].gates) == (DeltaKind.MISSING, True)
    told = judge([batch([row(*PAIR)])], ref, providers=asked, unmeasured={"codex": "no secret"})
    (_, other) = sorted(told.rows, key=lambda r: r.pair[1])
    assert (other.kind, other.gates, other.why) == (DeltaKind.UNMEASURED, False, "no secret")


def test_where_nothing_was_measured_every_case_of_the_tree_is_missing() -> None:
    """All artifacts lost is red in every pair."""
    ref = expect({PAIR: "pass"})
    result = judge([], ref, providers=frozenset({"claude"}))
    assert only(result).kind is DeltaKind.MISSING


def test_a_change_that_broke_one_provider_says_so() -> None:
    """The others still pass, which points at what was edited for whom."""
    ref = expect({PAIR: "pass", ("a", "codex"): "pass"})
    result = judge([batch([row(*PAIR), row("a", "codex", "fail", failure_kind="mixed")])], ref)
    assert "it passes on claude, so only codex broke here" in result.rows[0].why
    assert "(mixed)" in result.rows[0].why


def test_g6_results_of_another_cli_or_model_are_marked() -> None:
    """The verdict stands; the row says what is not alike."""
    made = MadeWith(cli_version="1", model="m1")
    entry = BaselineEntry.model_validate({"expected_status": "pass", "made_with": made})
    measured = [batch([row(*PAIR, cli_version="2", model="m1")])]
    found = only(judge(measured, expect({PAIR: entry})))
    assert (found.kind, found.not_alike) == (DeltaKind.OK, ("CLI version was 1, is 2",))


def test_g7_trials_are_summed_up_by_majority_and_flaky_is_shown() -> None:
    """The trial number keeps repeats apart; a tie is no majority."""
    trials: list[Word] = ["pass", "fail", "pass", "infra_error"]
    rows = [row(*PAIR, status, trial=n) for n, status in enumerate(trials, start=1)]
    found = only(judge([batch(rows)], expect({PAIR: "pass"})))
    assert found.kind is DeltaKind.OK
    assert found.measured is not None
    assert (found.measured.flaky, found.measured.passed, found.measured.measured) == (True, 2, 3)
    tie = [batch([row(*PAIR, "pass"), row(*PAIR, "fail", trial=2)])]
    assert only(judge(tie, expect({PAIR: "pass"}))).kind is DeltaKind.REGRESSION


def test_r1_the_highest_attempt_of_a_key_wins() -> None:
    """A partial re-run replaces its leg, whatever was uploaded last."""
    ref = expect({("s1", "claude"): "pass", ("s2", "claude"): "pass"})
    legs = [
        batch([row("s1", "claude", "fail")], key="s1", attempt=1, file="90"),
        batch([row("s1", "claude", "pass")], key="s1", attempt=2, file="10"),
        batch([row("s2", "claude", "pass")], key="s2", attempt=1, file="50"),
    ]
    result = judge(legs, ref)
    assert {r.kind for r in result.rows} == {DeltaKind.OK}
    assert result.errors == ()


def test_the_same_pair_twice_in_one_attempt_is_an_error() -> None:
    """Two legs that measured the same pair leave nothing to trust."""
    legs = [batch([row(*PAIR)], key=key, file=key) for key in ("x", "y")]
    result = judge(legs, expect({PAIR: "pass"}))
    assert result.errors == ("claude:a was measured in x and in y",)
    assert decide_gate(result, Policy()).conclusion is Conclusion.FAILURE


def test_a_lost_shard_is_an_error() -> None:
    """Shards must cover the selection together."""
    first = batch([row(*PAIR)], key="1", shard="1/3")
    third = batch([row("c", "claude")], key="3", shard="3/3")
    ref = expect({PAIR: "pass", ("c", "claude"): "pass"})
    assert judge([first, third], ref).errors == ("claude: the results of shard 2/3 are missing",)
    second = batch([row("b", "claude")], key="2", shard="2/3")
    assert judge([first, second, third], ref, case_ids=["a", "b", "c"]).errors == ()
    odd = batch([row(*PAIR)], shard="4/3")
    assert judge([odd], ref).errors == ()


def test_an_interrupted_batch_is_an_error() -> None:
    """Partial results are never taken for the whole."""
    result = judge([batch([row(*PAIR)], complete=False)], expect({PAIR: "pass"}))
    assert "was interrupted" in result.errors[0]


def gate(comparison_rows: dict[tuple[str, str], tuple[str, Word]], **policy: Any) -> Gate:  # noqa: ANN401
    """The gate over `{pair: (was, got)}`."""
    ref = expect({pair: was for pair, (was, _) in comparison_rows.items()})
    rows = [row(*pair, got) for pair, (_, got) in comparison_rows.items()]
    return decide_gate(judge([batch(rows)], ref), Policy(**policy))


def test_the_gate_is_green_when_all_is_as_expected() -> None:
    """Improvements and infra errors alone are not red."""
    pairs: dict[tuple[str, str], tuple[str, Word]] = {
        PAIR: ("pass", "pass"),
        ("b", "claude"): ("fail", "infra_error"),
        ("c", "claude"): ("fail", "pass"),
    }
    assert gate(pairs) == Gate(Conclusion.SUCCESS, ())
    strict = gate(pairs, fail_on_infra=True)
    assert strict == Gate(Conclusion.FAILURE, ("1 infra_error (--fail-on-infra)",))


def test_the_gate_counts_each_kind_of_red() -> None:
    """One sentence for each, with its number."""
    pairs: dict[tuple[str, str], tuple[str, Word]] = {
        PAIR: ("pass", "fail"),
        ("b", "claude"): ("pass", "infra_error"),
    }
    assert gate(pairs).reasons == ("1 regression", "1 pair could not be measured")


def test_what_could_not_be_measured_is_red_but_no_regression() -> None:
    """The sentence names the causes, each once, and blames no change."""
    pairs = [(name, "claude") for name in ("a", "b", "c")]
    rows = [
        row(*pair, "infra_error", failure_kind=kind)
        for pair, kind in zip(pairs, ("cli_missing", "quota", "cli_missing"), strict=True)
    ]
    found = decide_gate(judge([batch(rows)], expect(dict.fromkeys(pairs, "pass"))), Policy())
    told = ("3 pairs could not be measured (cli_missing, quota)",)
    assert found == Gate(Conclusion.FAILURE, told)


def test_pairs_that_nobody_needed_to_run_are_counted_apart_where_one_is_red() -> None:
    """They are no second trouble; alone they are."""
    lost = [
        row(name, "claude", "infra_error", failure_kind="not_run", error=f"{GATE_DECIDED}, so")
        for name in ("b", "c")
    ]
    for rows, told in (
        ([row(*PAIR, "fail"), *lost], "2 pairs were not run: the gate was decided"),
        ([row(*PAIR, "pass"), *lost], "2 pairs could not be measured (not_run)"),
        ([row(*PAIR, "fail"), *lost[:1]], "1 pair was not run: the gate was decided"),
    ):
        ref = expect({(one.case_id, one.agent): "pass" for one in rows})
        assert decide_gate(judge([batch(rows)], ref), Policy()).reasons[-1] == told


def test_unmeasured_legs_are_red_or_neutral_never_green() -> None:
    """The operator decides which."""
    ref = expect({PAIR: "pass", ("a", "codex"): "pass"})
    comparison = judge(
        [batch([row(*PAIR)])],
        ref,
        providers=frozenset({"claude", "codex"}),
        unmeasured={"codex": "fork"},
    )
    assert decide_gate(comparison, Policy()).conclusion is Conclusion.FAILURE
    neutral = decide_gate(comparison, Policy(unmeasured_fails=False))
    assert neutral == Gate(Conclusion.NEUTRAL, ("1 pair was not measured",))


def test_nothing_measured_at_all_is_red() -> None:
    """An empty comparison proves nothing, nor does one in which every agent broke."""
    assert decide_gate(judge([], {}), Policy()).reasons == ("nothing was measured",)
    broken = [batch([row(*PAIR, "infra_error")])]
    allowed = judge(broken, expect({PAIR: "pass"}), allow_infra=frozenset({"claude"}))
    assert decide_gate(allowed, Policy()).conclusion is Conclusion.FAILURE


ALLOWED = frozenset({"codex"})


@pytest.mark.parametrize(
    ("was", "got", "kind", "gates"),
    [
        ("pass", "infra_error", "INFRA", False),
        ("pass", "fail", "REGRESSION", True),
        ("fail", "infra_error", "INFRA", False),
        ("infra_error", "infra_error", "OK", False),
        (None, "infra_error", "NEW", False),
        (None, "fail", "NEW", True),
    ],
)
def test_an_agent_that_may_break_is_red_for_a_wrong_route_alone(
    was: str | None, got: Word, kind: str, gates: bool
) -> None:
    """In a known case as in a new one, which declares `pass`."""
    pair = ("a", "codex")
    ref, declared = expect({pair: was} if was else {}), expect({pair: was or "pass"})
    found = only(judge([batch([row(*pair, got)])], ref, declared, allow_infra=ALLOWED))
    assert (found.kind.value, found.gates) == (kind, gates)
    assert ("this is allowed for codex" in found.why) == (got == "infra_error" != was)


def test_a_timeout_of_an_agent_that_may_break_is_a_regression() -> None:
    """It got its time."""
    late = [batch([row("a", "codex", "infra_error", timed_out=True)])]
    found = only(judge(late, expect({("a", "codex"): "pass"}), allow_infra=ALLOWED))
    assert (found.kind, found.gates) == (DeltaKind.REGRESSION, True)


@pytest.mark.parametrize("cases", ["a", "ab"])
def test_a_lost_leg_of_an_agent_that_may_break_is_shown_and_not_red(cases: str) -> None:
    """Whole, or a shard that only the plan knows; the same of another agent is red."""
    pairs = frozenset((case, agent) for case in cases for agent in ("claude", "codex"))
    ref = expect(dict.fromkeys(pairs, "pass"))
    left = [row(case, "claude") for case in cases] + [row("a", "codex")] * (cases == "ab")
    lost = {pair for pair in pairs if pair not in {(r.case_id, r.agent) for r in left}}
    result = judge([batch(left, selected=None)], ref, planned=pairs, allow_infra=ALLOWED)
    shown = {r.pair: (r.kind, r.gates) for r in result.rows if r.measured is None}
    assert shown == dict.fromkeys(lost, (DeltaKind.INFRA, False))
    strict = judge([batch(left, selected=None)], ref, planned=pairs)
    assert {r.pair for r in strict.rows if r.gates} == lost


def test_what_an_agent_that_may_break_left_half_done_is_no_error() -> None:
    """An interrupted batch and a lost shard; both are errors of any other agent."""
    legs = [batch([row("a", "codex")], complete=False, shard="1/2")]
    assert len(gather(legs).errors) == 2
    assert gather(legs, excused=ALLOWED).errors == ()
    mixed = [batch([row("a", "codex"), row("a", "claude")], complete=False)]
    assert len(gather(mixed, excused=ALLOWED).errors) == 1


@pytest.mark.parametrize(("fail_on_infra", "excused"), [(False, ALLOWED), (True, frozenset())])
def test_whoever_wants_all_infra_red_excuses_nobody(
    fail_on_infra: bool, excused: frozenset[str]
) -> None:
    """Of the two options the stricter one wins."""
    assert Policy(fail_on_infra=fail_on_infra, allow_infra=("codex",)).excused == excused


@pytest.mark.parametrize("neutral", [False, True])
@pytest.mark.parametrize(
    ("was", "infra", "others", "is_green"),
    [
        ("fail", 10, 0, False),
        ("infra_error", 10, 0, False),
        ("fail", 3, 2, False),
        ("infra_error", 2, 2, True),
        ("fail", 1, 2, True),
    ],
)
def test_less_than_half_measured_is_never_green(
    was: Word, infra: int, others: int, is_green: bool, neutral: bool
) -> None:
    """Whatever the baseline expects of pairs that could not be measured, and of lost legs."""
    pairs: dict[tuple[str, str], tuple[str, Word]] = {
        **{(f"i{number}", "claude"): (was, "infra_error") for number in range(infra)},
        **{(f"o{number}", "claude"): ("pass", "pass") for number in range(others)},
    }
    found = gate(pairs, unmeasured_fails=not neutral)
    assert (found.conclusion is Conclusion.SUCCESS) == is_green
    if not is_green:
        said = f"only {others} of {infra + others} pairs could be measured"
        assert found == Gate(Conclusion.FAILURE, (said,))


STATUSES = st.sampled_from(["pass", "fail", "infra_error"])
PAIRS = st.tuples(st.sampled_from("abcd"), st.sampled_from(["claude", "codex"]))
TABLES = st.dictionaries(PAIRS, st.tuples(STATUSES, STATUSES), min_size=1)


@given(TABLES)
def test_what_was_measured_against_itself_has_no_change(
    table: dict[tuple[str, str], tuple[Word, Word]],
) -> None:
    """compare(x, x) is OK everywhere."""
    rows = [row(*pair, got) for pair, (_, got) in table.items()]
    legs = [batch(rows, selected=None)]
    itself: Entries = expect({pair: got for pair, (_, got) in table.items()})
    result = judge(legs, itself)
    measured = [r for r in result.rows if r.measured is not None]
    assert {r.kind for r in measured} == {DeltaKind.OK}
    assert len(measured) == len(table)


@given(TABLES)
def test_a_pass_more_never_makes_a_regression(
    table: dict[tuple[str, str], tuple[Word, Word]],
) -> None:
    """Turning any result into a pass never adds red."""
    ref = expect({pair: was for pair, (was, _) in table.items()})
    before = judge([batch([row(*p, got) for p, (_, got) in table.items()])], ref)
    red = sum(r.gates for r in before.rows)
    for better in table:
        rows = [row(*p, "pass" if p == better else got) for p, (_, got) in table.items()]
        assert sum(r.gates for r in judge([batch(rows)], ref).rows) <= red


@given(TABLES)
def test_to_allow_infra_changes_nothing_but_infra_of_that_agent(
    table: dict[tuple[str, str], tuple[Word, Word]],
) -> None:
    """Every other pair, and every wrong route, is judged as before."""
    ref = expect({pair: was for pair, (was, _) in table.items()})
    legs = [batch([row(*pair, got) for pair, (_, got) in table.items()])]
    strict, allowed = judge(legs, ref), judge(legs, ref, allow_infra=ALLOWED)
    words = [{r.pair: (r.kind, r.gates) for r in one.rows} for one in (strict, allowed)]
    moved = {pair for pair in words[0] if words[0][pair] != words[1].get(pair)}
    broken = {p for p, two in table.items() if p[1] == "codex" and two == ("pass", "infra_error")}
    assert moved & table.keys() == broken
    assert {agent for _, agent in moved} <= ALLOWED


@given(TABLES, st.randoms())
def test_the_order_of_files_never_matters(
    table: dict[tuple[str, str], tuple[Word, Word]],
    shuffler: Any,  # noqa: ANN401
) -> None:
    """The same legs in any order give the same delta."""
    ref = expect({pair: was for pair, (was, _) in table.items()})
    legs = [
        batch([row(*pair, got)], key=str(pair), file=str(pair)) for pair, (_, got) in table.items()
    ]
    shuffled = list(legs)
    shuffler.shuffle(shuffled)
    assert judge(legs, ref) == judge(shuffled, ref)


def test_a_leg_that_nobody_could_measure_is_what_the_operator_says() -> None:
    """A fork's pull request, without any secret, is neutral or red by policy, never an error."""
    tree = Tree(frozenset({"a"}), {}, frozenset({"claude"}), {"claude": "a fork"})
    comparison = compare(gather([]), None, tree)
    strict = decide_gate(comparison, Policy(unmeasured_fails=True))
    neutral = decide_gate(comparison, Policy(unmeasured_fails=False))
    assert (strict.conclusion, neutral.conclusion) == (Conclusion.FAILURE, Conclusion.NEUTRAL)
    assert neutral.reasons == ("1 pair was not measured",)


def test_agents_that_were_left_out_for_once_are_not_removed() -> None:
    """A run by hand of one agent is judged on that agent; a workflow's own list is held to all."""
    ref = expect({("a", "claude"): "pass", ("a", "codex"): "pass"})
    rows = [batch([row("a", "claude")])]
    once = judge(rows, ref, providers=frozenset({"claude"}), partial=True)
    for_good = judge(rows, ref, providers=frozenset({"claude"}))
    assert ([one.kind for one in once.rows], len(once.left_out)) == ([DeltaKind.OK], 1)
    assert [one.kind for one in for_good.rows] == [DeltaKind.REMOVED, DeltaKind.OK]
