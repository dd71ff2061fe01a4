"""Each failure kind tells what to do, and its page tells more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.verdict import FailureKind
from routing_action.gate.rules import DeltaKind
from routing_action.report.escape import phrase
from routing_action.report.remedies import REMEDIES, find_remedy
from routing_action.report.view import accept_command, changed_rows
from tests.rendering.samples import entry
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
    assert accept_command(row).endswith("--cases a --accept-regression --reason TEXT")
