"""Sorts the API failures that a CLI reports itself by what its user can do about them.

Only the CLI's own error fields and lines of standard error that an anchored pattern finds come
here, never agent prose or tool output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from routing_action.evidence.transcript import ApiFailure

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
_THROTTLED = re.compile(r"overloaded|high demand|at capacity", re.IGNORECASE)
_RETRY_AFTER = re.compile(
    r"(?:(?:try again|retry|retrying) (?:in|after)|retry[-_ ]?after[\"']?[:=]?) *[\"']?"
    r"(\d{1,6}(?:\.\d{1,9})? ?[a-z]{0,12}(?:\d{1,6}(?:\.\d{1,9})?[a-z]{1,2}){0,2})",
    re.IGNORECASE,
)
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_PART = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]*)")
_MINUTES, _HOURS = "m min mins minute minutes", "h hr hour hours"
_UNITS = {
    **dict.fromkeys(["ms", "milliseconds"], 0.001),
    **dict.fromkeys(_MINUTES.split(), 60.0),
    **dict.fromkeys(_HOURS.split(), 3600.0),
}


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


def is_throttling(message: str = "", *, kind: str = "", status: object = None) -> bool:
    """True where the service asks for fewer calls (429, 529, overloaded), and money is not why."""
    failure = classify_failure(message, kind=kind, status=status)
    known = status if isinstance(status, int) else status_in(message)
    overloaded = known == 529 or _THROTTLED.search(f"{kind}\n{message}") is not None
    return failure is ApiFailure.RATE_LIMIT or (failure is ApiFailure.SERVER_ERROR and overloaded)


def retry_after_in(message: str) -> float | None:
    """The seconds after which a failure message says to call again, None where it does not."""
    match = _RETRY_AFTER.search(message)
    if match is None:
        return None
    parts = _PART.findall(match[1].lower())
    return sum(float(number) * _UNITS.get(unit, 1.0) for number, unit in parts)


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


# ---- standard error


@dataclass(frozen=True, slots=True)
class StderrRule:
    """An anchored pattern on a standard-error line, and the failure it stands for."""

    pattern: re.Pattern[str]
    failure: ApiFailure | None = None


def find_failure(line: bytes, rules: tuple[StderrRule, ...]) -> tuple[ApiFailure, str] | None:
    """The failure that a line tells of, and the line, cut; None where no pattern finds one."""
    text = clean_text(line)
    for rule in rules:
        if rule.pattern.search(text):
            return rule.failure or classify_failure(text[:2000]), text[:500]
    return None


def clean_text(line: bytes) -> str:
    """A line of text without BOM, carriage return, NUL and colours."""
    text = line.decode("utf-8", "replace").removeprefix("\ufeff").replace("\x00", "")
    return _ANSI.sub("", text).rstrip("\r")
