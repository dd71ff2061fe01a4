"""Asks GitHub once more for deliveries that did not arrive, as while we were down."""

from __future__ import annotations

from routing_action.bot.server.app import GitHubApp, SentDelivery
from routing_action.bot.server.queue.deliveries import Queue

LONGEST_SECONDS = 3 * 86_400.0
"""GitHub keeps no older deliveries."""
_MARGIN_SECONDS = 600.0


def find_start(queue: Queue, now: float) -> float:
    """From when on deliveries may be missing; now where the queue has never had one.

    What was sent before a queue's first delivery belongs to an earlier life of the App.
    """
    newest = queue.newest()
    return max(newest - _MARGIN_SECONDS, now - LONGEST_SECONDS) if newest else now


def ask_again(app: GitHubApp, queue: Queue, events: frozenset[str], since: float) -> int:
    """Have each delivery sent again of which no attempt arrived; how many there were.

    Only those that were first sent since then: what fails again and again is left alone.
    Raises ApiError where GitHub does not tell or does not send.
    """
    attempts: dict[str, list[SentDelivery]] = {}
    for one in app.list_deliveries(since):
        if one.event in events:
            attempts.setdefault(one.guid, []).append(one)
    # The oldest first, as they were sent.
    lost = [
        listed[0]
        for guid, listed in reversed(attempts.items())
        if any(one.is_first for one in listed)
        and not any(one.ok for one in listed)
        and queue.show(guid) is None
    ]
    for one in lost:
        app.redeliver(one)
    return len(lost)
