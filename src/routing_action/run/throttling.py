"""When a unit that was throttled is tried again, and after how long.

Source of the rules: docs/how-to/bound-time-and-cost.md, 'Throttling'.
"""

from __future__ import annotations

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import EndedBy, Reading

FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 120.0

_OUTCOMES = (Outcome.RATE_LIMIT, Outcome.SERVER_ERROR)


def is_retried(status: Status, outcome: Outcome, reading: Reading, ended_by: EndedBy) -> bool:
    """True where nothing was measured and the service asked for fewer calls.

    Never where the run gave a verdict, nor where a deadline of ours or an interrupt ended it: the
    agent has then used all of its time.
    """
    return (
        status is Status.INFRA_ERROR
        and outcome in _OUTCOMES
        and reading.throttled
        and ended_by in (EndedBy.EXIT, EndedBy.TERMINAL_GRACE)
    )


def pause_seconds(retries: int, retry_after: float | None) -> float | None:
    """How long to wait before the next retry, after so many; None where it is not worth it.

    What the service asked for is kept to; more than two minutes of it are not waited for. Without
    it: 5 seconds, then twice as long each time, at most two minutes.
    """
    if retry_after is not None:
        return retry_after if retry_after <= LONGEST_PAUSE_SECONDS else None
    return float(min(FIRST_PAUSE_SECONDS * 2 ** min(retries, 10), LONGEST_PAUSE_SECONDS))
