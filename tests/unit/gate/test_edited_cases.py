"""The rules for a case whose prompt or expectations a change edits."""

from __future__ import annotations

import pytest

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion, Policy, decide_gate
from routing_action.gate.edited_case import EditedCase
from routing_action.gate.judging.tree import Tree
from routing_action.gate.rules import DeltaKind, DeltaRow, compare
from routing_action.results.measured import gather
from tests.support.measured import Word, batch, expect, only, row

PAIR = ("a", "claude")
FAILED = {"claude": (Status.FAIL, ("deploying",))}
PASSED: dict[str, tuple[Status, tuple[str, ...]]] = {"claude": (Status.PASS, ())}


def judge(was: str, got: Word, edit: EditedCase) -> DeltaRow:
    """The row of an edited case."""
    tree = Tree(frozenset("a"), expect({PAIR: was}), edited={"a": edit})
    return only(compare(gather([batch([row(*PAIR, got)])]), expect({PAIR: was}), tree))


@pytest.mark.parametrize(
    ("was", "got", "edit", "kind", "gates"),
    [
        ("pass", "pass", EditedCase(("x",), True, PASSED), DeltaKind.CASE_EDITED, False),
        ("pass", "pass", EditedCase(("x",), True, FAILED), DeltaKind.CASE_EDITED, True),
        ("pass", "pass", EditedCase(("x",), True), DeltaKind.CASE_EDITED, True),
        ("pass", "pass", EditedCase(("prompt",), False), DeltaKind.CASE_EDITED, False),
        ("fail", "fail", EditedCase(("x",), True, FAILED), DeltaKind.CASE_EDITED, False),
        ("fail", "pass", EditedCase(("x",), True), DeltaKind.CASE_EDITED, False),
        ("infra_error", "fail", EditedCase(("x",), True, FAILED), DeltaKind.CASE_EDITED, False),
        ("pass", "fail", EditedCase(("x",), True, PASSED), DeltaKind.REGRESSION, True),
        ("fail", "infra_error", EditedCase(("x",), True, FAILED), DeltaKind.INFRA, False),
    ],
)
def test_an_edited_case_is_held_to_what_it_was(
    was: str, got: Word, edit: EditedCase, kind: DeltaKind, *, gates: bool
) -> None:
    """Red where it is expected to pass and does not by the case as it was, or nobody knows."""
    found = judge(was, got, edit)
    assert (found.kind, found.gates) == (kind, gates)


def test_the_reason_names_fields_and_verdict() -> None:
    """What was edited, and what the case as it was says."""
    why = judge("pass", "pass", EditedCase(("expected_skill",), True, FAILED)).why
    assert "edited (expected_skill)" in why
    assert "before this change: fail (missing deploying)" in why


def test_it_stands_after_red_rows_and_above_the_others() -> None:
    """A reader sees it before what is as expected."""
    pairs = [("a", "claude"), ("b", "claude"), ("c", "claude")]
    results = [row(*pairs[0], "pass"), row(*pairs[1], "pass"), row(*pairs[2], "fail")]
    ref = expect(dict.fromkeys(pairs, "pass"))
    tree = Tree(frozenset("abc"), ref, edited={"b": EditedCase(("prompt",), False)})
    rows = compare(gather([batch(results)]), ref, tree).rows
    assert [one.pair[0] for one in rows] == ["c", "b", "a"]


def test_the_gate_says_how_many_do_not_pass_as_they_were() -> None:
    """Its own reason."""
    tree = Tree(frozenset("a"), expect({PAIR: "pass"}), edited={"a": EditedCase(("x",), True)})
    found = compare(gather([batch([row(*PAIR, "pass")])]), expect({PAIR: "pass"}), tree)
    gate = decide_gate(found, Policy())
    assert gate.conclusion is Conclusion.FAILURE
    assert gate.reasons == ("1 edited case does not pass as it was",)
