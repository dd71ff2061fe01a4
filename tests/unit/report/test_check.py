"""The check run's output keeps to GitHub's limits and points at the lines of the cases."""

from __future__ import annotations

import pytest

from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.check import build_check
from tests.rendering import samples
from tests.rendering.samples import PLACE, entry, filled, huge, make, quiet, regression


def test_a_red_pair_is_a_failure_on_its_line() -> None:
    """Title, message and details say what a reviewer of the file needs."""
    check = build_check(samples.red(), PLACE)
    assert (check.name, check.conclusion) == ("routing gate", "failure")
    assert check.title == "Routing gate failed: 2 regressions"
    first = check.annotations[0]
    assert (first.path, first.start_line, first.end_line) == ("cases.json", 27, 27)
    assert (first.level, first.title) == ("failure", "REGRESSION: notes-from-tags on claude")
    assert first.message.startswith("wanted writing-release-notes, got summarising-commits\n")
    assert "rerun: ./test.sh --agents claude --case-id notes-from-tags" in first.message
    assert "found for writing-release-notes at tier 3:" in first.raw_details
    assert "error: the wall deadline" in check.annotations[1].raw_details


@pytest.mark.parametrize(
    ("row", "level"),
    [
        (regression(), "failure"),
        (entry("a", "x", DeltaKind.INFRA), "warning"),
        (entry("a", "x", DeltaKind.CHANGED), "warning"),
        (entry("a", "x", flaky=True, passed=1, trials=3), "warning"),
        (entry("a", "x", not_alike=("CLI version was 1, is 2",)), "warning"),
        (entry("a", "x", DeltaKind.IMPROVEMENT), "notice"),
        (entry("a", "x", DeltaKind.NEW), "notice"),
    ],
)
def test_levels_follow_what_needs_doing(row: DeltaEntry, level: str) -> None:
    """Red is a failure, doubt a warning, better a notice."""
    conclusion = Conclusion.FAILURE if row.gates else Conclusion.SUCCESS
    (annotation,) = build_check(make([row], conclusion), PLACE).annotations
    assert annotation.level == level


def test_a_case_without_a_line_is_noted_on_the_first() -> None:
    """A removed case has no line any more."""
    gone = entry("old", "claude", DeltaKind.REMOVED, got=None, line=None)
    (annotation,) = build_check(make([gone]), PLACE).annotations
    assert annotation.start_line == 1


@pytest.mark.parametrize("path", ["/tmp/cases.json", "../cases.json", ""])
def test_a_case_file_outside_the_repository_has_no_annotations(path: str) -> None:
    """GitHub would reject the whole check run."""
    check = build_check(make([regression()], Conclusion.FAILURE, cases_file=path), PLACE)
    assert check.annotations == ()
    assert "no annotation" not in check.summary


def test_more_pairs_than_the_maximum_are_counted() -> None:
    """51 or 1,000: what has no annotation is counted."""
    check = build_check(huge(30, "x"), PLACE, max_annotations=7)
    assert len(check.annotations) == 7
    assert "23 more pairs have no annotation in the case file." in check.summary


@pytest.mark.slow
def test_titles_messages_and_details_keep_their_limits() -> None:
    """Whatever an agent prints."""
    for text in ("x" * 100_000, "😀" * 30_000, "a\x00\n\u202e" * 9_000):
        check = build_check(filled(text), RunLinks())
        assert len(check.title) <= 255
        for annotation in build_check(
            filled(text).model_copy(update={"cases_file": "c"}), PLACE
        ).annotations:
            assert len(annotation.title) <= 255
            assert len(annotation.message.encode()) <= 8_000
            assert len(annotation.raw_details.encode()) <= 60_000
            assert "\x00" not in annotation.message + annotation.raw_details
            assert "\u202e" not in annotation.title


def test_the_name_tells_several_gates_apart() -> None:
    """One check run for each key."""
    assert build_check(make(quiet()), RunLinks(key="nightly")).name == "routing gate (nightly)"


def test_the_summary_has_the_table_and_the_text_the_evidence() -> None:
    """Nothing is said twice."""
    check = build_check(samples.red(), PLACE)
    assert "| what,&nbsp;case&nbsp;and&nbsp;agent |" in check.summary
    assert "<details>" not in check.summary
    assert check.text.startswith("<details open><summary>🔴")
    assert "[!CAUTION]" not in check.text
