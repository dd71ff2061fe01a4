"""Throttling is tried again, and nothing else is."""

from __future__ import annotations

import pytest

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy, Reading
from routing_action.run.throttling import is_retried, pause_seconds

THROTTLED = Reading(throttled=True)
INFRA = Status.INFRA_ERROR


@pytest.mark.parametrize("outcome", [Outcome.RATE_LIMIT, Outcome.SERVER_ERROR])
def test_a_throttled_run_that_measured_nothing_is_tried_again(outcome: Outcome) -> None:
    """A rate limit, or a service that is overloaded."""
    assert is_retried(INFRA, outcome, THROTTLED, EndedBy.EXIT)
    assert is_retried(INFRA, outcome, THROTTLED, EndedBy.TERMINAL_GRACE)


@pytest.mark.parametrize("status", [Status.PASS, Status.FAIL])
def test_a_verdict_that_was_measured_is_never_tried_again(status: Status) -> None:
    """A proven load or a disallowed hit stands, though the API failed afterwards."""
    assert not is_retried(status, Outcome.RATE_LIMIT, THROTTLED, EndedBy.EXIT)


@pytest.mark.parametrize(
    "outcome", [one for one in Outcome if one not in (Outcome.RATE_LIMIT, Outcome.SERVER_ERROR)]
)
def test_no_other_outcome_is_tried_again(outcome: Outcome) -> None:
    """Quota and credentials do not come back, and a crash is a finding."""
    assert not is_retried(INFRA, outcome, THROTTLED, EndedBy.EXIT)


def test_a_server_error_of_its_own_is_not_tried_again() -> None:
    """A 500 asks for nothing."""
    assert not is_retried(INFRA, Outcome.SERVER_ERROR, Reading(), EndedBy.EXIT)


@pytest.mark.parametrize(
    "ended_by", [EndedBy.WALL_DEADLINE, EndedBy.IDLE_DEADLINE, EndedBy.CANCELLED]
)
def test_a_run_that_used_all_of_its_time_is_not_tried_again(ended_by: EndedBy) -> None:
    """The CLI was trying again itself until then."""
    assert not is_retried(INFRA, Outcome.RATE_LIMIT, THROTTLED, ended_by)


def test_pauses_grow_and_are_bounded() -> None:
    """5 seconds, then twice as long each time, at most two minutes."""
    assert [pause_seconds(n, None) for n in range(7)] == [5, 10, 20, 40, 80, 120, 120]
    assert pause_seconds(10**9, None) == 120


@pytest.mark.parametrize(("stated", "pause"), [(0.0, 0.0), (30.0, 30.0), (120.0, 120.0)])
def test_a_wait_that_the_service_asks_for_is_kept_to(stated: float, pause: float) -> None:
    """Neither shorter nor longer, whichever retry it is."""
    assert pause_seconds(0, stated) == pause_seconds(3, stated) == pause


def test_a_wait_of_more_than_two_minutes_is_not_worth_it() -> None:
    """Coming back earlier would only be throttled again."""
    assert pause_seconds(0, 120.5) is None
