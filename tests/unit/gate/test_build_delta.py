"""What a delta says of a pair beside its word: trials, and whether the change accepts it."""

from __future__ import annotations

import pytest

from routing_action.corpus.baseline import BaselineEntry
from routing_action.gate.build_delta import build_delta
from routing_action.gate.conclusion import Policy
from routing_action.gate.find_baselines import Baselines
from routing_action.gate.model import DeltaEntry
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
