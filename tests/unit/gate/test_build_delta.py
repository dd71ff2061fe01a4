"""What a delta says of a pair beside its word: trials, and whether the change accepts it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_action.corpus.baseline import BaselineEntry
from routing_action.gate.build_delta import build_delta
from routing_action.gate.conclusion import Conclusion, Policy
from routing_action.gate.find_baselines import Baselines
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.report.terminal.delta_text import render_delta_text
from routing_action.report.terminal.layout import ConsoleStyle
from routing_action.report.view import GateOutcome, find_outcome
from routing_action.results.measured import keep_newest
from routing_action.results.model import OfferedSkill
from tests.support.measured import Word, batch, expect, row
from tests.unit.report.terminal.test_delta_text import CORPUS, NOW, SOURCE

LATE = BaselineEntry.model_validate(
    {"expected_status": "fail", "allow_timeout": True, "reason": "slow"}
)


def judge(
    current: str | BaselineEntry,
    *statuses: Word,
    late: bool = False,
) -> DeltaEntry:
    """The row of a pair that passed before, by its trials."""
    pair = ("a", "claude")
    rows = [row(*pair, status, trial=n, timed_out=late) for n, status in enumerate(statuses, 1)]
    baselines = Baselines(expect({pair: "pass"}), expect({pair: current}), SOURCE)
    made = build_delta([batch(rows)], baselines, CORPUS, unmeasured={}, policy=Policy(), now=NOW)
    return made.rows[0]


@pytest.mark.parametrize(
    ("current", "late", "accepted"),
    [("fail", False, True), ("pass", False, False), ("fail", True, False), (LATE, True, True)],
)
def test_a_regression_that_the_changes_own_baseline_expects_is_accepted(
    current: str | BaselineEntry, late: bool, accepted: bool
) -> None:
    """It stays red, and need not be accepted again; a timeout has to be allowed too."""
    found = judge(current, "fail", late=late)
    assert found.gates
    assert found.accepted is accepted


def test_trials_are_counted_and_those_that_could_not_be_measured_are_told_apart() -> None:
    """Of every pair, whoever asked for the trials."""
    plain = judge("pass", "fail", "fail", "fail")
    assert (plain.passed, plain.trials, plain.measured) == (0, 3, None)
    broken = judge("pass", "fail", "infra_error", "pass")
    assert (broken.passed, broken.trials, broken.measured) == (1, 3, 2)
    assert judge("pass", "pass").accepted is False


def judge_both(first: Word, then: Word, *, is_edited: bool = True) -> Delta:
    """A batch of two cases, then one of the first of them, after an edit of its skill or none."""
    texts = ("Deploys.", "Ships." if is_edited else "Deploys.")
    rows = [
        [
            row("a", "claude", "fail", loaded_skills=("x",)),
            row("b", "claude", first, loaded_skills=("foo",)),
        ],
        [row("a", "claude", then, loaded_skills=("foo",))],
    ]
    both = [
        replace(
            batch(own, file=str(n)),
            generated_at=f"2026-01-01T00:0{n}:00Z",
            skills=tuple(
                OfferedSkill(name=name, agents=("claude",), path=f"skills/{name}",
                             description=text)
                for name in ("x", "foo")
            ),
        )
        for n, (own, text) in enumerate(zip(rows, texts, strict=True))
    ]  # fmt: skip
    expected = expect({("a", "claude"): "pass", ("b", "claude"): "pass"})
    baselines = Baselines(expected, expected, SOURCE)
    return build_delta(
        keep_newest(both), baselines, CORPUS, unmeasured={}, policy=Policy(), now=NOW,
        program="./test.sh",
    )  # fmt: skip


def test_a_rerun_after_an_edit_does_not_make_the_older_pairs_green() -> None:
    """They are listed with the command that measures them; red stays red."""
    delta = judge_both("pass", "pass")
    assert (delta.conclusion, find_outcome(delta)) == (Conclusion.NEUTRAL, GateOutcome.PARTIAL)
    assert delta.reasons == ("1 pair was measured before the skills changed",)
    text = render_delta_text(delta, ConsoleStyle())
    assert "stale: measured before the skills changed" in text
    assert "rerun    ./test.sh --agents claude --case-id b\n" in text
    assert judge_both("pass", "pass", is_edited=False).conclusion is Conclusion.SUCCESS
    assert judge_both("fail", "pass").conclusion is Conclusion.FAILURE
    assert judge_both("pass", "fail").conclusion is Conclusion.FAILURE


def test_a_skills_text_is_that_of_the_batch_that_measured_the_pair() -> None:
    """A failed rerun shows what its agent was offered, not what stood there before."""
    now = {one.name: one.description for one in judge_both("pass", "fail").skills}
    assert set(now.values()) == {"Ships."}
    before = {one.name: one.description for one in judge_both("fail", "pass").skills}
    assert set(before.values()) <= {"Deploys."}
    assert "foo" in before
