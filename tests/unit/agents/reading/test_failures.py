"""An API failure that a CLI reports is sorted by what its user can do about it."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.agents.reading.failures import (
    classify_failure,
    is_throttling,
    retry_after_in,
    status_in,
)
from routing_action.evidence.transcript import ApiFailure

AUTH, QUOTA = ApiFailure.AUTH, ApiFailure.QUOTA
RATE, SERVER, OTHER = ApiFailure.RATE_LIMIT, ApiFailure.SERVER_ERROR, ApiFailure.API_ERROR


def throttles(message: str = "", **details: Any) -> bool:  # noqa: ANN401
    """Whether a failure as it is reported asks for fewer calls."""
    return is_throttling(classify_failure(message, **details), message, **details)


@pytest.mark.parametrize(
    ("message", "failure"),
    [
        ("Your credit balance is too low to access the Anthropic API.", QUOTA),
        ("You exceeded your current quota, please check your plan", QUOTA),
        ("429 insufficient_quota", QUOTA),
        ("You've hit your usage limit. Try again in 3 days", QUOTA),
        ("402 Payment Required", QUOTA),
        ("unexpected status 401 Unauthorized: invalid x-api-key", AUTH),
        ("Not logged in · Please run /login", AUTH),
        ("Missing environment variable: `OPENAI_API_KEY`.", AUTH),
        ("refresh token was already used", AUTH),
        ("HTTP 403", AUTH),
        ("exceeded retry limit, last status: 429 Too Many Requests", RATE),
        ("Rate limit reached for requests", RATE),
        ("RESOURCE_EXHAUSTED", RATE),
        ("unexpected status 503 Service Unavailable", SERVER),
        ("Overloaded", SERVER),
        ("Internal server error", SERVER),
        ("stream error: status code 529", SERVER),
        ("We are experiencing high demand", SERVER),
        ("400 Bad Request", OTHER),
        ("something odd", OTHER),
        ("", OTHER),
    ],
)
def test_a_message_tells_what_to_do(message: str, failure: ApiFailure) -> None:
    """Pay, log in, wait, try later, or look closer."""
    assert classify_failure(message) is failure


@pytest.mark.parametrize(
    ("kind", "status", "failure"),
    [
        ("", 401, AUTH),
        ("", 403, AUTH),
        ("", 402, QUOTA),
        ("", 429, RATE),
        ("", 500, SERVER),
        ("", 529, SERVER),
        ("", 400, OTHER),
        ("authentication_failed", None, AUTH),
        ("billing_error", 400, QUOTA),
        ("rate_limit", None, RATE),
        ("server_error", None, SERVER),
        ("overloaded", None, SERVER),
        ("", True, OTHER),
        ("", "401", OTHER),
        ("", [401], OTHER),
    ],
)
def test_the_clis_own_kind_and_status_tell_it_too(
    kind: str, status: object, failure: ApiFailure
) -> None:
    """The fields that a CLI gives beside its message are used; odd values are not."""
    assert classify_failure("failed", kind=kind, status=status) is failure


def test_the_status_of_the_field_comes_before_one_in_the_text() -> None:
    """A message can quote another status than the one that the CLI reports."""
    assert classify_failure("upstream said status 500", status=429) is RATE


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("last status: 429 Too Many Requests", 429),
        ("status code 503", 503),
        ("(HTTP 401).", 401),
        ("Last error: 429 Rate", 429),
        ("error code: 529", 529),
        ("took 429 ms", None),
        ("status 200", None),
        ("status 4290", None),
    ],
)
def test_a_status_is_read_only_where_it_is_called_one(message: str, status: int | None) -> None:
    """A number in a message is no HTTP status by itself."""
    assert status_in(message) == status


@pytest.mark.parametrize(
    ("message", "throttled"),
    [
        ("exceeded retry limit, last status: 429 Too Many Requests", True),
        ("API Error: Request rejected (429) · Rate limit reached for requests", True),
        ("API Error: 529 Overloaded. This is a server-side issue", True),
        ("unexpected status 529 <unknown status code>", True),
        ("We’re currently experiencing high demand, which may cause temporary errors.", True),
        (
            '{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}',
            True,
        ),
        ("API Error: 500 Internal server error", False),
        ("unexpected status 503 Service Unavailable", False),
        ("429 insufficient_quota", False),
        ("You've hit your usage limit. Try again in 3 days", False),
        ("HTTP 401: overloaded", False),
        ("", False),
    ],
)
def test_only_a_service_that_asks_for_fewer_calls_is_throttling(
    message: str, throttled: bool
) -> None:
    """A server's own fault, a refused key and a used-up quota are none."""
    assert throttles(message) is throttled


def test_a_status_and_a_kind_tell_of_throttling_too() -> None:
    """Where the message says nothing."""
    assert throttles(status=429)
    assert throttles(status=529)
    assert throttles(kind="overloaded_error", status=503)
    assert not throttles(status=True)


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Rate limit reached. Please try again in 11.054s. Visit the page", 11.054),
        ("please retry in 26.5 seconds", 26.5),
        ("Please retry after 7", 7.0),
        ("retry-after: 30", 30.0),
        ('"retry-after": "30"', 30.0),
        ("Retry-After=2", 2.0),
        ("try again in 900ms", 0.9),
        ("Try again in 5 minutes", 300.0),
        ("try again in 1m30s", 90.0),
        ("try again in 2h", 7200.0),
        ("retried 5 times (total retry wait time: 56.25 seconds)", None),
        ("Retrying with backoff", None),
        ("try again later", None),
        ("", None),
    ],
)
def test_the_wait_that_a_message_asks_for(message: str, seconds: float | None) -> None:
    """In seconds, whatever its unit."""
    assert retry_after_in(message) == (None if seconds is None else pytest.approx(seconds))


def test_a_long_hostile_message_costs_bounded_work() -> None:
    """Digits without end are no wait."""
    assert retry_after_in("retry in " + "1" * 100_000) is not None
