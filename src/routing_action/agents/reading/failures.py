"""Sorts the API failures that a CLI reports itself by what its user can do about them.

Fields (status, the CLI's own kind) come before words, and a phrase that is denied is none. The
words are those of the table in wordings.py. Only the CLI's own error fields and lines of standard
error that an anchored pattern finds come here, never agent prose or tool output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from routing_action.agents.reading.wordings import WORDINGS
from routing_action.evidence.transcript import LONGEST_PAUSE, ApiFailure

_STATUS = re.compile(
    r"(?:\b(?:status(?: code)?|HTTP|last error|code|rejected|failed)|error)[\\\"':\s(]*([45]\d\d)\b"
    r"|(?:^\W{0,4}|\b)([45]\d\d) (?:Too Many|Unauthorized|Forbidden|Payment|Internal|Bad|Service"
    r"|Gateway|Request Entity)|^\W{0,4}([45]\d\d) ?[A-Z{\"]",
    re.IGNORECASE,
)
_THROTTLED = re.compile(r"overloaded|high demand|at capacity", re.IGNORECASE)
_RETRY_AFTER = re.compile(
    r"(?:(?:try again|retry|retrying|resets?|available(?: again)?) (?:in|after|within)"
    r"|please wait|retry[-_ ]?(?:after|delay)[\\\"']*[:=]?) *[\\\"']*"
    r"(\d{1,6}(?:\.\d{1,9})? ?[a-z]{0,12}(?:\d{1,6}(?:\.\d{1,9})?[a-z]{1,2}){0,2})",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\b(?:resets?(?:_at)?|(?:try|available) again)\b[\\\"': ]{0,4}(?:at |on |after )?"
    r"(?:\d{1,2}(?::\d\d)? ?[ap]\.?m\b|\d{1,2}:\d\d|[a-z]{3,9}\.? \d{1,2}\b|\d{4}-\d\d|\d{10})"
    r"|reached\|\d{10}",
    re.IGNORECASE,
)
_MINUTE = re.compile(r"per[ _-]?min", re.IGNORECASE)
_TOPIC = (
    r"(?>(?>usage|session|daily|weekly|monthly|hourly|rate|plan|account|billing|quota|credits?"
    r"|spending|authentication|credentials?|limits?|balance)\b[ -]?){1,4}+"
)
_TOPICS = rf"(?>{_TOPIC}(?>(?>,|/| ?\b(?:or|and)\b)++ ?(?:your |an? |the )?{_TOPIC})*+)"
_NOT = (
    r"(?:\bnot\b|n['’]t\b|\bnever\b|\brather than\b|\bunrelated\b|\bnothing to do\b|\binstead of\b)"
)
_DENIED = re.compile(
    rf"{_NOT}(?: (?:an?|the|your|any|about|related|caused|due|because|out|of|by|to|with|yet"
    rf"|hit|reached|exceeded|exhausted|used up)\b)*+ {_TOPICS}"
    rf"|\bno {_TOPIC}(?:problem|issue|error)s?\b"
    rf"|{_TOPICS}(?:is|are|was|were|has|have|did)?(?:n['’]t| not| never)(?: been| yet)*"
    r" (?:reached|exceeded|exhausted|hit|used up|the (?:cause|reason|problem))",
    re.IGNORECASE,
)
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_PART = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]*)")
_MINUTES, _HOURS = "m min mins minute minutes", "h hr hrs hour hours"
_UNITS = {
    **dict.fromkeys(["ms", "milliseconds"], 0.001),
    **dict.fromkeys(_MINUTES.split(), 60.0),
    **dict.fromkeys(_HOURS.split(), 3600.0),
    **dict.fromkeys(["d", "day", "days"], 86400.0),
    **dict.fromkeys(["w", "week", "weeks"], 604800.0),
}
_BY_STATUS = {401: ApiFailure.AUTH, 402: ApiFailure.QUOTA, 413: ApiFailure.CONTEXT}
_SEARCHED = 4_000


def status_in(message: str) -> int | None:
    """The HTTP status that an error message of a CLI names, None where it names none."""
    match = _STATUS.search(message)
    return int(next(filter(None, match.groups()))) if match else None


def classify_failure(
    message: str = "", *, kind: str = "", status: object = None, seconds: float | None = None
) -> ApiFailure:
    """The class of a failure from its message, the CLI's own error kind and the HTTP status.

    `seconds` until it lifts, where a field says so; else the message may say it.
    """
    code = _code(message, status)
    if code in _BY_STATUS:
        return _BY_STATUS[code]
    if code is not None and code >= 500:
        return ApiFailure.SERVER_ERROR
    own, said = _found(kind), _found(message)
    first = own if own - {ApiFailure.RATE_LIMIT} else own | said
    for failure in (ApiFailure.MCP_SERVER, ApiFailure.CONTEXT):
        if failure in first and code != 429:
            return failure
    if code == 429 or first & {ApiFailure.QUOTA, ApiFailure.RATE_LIMIT}:
        return _limit(f"{kind}\n{message}", seconds, is_quota=ApiFailure.QUOTA in own | said)
    if code == 403 or ApiFailure.AUTH in first:
        return ApiFailure.AUTH
    return ApiFailure.SERVER_ERROR if ApiFailure.SERVER_ERROR in first else ApiFailure.API_ERROR


def is_throttling(
    failure: ApiFailure, message: str, *, kind: str = "", status: object = None
) -> bool:
    """True where the service asks for fewer calls (429, 529, overloaded), and money is not why."""
    overloaded = _THROTTLED.search(f"{kind}\n{message}") or _code(message, status) == 529
    return failure is ApiFailure.RATE_LIMIT or (
        failure is ApiFailure.SERVER_ERROR and bool(overloaded)
    )


def retry_after_in(message: str) -> float | None:
    """The seconds after which a failure message says to call again, None where it does not."""
    match = _RETRY_AFTER.search(message)
    if match is None:
        return None
    parts = _PART.findall(match[1].lower())
    if any(unit in ("am", "pm") for _, unit in parts):
        return None  # a time of day
    return sum(float(number) * _UNITS.get(unit, 1.0) for number, unit in parts)


def _code(message: str, status: object) -> int | None:
    known = isinstance(status, int) and not isinstance(status, bool)
    return status if isinstance(status, int) and known else status_in(message[:_SEARCHED])


def _found(text: str) -> set[ApiFailure]:
    """Every class whose words stand in a text, but where they are denied."""
    said = _DENIED.sub(" ", text[:_SEARCHED])
    return {one.failure for one in WORDINGS if one.pattern.search(said)}


def _limit(text: str, seconds: float | None, *, is_quota: bool) -> ApiFailure:
    """A limit that lifts soon is the rate's, any other one a quota."""
    said = _DENIED.sub(" ", text[:_SEARCHED])
    if any(one.firm and one.pattern.search(said) for one in WORDINGS):
        return ApiFailure.QUOTA
    wait = retry_after_in(said) if seconds is None else seconds
    if wait is None and (_CLOCK.search(said) or _MINUTE.search(said)):
        return ApiFailure.QUOTA if _CLOCK.search(said) else ApiFailure.RATE_LIMIT
    late = is_quota if wait is None else wait > LONGEST_PAUSE
    return ApiFailure.QUOTA if late else ApiFailure.RATE_LIMIT


# ---- standard error


@dataclass(frozen=True, slots=True)
class StderrRule:
    """An anchored pattern on a standard-error line, and the failure it stands for."""

    pattern: re.Pattern[str]
    failure: ApiFailure | None = None


SILENT_RULES = tuple(
    StderrRule(re.compile(pattern, re.IGNORECASE))
    for pattern in (
        r"^\[?API Error\b[: ]",
        (
            r"^(?:[\w.-]{1,40}: )?(?:(?:fatal|request|http|provider) )?error:? [(\[]?"
            r"(?:(?:HTTP|status(?: code)?:?) )?[45]\d\d\b"
        ),
        (
            r"^(?:(?:[\w.-]{1,40} )?error: )?(?:(?:invalid|incorrect|missing|expired|no) (?:x-)?"
            r"api[ -]key\b|not logged in\b|please (?:run )?/login\b|credit balance is too low"
            r"|OAuth token (?:has )?(?:been )?(?:expired|revoked))"
        ),
    )
)
"""What a CLI that printed nothing on standard output says last: such a run holds no prose."""


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
