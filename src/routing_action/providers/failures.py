"""Sorts the API failures that a CLI reports itself by what its user can do about them.

Only the CLI's own error fields and anchored standard-error lines come here, never agent prose
or tool output.
"""

from __future__ import annotations

import re

from routing_action.domain.transcript import ApiFailure

_QUOTA = re.compile(
    r"credit balance|billing|insufficient[_ ]quota|quota exceeded|exceeded your (?:current )?quota"
    r"|usage limit|out of credits|payment required|premium request|budget exceeded"
    r"|spend(?:ing)? (?:cap|limit)",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"authenticat|unauthorized|unauthorised|api[ _-]?key|not logged in|/login|login required"
    r"|permission[_ ]error|forbidden|invalid[ _]token|token (?:expired|revoked)|refresh token"
    r"|missing environment variable|oauth|credentials",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"rate[ _-]?limit|too many requests|throttl|resource[_ ]exhausted", re.IGNORECASE
)
_SERVER = re.compile(
    r"overloaded|server[_ ]error|internal (?:server )?error|bad gateway|gateway time-?out"
    r"|service unavailable|unavailable|high demand|at capacity|try again later",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"\b(?:status(?: code)?|HTTP|error|last error|code)[:\s(]*([45]\d\d)\b", re.IGNORECASE
)


def status_in(message: str) -> int | None:
    """The HTTP status that an error message of a CLI names, None where it names none."""
    match = _STATUS.search(message)
    return int(match[1]) if match else None


def classify_failure(message: str = "", *, kind: str = "", status: object = None) -> ApiFailure:
    """The class of a failure from its message, the CLI's own error kind and the HTTP status.

    Quota comes first, since providers report it with 400, 402, 403 and 429 alike.
    """
    known = status if isinstance(status, int) and not isinstance(status, bool) else None
    code = known if known is not None else status_in(message)
    text = f"{kind}\n{message}"
    if code == 402 or _QUOTA.search(text):
        return ApiFailure.QUOTA
    return _by_status(code) or _by_text(text) or ApiFailure.API_ERROR


def _by_status(code: int | None) -> ApiFailure | None:
    if code in (401, 403):
        return ApiFailure.AUTH
    if code == 429:
        return ApiFailure.RATE_LIMIT
    return ApiFailure.SERVER_ERROR if code is not None and code >= 500 else None


def _by_text(text: str) -> ApiFailure | None:
    for pattern, failure in (
        (_RATE, ApiFailure.RATE_LIMIT),
        (_AUTH, ApiFailure.AUTH),
        (_SERVER, ApiFailure.SERVER_ERROR),
    ):
        if pattern.search(text):
            return failure
    return None
