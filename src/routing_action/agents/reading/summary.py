"""Keeps what a reader says about a whole run: counts, turns, failures, catalogue and terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from routing_action.agents.reading.failures import classify_failure, is_throttling, retry_after_in
from routing_action.evidence.transcript import ApiFailure, Reading


class RunSummary:
    """The summary so far; what changes with almost every record is counted apart."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.summary = Reading()
        self.terminal_seen = False
        self.recognised = 0
        self.unrecognised = 0
        self.turns = 0
        self.tool_events = 0

    def summarise(self, *, is_record_stream: bool) -> Reading:
        """Everything in one value."""
        return replace(
            self.summary,
            is_record_stream=is_record_stream,
            recognised=self.recognised,
            unrecognised=self.unrecognised,
            turns=self.turns,
            tool_events=self.tool_events,
        )

    def note(self, **changes: Any) -> None:  # noqa: ANN401 - a wrong name is an error
        """Change fields of the summary other than the counts."""
        self.summary = replace(self.summary, **changes)

    def turn(self) -> None:
        """A model turn happened; whatever failed or was retried before has recovered."""
        self.turns += 1
        if self.summary.retrying is not None or self.summary.failure is not None:
            self.note(retrying=None, failure=None)

    def fail(self, message: str, *, kind: str = "", status: object = None) -> None:
        """The CLI reports an API failure as final."""
        failure = classify_failure(message, kind=kind, status=status)
        self.note(failure=failure, failure_message=message[:500])
        if failure is not ApiFailure.API_ERROR:  # which says less than a retry before it
            self._throttle(message, kind, status)

    def retry(self, message: str, *, kind: str = "", status: object = None) -> None:
        """The CLI reports that it tries an API call again."""
        failure = classify_failure(message, kind=kind, status=status)
        self.note(retrying=failure, failure_message=message[:500])
        self._throttle(message, kind, status)

    def _throttle(self, message: str, kind: str = "", status: object = None) -> None:
        throttled = is_throttling(message, kind=kind, status=status)
        self.note(throttled=throttled, retry_after=retry_after_in(message) if throttled else None)

    def offer(self, names: Iterable[str]) -> None:
        """The agent says what skills it offers; several lists (sub-agents) are one."""
        known = self.summary.catalogue or ()
        self.note(catalogue=tuple(dict.fromkeys((*known, *(name for name in names if name)))))

    def end(self) -> None:
        """The CLI printed its genuine terminal event."""
        self.terminal_seen = True
        self.note(terminal=True)
