"""An API failure that a CLI reports is sorted by what its user can do about it."""

from __future__ import annotations

import pytest

from routing_action.domain.transcript import ApiFailure
from routing_action.providers.failures import classify_failure, status_in

AUTH, QUOTA = ApiFailure.AUTH, ApiFailure.QUOTA
RATE, SERVER, OTHER = ApiFailure.RATE_LIMIT, ApiFailure.SERVER_ERROR, ApiFailure.API_ERROR


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
