"""Each failure kind tells what to do, and its page tells more."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.verdict import FailureKind
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.escape import phrase
from routing_action.report.markdown import render_comment
from routing_action.report.remedies import REMEDIES, find_remedy
from routing_action.report.steps import accept_command, join_rows, list_steps, rerun_commands
from routing_action.report.terminal.delta_text import render_delta_text
from routing_action.report.terminal.layout import ConsoleStyle
from routing_action.report.view import changed_rows, count_kinds
from routing_action.results.notes import GATE_DECIDED
from tests.rendering.samples import BASELINE, PLACE, entry, make, regression
from tests.support.report_values import make_delta, make_entry, make_regression

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "failure-kinds.md"


def test_every_kind_has_a_remedy_and_an_entry() -> None:
    """Neither is forgotten when a kind is added."""
    infra = {outcome.value for outcome in Outcome if outcome.is_infra}
    kinds = {kind.value for kind in FailureKind} | infra
    assert REMEDIES.keys() == kinds
    assert set(re.findall(r"(?m)^### (\w+)$", PAGE.read_text("utf-8"))) == kinds


@pytest.mark.parametrize("kind", REMEDIES)
def test_a_remedy_reads_as_plain_words(kind: str) -> None:
    """Nothing in it needs the escaping that a report would show as code."""
    assert phrase(find_remedy(kind)) == find_remedy(kind)


def test_red_rows_stand_first_in_every_report() -> None:
    """Whatever the order of delta.json, which an earlier release may have written."""
    gone = make_entry("gone", kind=DeltaKind.REMOVED, got=None)
    flaky = make_entry("flaky", flaky=True)
    rows = (gone, make_entry(), make_regression("a"), flaky, make_regression("b"))
    assert [row.case_id for row in changed_rows(make_delta(*rows))] == ["a", "b", "gone", "flaky"]


@pytest.mark.parametrize("kind", [None, "", "made-up"])
def test_what_is_no_kind_has_none(kind: str | None) -> None:
    """A delta of a newer release may name others."""
    assert find_remedy(kind) == ""


@pytest.mark.parametrize(
    ("kind", "late"),
    [(DeltaKind.NEW, False), (DeltaKind.REGRESSION, False), (DeltaKind.UNDECLARED, True)],
)
def test_the_command_to_accept_a_failure_is_one_that_works(kind: DeltaKind, late: bool) -> None:
    """`baseline update` lowers no expectation, and adds no late pair, without the option."""
    row = entry("a", "claude", kind, gates=True, got=Status.FAIL, timed_out=late)
    assert accept_command(row).startswith(
        "routing-action baseline update --from RESULTS --cases a --agents claude "
        "--accept-regression --reason 'WHY'"
    )


@pytest.mark.parametrize(
    ("place", "source"),
    [
        (PLACE, "--from-run 4242 --repo octo/demo"),
        (replace(PLACE, repository="o/d; rm -rf x"), "--from-run 4242 --repo 'o/d; rm -rf x'"),
        (replace(PLACE, run_id="42; true"), "--from RESULTS"),
        (RunLinks(), "--from RESULTS"),
    ],
)
def test_a_command_of_a_run_fetches_its_results(place: RunLinks, source: str) -> None:
    """It works when pasted, and nothing of a place can end a word of it."""
    row = entry("a b", "claude", DeltaKind.IMPROVEMENT)
    command = accept_command(row, place=place)
    assert command == f"routing-action baseline update {source} --cases 'a b' --agents claude"


@pytest.mark.parametrize(
    ("fields", "commit", "label", "said"),
    [
        ({}, "a" * 40, "once accepted", "takes effect when merged: this gate stays red until then"),
        ({}, None, "once accepted", "commit the baseline: it takes effect with the next run"),
        (
            {"kind": DeltaKind.UNDECLARED, "got": Status.PASS},
            "a" * 40,
            "once accepted",
            "commit the baseline",
        ),
        ({"accepted": True}, "a" * 40, "fix", "already accepted by this change"),
    ],
)
def test_it_is_said_when_accepting_counts(
    fields: dict[str, Any], commit: str | None, label: str, said: str
) -> None:
    """Before, and after the change holds it: then it is not offered again."""
    row = regression().model_copy(update=fields)
    baseline = BASELINE.model_copy(update={"commit": commit})
    steps = dict(list_steps(make([row], Conclusion.FAILURE, baseline=baseline), row))
    assert said in steps[label]
    assert ("accept" in steps) is not row.accepted


def test_an_improvement_that_is_locked_in_is_not_offered_again() -> None:
    """Its row says that the change did it."""
    row = entry("a", "claude", DeltaKind.IMPROVEMENT, was=Status.FAIL)
    assert [label for label, _ in list_steps(make([row]), row)] == ["lock it in"]
    assert not list(list_steps(make([row]), row.model_copy(update={"accepted": True})))


def test_commands_for_many_rows_name_each_case_once_and_each_agent() -> None:
    """A line to repeat for each agent; more cases than fit are all of the agent's."""
    rows = [regression(case, agent) for case in ("a", "b") for agent in ("claude", "codex")]
    delta = make(rows, Conclusion.FAILURE)
    assert rerun_commands(delta, rows).splitlines() == [
        "./test.sh --agents claude --case-id a,b",
        "./test.sh --agents codex --case-id a,b",
    ]
    assert "--cases a,b --agents claude,codex --accept" in accept_command(join_rows(rows))
    many = [regression(f"c{n}") for n in range(21)]
    assert rerun_commands(delta, many) == "./test.sh --agents claude"
    assert accept_command(join_rows(many)) == ""  # it would lower those of other causes too
    better = [entry(f"c{n}", "claude", DeltaKind.IMPROVEMENT) for n in range(21)]
    assert accept_command(join_rows(better)).endswith("--from RESULTS --agents claude")


def test_what_is_known_to_fail_is_counted_apart() -> None:
    """A gate that is green with known failures says how many, in every view."""
    fields: dict[str, Any] = {"was": Status.FAIL, "got": Status.FAIL, "passed": 0}
    rows = [entry("a", "claude"), entry("b", "claude", **fields)]
    assert [(word, number) for _, word, number in count_kinds(make(rows))] == [
        ("OK", 1),
        ("known failure", 1),
    ]
    assert "1 OK, 1 known failure" in render_delta_text(make(rows), ConsoleStyle())
    assert "**1** [known failure](" in render_comment(make(rows), PLACE)


def test_a_change_that_accepts_all_that_is_red_is_not_told_to_fix_it() -> None:
    """It has decided already; half of it has not."""
    accepted = regression("a").model_copy(update={"accepted": True})
    body = render_comment(make([accepted], Conclusion.FAILURE), PLACE)
    assert "Fix what changed" not in body
    assert "This change accepts what is red: it counts when merged." in body
    assert "Fix what changed" in render_comment(
        make([accepted, regression("b")], Conclusion.FAILURE), PLACE
    )


NOT_NEEDED: dict[str, Any] = {
    "got": Status.INFRA_ERROR,
    "failure_kind": "not_run",
    "error": f"{GATE_DECIDED}, since codex:red failed 2 of 2 (--fail-fast)",
}


def test_what_was_measured_stands_before_what_could_not_be() -> None:
    """A cause is read first; what nobody needed to run is no row, since the gate counts it."""
    lost = make_regression("a", got=Status.INFRA_ERROR, failure_kind="quota")
    skipped = make_regression("b", **NOT_NEEDED)
    rows = changed_rows(make_delta(lost, skipped, make_regression()))
    assert [row.case_id for row in rows] == ["red", "a"]


def test_where_nothing_else_is_red_what_was_not_run_is_a_row_that_says_why() -> None:
    """A comparison can judge otherwise than the run did."""
    skipped = make_regression("b", **NOT_NEEDED)
    delta = make_delta(skipped, make_entry())
    assert changed_rows(delta) == (skipped,)
    fix = "fix the pair that the error names, which decided the gate, and run again"
    assert fix in dict(list_steps(delta, skipped)).values()


def test_the_lead_says_what_ends_an_entry_that_is_over() -> None:
    """Beside a regression too: nobody can accept it."""
    over = regression("b").model_copy(update={"kind": DeltaKind.EXPIRED, "why": "it ended"})
    body = render_comment(make([regression("a"), over], Conclusion.FAILURE), PLACE)
    assert "What is EXPIRED cannot be accepted: sharpen the skill" in body
    alone = render_comment(make([over], Conclusion.FAILURE), PLACE)
    assert "An entry of the baseline is past its date" in alone
    assert "cannot be accepted" not in alone
