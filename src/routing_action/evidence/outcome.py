"""How a run ended, whatever it proved: the first rule that matches decides.

Source of the rules: docs/reference/evidence-rules.md, 'Outcome'.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from routing_action.evidence.transcript import EndedBy, Reading

_SIGNAL_EXITS = frozenset({134, 137, 139, 143})
_NOT_EXECUTABLE = (126, 127)


class Outcome(StrEnum):
    """How a run ended, whatever it proved."""

    COMPLETED = "completed"
    CLI_MISSING = "cli_missing"
    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    SERVER_ERROR = "server_error"
    MCP_SERVER = "mcp_server"
    API_ERROR = "api_error"
    CONTEXT = "context"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LIMIT = "limit"
    KILLED = "killed"
    SCHEMA_DRIFT = "schema_drift"
    NO_OUTPUT = "no_output"
    NEVER_RAN = "never_ran"
    NOT_MEASURABLE = "not_measurable"
    NOT_RUN = "not_run"

    @property
    def is_infra(self) -> bool:
        """True where the run says nothing about routing."""
        return self not in (Outcome.COMPLETED, Outcome.TIMEOUT, Outcome.LIMIT, Outcome.CONTEXT)


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How the process ended. `started` is False where the CLI could not be started at all.

    `cut`: it printed more than we take, so that nobody knows what it did.
    `stopped_early`: we ended it since nothing that it could still do mattered.
    """

    started: bool = True
    exit_code: int | None = 0
    timed_out: bool = False
    cancelled: bool = False
    limit: bool = False
    cut: bool = False
    not_run: bool = False
    stopped_early: bool = False

    @classmethod
    def by(cls, ended_by: EndedBy, exit_code: int | None) -> RunEnd:
        """The end of a process, as the process door saw it."""
        return cls(
            started=ended_by is not EndedBy.START_FAILED,
            exit_code=exit_code,
            timed_out=ended_by.is_deadline,
            cancelled=ended_by in (EndedBy.CANCELLED, EndedBy.NOT_STARTED),
            limit=ended_by is EndedBy.COST_LIMIT,
            cut=ended_by is EndedBy.OUTPUT_LIMIT,
            stopped_early=ended_by is EndedBy.STOPPED_EARLY,
        )


def decide_outcome(reading: Reading, end: RunEnd) -> Outcome:
    """How the run ended, by the first rule that matches."""
    if end.not_run:
        return Outcome.NOT_RUN
    if not end.started or (end.exit_code in _NOT_EXECUTABLE and reading.recognised == 0):
        return Outcome.CLI_MISSING
    if end.cut or end.stopped_early:
        return Outcome.LIMIT if end.cut else Outcome.COMPLETED
    failure = reading.failure or (None if reading.terminal else reading.retrying)
    if failure is not None:
        return Outcome(failure.value)
    return _ended_by_us(reading, end) or _ended_by_itself(reading, end)


def _ended_by_us(reading: Reading, end: RunEnd) -> Outcome | None:
    if end.timed_out:
        return Outcome.TIMEOUT
    if end.cancelled:
        return Outcome.CANCELLED
    return Outcome.LIMIT if reading.limit or end.limit else None


def _ended_by_itself(reading: Reading, end: RunEnd) -> Outcome:
    code = end.exit_code or 0
    signalled = code < 0 or code in _SIGNAL_EXITS
    if reading.unfinished or (signalled and not reading.terminal):
        return Outcome.KILLED
    if not reading.recognised and not reading.unrecognised:
        return Outcome.NO_OUTPUT
    if _is_foreign(reading):
        return Outcome.SCHEMA_DRIFT
    silent = reading.turns == 0 and not reading.has_text
    if silent and (reading.tool_events == 0 or reading.terminal):
        return Outcome.NEVER_RAN
    if not reading.terminal and (reading.is_record_stream or end.exit_code not in (0, None)):
        return Outcome.KILLED  # a stream without its end, or plain text and a bad exit code
    return Outcome.COMPLETED


def _is_foreign(reading: Reading) -> bool:
    """Less than half was recognised; lines that are no records spoil no complete run."""
    is_complete = reading.is_record_stream and reading.terminal and reading.turns > 0
    return reading.recognised < reading.unrecognised - (reading.foreign if is_complete else 0)
